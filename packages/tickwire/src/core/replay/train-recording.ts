/**
 * Trains priors for `entropy(priors)` on a recorded match, by entity name.
 *
 * Every row that changed from one snapshot to the next is shown against baselines of several ages, as on paths of
 * different length; a new object is shown against the initial row. The match is played three times (`codec/training.ts`
 * says why), so that memory stays that of one window.
 *
 * It trains on the fields for everyone, for the team and for the owner, as far as the recording has them. Measure on a
 * different match.
 */

import { ConfigError } from '../base/assert.ts'
import type { RowPair } from '../codec/row-coder.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import { train } from '../codec/training.ts'
import { Timeline } from '../world/timeline.ts'
import { playAll } from './bandwidth-table.ts'
import { Playback, type RecordedGame } from './playback.ts'
import type { ChunkList } from './recording.ts'
import { isSnapshotTick, strideOf, SnapshotRow } from './snapshot-row.ts'

/**
 * The ages shown, in ticks: one of each class up to a third of a second at 60 ticks. Without the last two a round trip
 * of 200 ms gains nothing.
 */
const AGES: readonly number[] = [1, 3, 6, 10, 14, 20]
/** Each field set contains the one before; the owner's is complete. */
const WHOLE = 2
/** With fewer rows than this, training adds nothing to the built-in tables. */
const ROWS_MIN = 200

/** The result of training, and the amount of data. */
export interface Training {
  /** The trained tables, for `entropy(priors)`. */
  readonly priors: Priors
  /** Rows that changed, by entity name, including entities that changed too rarely for training. */
  readonly rows: { readonly [entity: string]: number }
}

/** A pass over the recording begins. A long match takes minutes. */
export interface TrainingPass {
  /** The entity that is trained. */
  readonly name: string
  /** Its number among the entities, from 1. */
  readonly at: number
  /** The number of entities. */
  readonly of: number
  /** The pass over the recording, from 1. */
  readonly pass: number
  /** The most passes for an entity. */
  readonly passes: number
}

/** Passes over the recording for one entity: to count its rows, then those of training. */
const PASSES = 4

/** Trains on a recording. `version` identifies these priors; 1 or more. `onPass` is called before each pass. */
export function trainRecording(
  list: ChunkList,
  game: RecordedGame,
  version: number,
  onPass: (pass: TrainingPass) => void = () => {},
): Training {
  const names = game.entities.map(({ schema }) => schema.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new ConfigError(
      'entities',
      `two entities have the name "${twice}"`,
      "name them: entity(shape, { name: 'Player' }), and record again.",
    )
  const priors: { [entity: string]: Priors[string] } = {}
  const rows: { [entity: string]: number } = {}
  for (const [type, { schema }] of game.entities.entries()) {
    let count = 0
    let pass = 0
    const show = (see: (pair: RowPair, isFirst: boolean) => void): void => {
      pass++
      onPass({ name: schema.name, at: type + 1, of: names.length, pass, passes: PASSES })
      showRows(list, game, type, see)
    }
    show((_pair, isFirst) => { if (isFirst) count++ })
    rows[schema.name] = count
    if (count >= ROWS_MIN) priors[schema.name] = train(schema, list.head.tickRate, version, show)
  }
  return { priors, rows }
}

/** The ages that baselines have with this stride: the nearest multiples, without duplicates. */
function agesOf(strideTicks: number): readonly number[] {
  return [...new Set(AGES.map((age) => Math.max(1, Math.round(age / strideTicks)) * strideTicks))]
}

/** Shows every row of an entity. `isFirst` is true for a new row, false for the same row at a further age. */
function showRows(
  list: ChunkList,
  game: RecordedGame,
  type: number,
  see: (pair: RowPair, isFirst: boolean) => void,
): void {
  const playback = new Playback(list, game)
  const { world } = playback
  const strideTicks = strideOf(game)
  const ages = agesOf(strideTicks)
  const windowTicks = Math.max(...ages) + strideTicks + 1
  let timeline = new Timeline(world, windowTicks)
  const store = world.stores[type]
  const row = new SnapshotRow(store, strideTicks, WHOLE)
  playAll(playback, (isGap) => {
    if (isGap) {
      world.dropValuesOf(timeline)
      timeline = new Timeline(world, windowTicks)
    }
    timeline.sample()
    const { tick } = playback
    for (const { id } of store.living()) {
      row.turn(timeline, tick, id)
      if (row.before === row.pair.at) continue
      // An object that starts moving between snapshots starts like any other: rests are few, and training needs many.
      if (!isSnapshotTick(tick, strideTicks)) showRest(row, timeline, see)
      else if (row.before < 0) see(row.pair, true)
      else showAges(row, timeline, ages, see)
    }
  })
}

function showAges(
  row: SnapshotRow,
  timeline: Timeline,
  ages: readonly number[],
  see: (pair: RowPair, isFirst: boolean) => void,
): void {
  let isRestShown = false
  for (const [place, age] of ages.entries()) {
    if (!row.base(timeline, age)) continue
    // A rest is the same whatever the age of its baseline, and is shown once.
    const isRest = row.pair.age !== age
    if (!isRest || !isRestShown) see(row.pair, place === 0)
    isRestShown ||= isRest
  }
}

function showRest(row: SnapshotRow, timeline: Timeline, see: (pair: RowPair, isFirst: boolean) => void): void {
  if (row.base(timeline, row.strideTicks) && row.pair.age !== row.strideTicks) see(row.pair, false)
}
