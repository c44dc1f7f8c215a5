/**
 * What the last minute of a match teaches, and whether it is worth handing out: tables are learnt from the first two thirds of it and tried on
 * the rest, entity by entity, on short paths and on usual ones.
 *
 * An entity's tables are taken when a client who sees everything of it saves more bits with them, in two minutes, than handing them out takes, and handed out when
 * that holds of all together. Tables that are in force already are what they must beat, so a match that goes on as before is not trained again.
 */

import { encodeText } from '../codec/packed-text.ts'
import { entropy, type Priors } from '../codec/snapshot-codec.ts'
import { measureBandwidth } from './bandwidth-table.ts'
import type { RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { trainRecording } from './train-recording.ts'

/** Of the ticks, so many are learnt from. */
const LEARNT_SHARE = 2 / 3
const PAYS_WITHIN_S = 120
/** Paths that it is tried on: who is near, and who is usual. */
const ROUND_TRIPS_S = [0, 0.1]

/** What was found. */
export interface Study {
  /** Tables to go on with, those in force among them; undefined when nothing new is worth it. */
  readonly priors: Priors | undefined
  /** Bits of the last third, by the tables in force and by those. */
  readonly bitsBefore: number
  readonly bitsAfter: number
}

/** Learns from a recording, and tries it. `inForce` are the tables of now; `version` tells those to come from others. */
export function study(list: ChunkList, game: RecordedGame, inForce: Priors, version: number): Study {
  const { chunks, head: { tickRate } } = list
  const [first, last] = [chunks[0]?.tick ?? 0, chunks.at(-1)?.tick ?? 0]
  const cut = first + (last - first) * LEARNT_SHARE
  const found = trainRecording(part(list, (tick) => tick < cut), game, version).priors
  const tried = ROUND_TRIPS_S.map((seconds) => measureBandwidth(part(list, (tick) => tick >= cut), game, {
    ageTicks: Math.max(1, Math.round(seconds * tickRate)), makeCoder: entropy(inForce).make, others: [entropy({ ...inForce, ...found }).make],
  }))
  const taken: { [entity: string]: Priors[string] } = {}
  let [bitsBefore, bitsAfter] = [0, 0]
  /** Bits of what was tried, as of two minutes. */
  const inTwoMinutes = (PAYS_WITHIN_S * tickRate) / Math.max(1, tried[0].ticks)
  for (const { schema: { name } } of game.entities) {
    // On the average of these paths.
    const costs = tried.flatMap(({ entities }) => entities.filter((cost) => cost.name === name))
    const [before, after] = [mean(costs.map(({ bits }) => bits)), mean(costs.map(({ bits, otherBits }) => otherBits[0] ?? bits))]
    const isWorth = Object.hasOwn(found, name) && (before - after) * inTwoMinutes > packedBits(found[name])
    if (isWorth) taken[name] = found[name]
    bitsBefore += before
    bitsAfter += isWorth ? after : before
  }
  // All of them are handed out, those that nobody needs anew among them.
  const priors = { ...inForce, ...taken }
  if ((bitsBefore - bitsAfter) * inTwoMinutes > packedBits(priors)) return { priors, bitsBefore, bitsAfter }
  return { priors: undefined, bitsBefore, bitsAfter: bitsBefore }
}

/** What each client is sent of them. */
function packedBits(priors: object): number {
  return 8 * encodeText(JSON.stringify(priors)).length
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** Some of a recording's chunks. What comes before the first key among them is not played. */
function part(list: ChunkList, isIn: (tick: number) => boolean): ChunkList {
  return { head: list.head, chunks: list.chunks.filter(({ tick }) => isIn(tick)), load: (chunk) => list.load(chunk) }
}
