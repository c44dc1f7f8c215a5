/**
 * A row of a recorded match as a snapshot sends it, with its baseline, for a client that acknowledges everything a
 * fixed number of ticks later.
 *
 *   tick    58   59   60   61   62   63   64          snapshots every 2 ticks, baselines 4 ticks old:
 *         older       base      before     row         only ticks with a snapshot count; motion is that of 2 ticks
 *
 * An object that was at rest from its baseline until the tick before is encoded as REPL9 says: age 1, with the
 * baseline's row as the older row too. An object that rested after the baseline and has moved since is encoded without
 * the older row.
 *
 * It models no loss and no budget. It encodes nothing.
 */

import { ConfigError } from '../base/assert.ts'
import { TICK_RATE_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { RowPair, type FieldSet } from '../codec/row-coder.ts'
import { diffMask } from '../schema/mask.ts'
import type { EntityStore } from '../world/entity-store.ts'
import type { Timeline } from '../world/timeline.ts'
import type { RecordedGame } from './playback.ts'

/** Ticks from one snapshot of a recorded game to the next. */
export function strideOf({ snapshotTicks = 1 }: RecordedGame): number {
  if (Number.isInteger(snapshotTicks) && snapshotTicks >= 1 && snapshotTicks <= TICK_RATE_MAX) return snapshotTicks
  throw new ConfigError(
    'snapshotTicks',
    `not a number of ticks (expected an integer from 1 to ${TICK_RATE_MAX}, got ${snapshotTicks})`,
    'write snapshotTicks: 1 for a snapshot every tick, or leave it out.',
  )
}

/** Whether a tick has a snapshot. The grid of snapshots is the same for every client. */
export function isSnapshotTick(tick: Tick, strideTicks: number): boolean {
  return tick % strideTicks === 0
}

export class SnapshotRow {
  readonly store: EntityStore
  readonly strideTicks: number
  readonly set: FieldSet
  readonly pair: RowPair = new RowPair()
  tick: Tick = -1
  id: ObjectId = 0
  /** The offset in `pair.rows` of the row in the snapshot before; -1 when the object did not exist then. */
  before: number = -1
  /** The tick of the baseline; undefined while `pair.age` is 0. */
  baseTick: Tick = -1

  constructor(store: EntityStore, strideTicks: number, set: FieldSet) {
    this.store = store
    this.strideTicks = strideTicks
    this.set = set
  }

  /** Selects an object as it is in a tick with a snapshot. */
  turn(timeline: Timeline, tick: Tick, id: ObjectId): void {
    const { store: { type }, pair } = this
    this.tick = tick
    this.id = id
    this.before = timeline.find(type, id, tick - this.strideTicks)
    pair.rows = timeline.pools[type].rows
    pair.at = timeline.find(type, id, tick)
    this.#clear()
  }

  /**
   * Uses the row `age` ticks before as the baseline; `age` is a multiple of the stride. If there is none, uses the
   * initial row and returns false.
   */
  base(timeline: Timeline, age: number): boolean {
    const { store: { type }, id, pair, strideTicks } = this
    this.baseTick = this.tick - age
    const baseAt = timeline.find(type, id, this.baseTick)
    if (baseAt < 0) {
      this.#clear()
      return false
    }
    // With an age of 1 there is no rest, as on the wire: an object that moved is assumed to go on.
    const isRested = age > 1 && this.#isRested(timeline, baseAt)
    pair.baseRows = pair.rows
    pair.baseAt = baseAt
    pair.age = isRested ? 1 : age
    pair.olderRows = pair.rows
    pair.olderAt = isRested
      ? baseAt
      : this.#isMovingOn(timeline, baseAt)
        ? timeline.find(type, id, this.baseTick - strideTicks)
        : -1
    pair.olderTicks = isRested ? 1 : strideTicks
    return true
  }

  #clear(): void {
    const { pair } = this
    pair.baseRows = this.store.schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = -1
    pair.olderTicks = 1
  }

  #isRested(timeline: Timeline, baseAt: number): boolean {
    for (let tick = this.tick - 1; tick > this.baseTick; tick--) if (this.#isOther(timeline, baseAt, tick)) return false
    return true
  }

  /** Whether the object changed between the baseline and the next snapshot. If not, the older row is not used. */
  #isMovingOn(timeline: Timeline, baseAt: number): boolean {
    for (let tick = this.baseTick + 1; tick <= this.baseTick + this.strideTicks; tick++)
      if (this.#isOther(timeline, baseAt, tick)) return true
    return false
  }

  #isOther(timeline: Timeline, baseAt: number, tick: Tick): boolean {
    const { store: { type, schema: { masks } }, id, set } = this
    const { rows, owners, laneCount } = timeline.pools[type]
    const at = timeline.find(type, id, tick)
    return (
      at !== baseAt
      && (owners[at / laneCount] !== owners[baseAt / laneCount] || diffMask(masks[set], rows, at, rows, baseAt))
    )
  }
}
