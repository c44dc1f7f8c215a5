/**
 * The rows that a delta is made from: the current row, the baseline's, and optionally the one sent before the baseline.
 *
 * `keyFor` says under which key the delta is kept in the cache; `prepare` finds the rows.
 */

import { assert } from '../../base/assert.ts'
import type { Tick } from '../../base/time.ts'
import { RowPair, type FieldSet, type RowCoder } from '../../codec/row-coder.ts'
import { ROW_BITS, ROW_MASK, type Timeline } from '../../world/timeline.ts'
import type { World } from '../../world/world.ts'
import type { Claims } from '../authority/claim.ts'
import type { ChangeMarks } from '../changes/change-marks.ts'
import { DELTA, NO_DELTA } from './delta-cache.ts'

/** In a key of the cache, beside the field set: the row before the baseline is used. */
export const KEY_OLDER = 4
const NO_TICK = -1
const NO_ROW = -1
const NO_REFERENCES = new Uint32Array(0)

export class DeltaRows {
  /** The prepared rows, the object, the field set, and whether the owner differs from that at the baseline. */
  readonly pair: RowPair = new RowPair()
  index = 0
  set: FieldSet = 0
  isOwned = false
  readonly #world: World
  readonly #timeline: Timeline
  readonly #marks: ChangeMarks
  readonly #coders: readonly RowCoder[]
  readonly #claims: Claims | undefined
  readonly #strideTicks: number
  /** Rows of the ticks that were looked up last: consecutive deltas often have the same baseline. */
  readonly #baseRows: RowFinder
  readonly #olderRows: RowFinder

  constructor(
    world: World, timeline: Timeline, marks: ChangeMarks, coders: readonly RowCoder[], claims: Claims | undefined,
    strideTicks: number,
  ) {
    this.#world = world
    this.#timeline = timeline
    this.#marks = marks
    this.#coders = coders
    this.#claims = claims
    this.#strideTicks = strideTicks
    this.#baseRows = new RowFinder(marks, timeline)
    this.#olderRows = new RowFinder(marks, timeline)
  }

  /** A new tick was sampled. */
  clear(): void {
    this.#baseRows.clear()
    this.#olderRows.clear()
  }

  /**
   * The key of a delta against a row, and optionally the row before it; `NO_DELTA` when that row is no longer known.
   * @hot
   */
  keyFor(index: number, set: number, base: Tick, isPaired: boolean): number {
    const marks = this.#marks
    // A baseline older than the window is the row that the object had when the window began.
    if (!marks.isStored(base) && marks.rowAtOf(index, set, base) < 0) return NO_DELTA
    if (!isPaired || base - this.#strideTicks < marks.oldest || !marks.isStored(base - this.#strideTicks)) return set
    if (this.#coders[marks.types[index]].usesOlder !== true) return set
    // An object that rested after the baseline does not continue its former motion.
    return marks.hasChanged(index, set, base, base + this.#strideTicks) ? set | KEY_OLDER : set
  }

  /** Finds the rows of a delta whose baseline is known; returns its flags. @hot */
  prepare(index: number, base: Tick, key: number): number {
    const marks = this.#marks
    const set = fieldSet(key)
    const type = marks.types[index]
    const baseRow = this.#baseRows.find(index, set, base)
    assert(baseRow >= 0, 'a delta has a baseline that is still known')
    const olderRow = (key & KEY_OLDER) === 0 ? NO_ROW : this.#olderRows.find(index, set, base - this.#strideTicks)
    const isRested = marks.isRested(index, set, base)
    const { rows, owners, laneCount } = this.#timeline.pools[type]
    const age = marks.tick - base
    const isOwned = marks.ownedAt[index] > base && owners[baseRow] !== marks.owners[index]
    // An object that its owner lost and regained after the baseline has a new claim.
    this.isOwned = isOwned || (this.#claims !== undefined && this.claimTick(index, type) > base + 1)
    this.index = index
    this.set = set
    const { pair } = this
    pair.rows = rows
    pair.at = marks.rowAts[index]
    pair.baseRows = rows
    pair.baseAt = baseRow * laneCount
    pair.olderRows = rows
    const flags = (isRested ? DELTA.rested : 0) | (this.isOwned ? DELTA.owned : 0)
    if (isRested && age > 1) {
      // Both sides know that the baseline's row was valid in the last two ticks: no motion continues over a rest.
      pair.age = 1
      pair.olderAt = pair.baseAt
      pair.olderTicks = 1
      return flags
    }
    pair.age = age
    pair.olderTicks = this.#strideTicks
    pair.olderAt = olderRow < 0 ? NO_ROW : olderRow * laneCount
    return olderRow < 0 ? flags : flags | DELTA.older
  }

  /** Selects the rows of an object that is sent in full. */
  prepareFull(index: number, key: number): void {
    const type = this.#marks.types[index]
    this.index = index
    this.set = fieldSet(key)
    const { pair } = this
    pair.rows = this.#timeline.pools[type].rows
    pair.at = this.#marks.rowAts[index]
    pair.baseRows = this.#world.stores[type].schema.initialRow
    pair.baseAt = 0
    pair.age = 0
    pair.olderAt = NO_ROW
  }

  /** The first tick that the owner of a shared object writes, as of the tick being sent. */
  claimTick(index: number, type: number): Tick {
    const claims = this.#claims
    if (claims === undefined || !this.#world.stores[type].isShared) return 0
    const { ids, tick } = this.#marks
    if (claims.authorityTickAfter === undefined) return claims.authorityTickAt(index)
    return claims.authorityTickAfter(ids[index], tick)
  }
}

/**
 * Finds rows of one tick: the tick and the offset of its references are looked up once. Valid until the next sample.
 */
class RowFinder {
  readonly #marks: ChangeMarks
  readonly #timeline: Timeline
  #tick: Tick = NO_TICK
  #references: Uint32Array = NO_REFERENCES

  constructor(marks: ChangeMarks, timeline: Timeline) {
    this.#marks = marks
    this.#timeline = timeline
  }

  /** A new tick was sampled. */
  clear(): void {
    this.#tick = NO_TICK
  }

  /**
   * The offset in its pool of the row that an object had at a tick, as far as `set` sees it; -1 when it is no longer
   * known. @hot
   */
  find(index: number, set: number, tick: Tick): number {
    const { ids, types, oldest, settled } = this.#marks
    if (tick !== this.#tick) {
      this.#tick = tick
      this.#references = this.#timeline.references(tick >= oldest ? tick : oldest)
    }
    const reference = index < this.#references.length ? this.#references[index] : 0
    const type = types[index]
    const row = reference & ROW_MASK
    if (reference === 0 || reference >>> ROW_BITS !== type) return NO_ROW
    if (this.#timeline.pools[type].ids[row] !== ids[index]) return NO_ROW
    return tick >= oldest || settled[index << 2 | set] <= tick ? row : NO_ROW
  }
}

function fieldSet(key: number): FieldSet {
  const set = key & 3
  return set === 0 ? 0 : set === 1 ? 1 : 2
}
