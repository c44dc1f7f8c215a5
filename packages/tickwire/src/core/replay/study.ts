/**
 * Trains tables on the last minute of a match and decides whether to send them to clients. Tables are trained on the
 * first two thirds and tried on the rest, entity by entity, at a short and at a usual round trip.
 *
 * The tables of an entity are taken when a client that sees all of it saves more bits in two minutes than sending the
 * tables costs. They are sent when that holds for all of them together. The tables in force are the ones to beat, so a
 * match that goes on as before is not trained again.
 */

import { encodeText } from '../codec/packed-text.ts'
import { entropy, type Priors } from '../codec/snapshot-codec.ts'
import { measureBandwidth } from './bandwidth-table.ts'
import type { RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { trainRecording } from './train-recording.ts'

/** The share of the ticks that is used for training. */
const LEARNT_SHARE = 2 / 3
const PAYS_WITHIN_S = 120
/** Round trips to try: a near client, and a usual one. */
const ROUND_TRIPS_S = [0, 0.1]

/** The result. */
export interface Study {
  /** The tables to use from now on, including those in force; undefined when new ones do not pay. */
  readonly priors: Priors | undefined
  /** Bits of the last third, with the tables in force and with these. */
  readonly bitsBefore: number
  readonly bitsAfter: number
}

/** Trains on a recording and tries the result. `inForce` are the current tables; `version` identifies the new ones. */
export function study(list: ChunkList, game: RecordedGame, inForce: Priors, version: number): Study {
  const { chunks, head: { tickRate } } = list
  const [first, last] = [chunks[0]?.tick ?? 0, chunks.at(-1)?.tick ?? 0]
  const cut = first + (last - first) * LEARNT_SHARE
  const found = trainRecording(
    part(list, (tick) => tick < cut),
    game,
    version,
  ).priors
  const tried = ROUND_TRIPS_S.map((seconds) =>
    measureBandwidth(
      part(list, (tick) => tick >= cut),
      game,
      {
        ageTicks: Math.max(1, Math.round(seconds * tickRate)),
        makeCoder: entropy(inForce).make,
        others: [entropy({ ...inForce, ...found }).make],
      },
    ),
  )
  const taken: { [entity: string]: Priors[string] } = {}
  let [bitsBefore, bitsAfter] = [0, 0]
  /** Scales the bits of the trial to two minutes. */
  const inTwoMinutes = (PAYS_WITHIN_S * tickRate) / Math.max(1, tried[0].ticks)
  for (const { schema: { name } } of game.entities) {
    // The average over these round trips.
    const costs = tried.flatMap(({ entities }) => entities.filter((cost) => cost.name === name))
    const [before, after] = [
      mean(costs.map(({ bits }) => bits)),
      mean(costs.map(({ bits, otherBits }) => otherBits[0] ?? bits)),
    ]
    const isWorth = Object.hasOwn(found, name) && (before - after) * inTwoMinutes > packedBits(found[name])
    if (isWorth) taken[name] = found[name]
    bitsBefore += before
    bitsAfter += isWorth ? after : before
  }
  // All tables are sent, including those that did not change.
  const priors = { ...inForce, ...taken }
  if ((bitsBefore - bitsAfter) * inTwoMinutes > packedBits(priors)) return { priors, bitsBefore, bitsAfter }
  return { priors: undefined, bitsBefore, bitsAfter: bitsBefore }
}

/** The bits that each client receives. */
function packedBits(priors: object): number {
  return 8 * encodeText(JSON.stringify(priors)).length
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** Some chunks of a recording. Ticks before the first key among them are not played. */
function part(list: ChunkList, isIn: (tick: number) => boolean): ChunkList {
  return { head: list.head, chunks: list.chunks.filter(({ tick }) => isIn(tick)), load: (chunk) => list.load(chunk) }
}
