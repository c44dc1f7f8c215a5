/**
 * Learns a game's habits from a recorded match: priors for `entropy(priors)`, by entity name.
 *
 * Every row that changed from one snapshot to the next is shown against rows of several ages, as snapshots on paths of different length
 * tell it; who is born, against the initial row. The match is played three times (`codec/training.ts` says why), so that memory is that
 * of a window.
 *
 * It learns everyone's, the team's and the owner's fields, as far as the recording has them. Measure on another match than this.
 */

import { ConfigError } from '../base/assert.ts'
import type { RowPair } from '../codec/row-coder.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import { train } from '../codec/training.ts'
import { Timeline } from '../world/timeline.ts'
import { playAll } from './bandwidth-table.ts'
import { Playback, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { isTold, strideOf, ToldRow } from './told-row.ts'

/** Ages that are shown, in ticks: one of each class up to a third of a second at 60 ticks. Without the last two a round trip of 200 ms gains nothing. */
const AGES: readonly number[] = [1, 3, 6, 10, 14, 20]
/** Field sets hold one another; the owner's is whole. */
const WHOLE = 2
/** Fewer rows than this teach nothing that built-in tables do not know. */
const ROWS_MIN = 200

/** What training found, and from how much. */
export interface Training {
  readonly priors: Priors
  /** Rows that changed, by entity name; also of those that changed too seldom to learn from. */
  readonly rows: { readonly [entity: string]: number }
}

/** Learns from a recording. `version` tells these priors from others, 1 and more. */
export function trainRecording(list: ChunkList, game: RecordedGame, version: number): Training {
  const names = game.entities.map(({ schema }) => schema.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new ConfigError('entities', `two are called "${twice}"`, "Name them: entity(shape, { name: 'Player' }), and record again.")
  const priors: { [entity: string]: Priors[string] } = {}
  const rows: { [entity: string]: number } = {}
  for (const [type, { schema }] of game.entities.entries()) {
    let count = 0
    showRows(list, game, type, (_pair, isFirst) => { if (isFirst) count++ })
    rows[schema.name] = count
    if (count >= ROWS_MIN) priors[schema.name] = train(schema, list.head.tickRate, version, (see) => showRows(list, game, type, see))
  }
  return { priors, rows }
}

/** Those ages as baselines have them that are told every so many ticks: the nearest, each once. */
function agesOf(strideTicks: number): readonly number[] {
  return [...new Set(AGES.map((age) => Math.max(1, Math.round(age / strideTicks)) * strideTicks))]
}

/** Shows every row of an entity; `isFirst` where it is another one than before, and not the same at another age. */
function showRows(list: ChunkList, game: RecordedGame, type: number, see: (pair: RowPair, isFirst: boolean) => void): void {
  const playback = new Playback(list, game)
  const { world } = playback
  const strideTicks = strideOf(game)
  const ages = agesOf(strideTicks)
  const windowTicks = Math.max(...ages) + strideTicks + 1
  let timeline = new Timeline(world, windowTicks)
  const store = world.stores[type]
  const told = new ToldRow(store, strideTicks, WHOLE)
  playAll(playback, (isGap) => {
    if (isGap) {
      world.dropValuesOf(timeline)
      timeline = new Timeline(world, windowTicks)
    }
    timeline.sample()
    const { tick } = playback
    for (const { id } of store.living()) {
      told.turn(timeline, tick, id)
      if (told.before === told.pair.at) continue
      // Who sets out between snapshots sets out like others: rests are few, and nothing is learnt from too few.
      if (!isTold(tick, strideTicks)) showRest(told, timeline, see)
      else if (told.before < 0) see(told.pair, true)
      else showAges(told, timeline, ages, see)
    }
  })
}

function showAges(told: ToldRow, timeline: Timeline, ages: readonly number[], see: (pair: RowPair, isFirst: boolean) => void): void {
  let isRestShown = false
  for (const [place, age] of ages.entries()) {
    if (!told.base(timeline, age)) continue
    // A rest is the same whatever the age of its baseline, and told once.
    const isRest = told.pair.age !== age
    if (!isRest || !isRestShown) see(told.pair, place === 0)
    isRestShown ||= isRest
  }
}

function showRest(told: ToldRow, timeline: Timeline, see: (pair: RowPair, isFirst: boolean) => void): void {
  if (told.base(timeline, told.strideTicks) && told.pair.age !== told.strideTicks) see(told.pair, false)
}
