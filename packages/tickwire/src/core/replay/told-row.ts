/**
 * A row of a recorded match as a snapshot tells it, and the rows that it is told against, for a client who confirms everything so many ticks later.
 *
 *   tick    58   59   60   61   62   63   64          snapshots every 2 ticks, baselines 4 ticks old:
 *         older       base      before     row         only ticks that are told count; motion is that of 2 ticks
 *
 * Who stood still from his baseline until the tick before is told against his rest, as REPL9 has it: age 1, the baseline's row before itself. Who
 * rested after it and has moved since is told without the older row.
 *
 * It knows no loss and no budget. It does not code anything.
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
  throw new ConfigError('snapshotTicks', `${snapshotTicks}`, `Give 1 to ${TICK_RATE_MAX}, or leave it out: told every tick.`)
}

/** Whether a tick is on the grid of snapshots, which is the same for everybody. */
export function isTold(tick: Tick, strideTicks: number): boolean {
  return tick % strideTicks === 0
}

export class ToldRow {
  readonly store: EntityStore
  readonly strideTicks: number
  readonly set: FieldSet
  readonly pair: RowPair = new RowPair()
  tick: Tick = -1
  id: ObjectId = 0
  /** Where the row of the snapshot before lies among `pair.rows`; -1 when the object was not there. */
  before: number = -1
  /** The tick of the baseline; means nothing while `pair.age` is 0. */
  baseTick: Tick = -1

  constructor(store: EntityStore, strideTicks: number, set: FieldSet) {
    this.store = store
    this.strideTicks = strideTicks
    this.set = set
  }

  /** Turns to an object as it stands in a tick that is told. */
  turn(timeline: Timeline, tick: Tick, id: ObjectId): void {
    const { store: { type }, pair } = this
    this.tick = tick
    this.id = id
    this.before = timeline.find(type, id, tick - this.strideTicks)
    pair.rows = timeline.pools[type].rows
    pair.at = timeline.find(type, id, tick)
    this.#clear()
  }

  /** Takes the row of so many ticks before for the baseline, a multiple of the stride; the initial row, and false, when there is none. */
  base(timeline: Timeline, age: number): boolean {
    const { store: { type }, id, pair, strideTicks } = this
    this.baseTick = this.tick - age
    const baseAt = timeline.find(type, id, this.baseTick)
    if (baseAt < 0) {
      this.#clear()
      return false
    }
    // Of the tick before nothing is known to have rested, as on the wire: who moved goes on.
    const isRested = age > 1 && this.#isRested(timeline, baseAt)
    pair.baseRows = pair.rows
    pair.baseAt = baseAt
    pair.age = isRested ? 1 : age
    pair.olderRows = pair.rows
    pair.olderAt = isRested ? baseAt : this.#isMovingOn(timeline, baseAt) ? timeline.find(type, id, this.baseTick - strideTicks) : -1
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

  /** Whether it changed after the baseline before the next snapshot: else the row before that is not used. */
  #isMovingOn(timeline: Timeline, baseAt: number): boolean {
    for (let tick = this.baseTick + 1; tick <= this.baseTick + this.strideTicks; tick++) if (this.#isOther(timeline, baseAt, tick)) return true
    return false
  }

  #isOther(timeline: Timeline, baseAt: number, tick: Tick): boolean {
    const { store: { type, schema: { masks } }, id, set } = this
    const { rows, owners, laneCount } = timeline.pools[type]
    const at = timeline.find(type, id, tick)
    return at !== baseAt && (owners[at / laneCount] !== owners[baseAt / laneCount] || diffMask(masks[set], rows, at, rows, baseAt))
  }
}
