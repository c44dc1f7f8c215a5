/**
 * When each object last changed, per field set.
 *
 * A row that changed only in fields that a client may not see has not changed for that client: no byte, no place in a
 * queue, no different baseline. So changes are marked per field set. All code that decides what is sent reads these
 * marks and never the row itself.
 *
 *   changed   the last tick at which a field of the set changed, or the object or its owner did
 *   before    the change before that
 *   settled   the last change that has left the Timeline's window: at or after it, the row is the oldest in the window
 *
 * The marks of an object are at `index << 2 | set`. They belong to the object that is at the index now (`ids`).
 */

import { assert } from '../../base/assert.ts'
import type { Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import type { Schema } from '../../schema/schema.ts'
import { ROW_BITS, ROW_MASK, type Timeline } from '../../world/timeline.ts'
import { BLOCK_SHIFT } from './blocks.ts'

const SETS = 3
/** In place of a field set: no client may see the change. */
const HIDDEN = 3
const NO_TICK = -1
const BLOCK = 1 << BLOCK_SHIFT

export class ChangeMarks {
  /** The newest tick processed. */
  tick: Tick = NO_TICK
  /** The oldest tick of the window that ends with it. */
  oldest: Tick = NO_TICK
  /** Every index in use is below this. */
  highWater = 0
  /**
   * At the newest tick, indexed by object index: id (0: no object), type, owner, and the offset of the row in its pool.
   */
  ids: Uint32Array = new Uint32Array(0)
  types: Uint8Array = new Uint8Array(0)
  owners: Uint32Array = new Uint32Array(0)
  rowAts: Uint32Array = new Uint32Array(0)
  /** Indexed by object index: the tick at which the object appeared, and at which it got its owner. */
  bornAt: Float64Array = new Float64Array(0)
  ownedAt: Float64Array = new Float64Array(0)
  /** Indexed by object index: the tick at which the last object here despawned. */
  diedAt: Float64Array = new Float64Array(0)
  /** Indexed by block of 32 objects: one bit per live object. */
  alives: Int32Array = new Int32Array(0)
  /** Indexed by object index << 2 | set. */
  changed: Float64Array = new Float64Array(0)
  before: Float64Array = new Float64Array(0)
  settled: Float64Array = new Float64Array(0)
  /** The same changes as words of 32 objects, for the ticks of the window. */
  readonly masks: ChangeMasks
  /** The last tick at which any object spawned or despawned. */
  censusTick: Tick = NO_TICK
  readonly #timeline: Timeline
  /** Indexed by type, then by lane: the first field set that contains the lane. */
  readonly #laneSets: readonly Uint8Array[]

  constructor(timeline: Timeline, schemas: readonly Schema[]) {
    this.#timeline = timeline
    this.#laneSets = schemas.map(laneSetsOf)
    this.masks = new ChangeMasks(timeline.windowTicks)
  }


  /** Processes the ticks of the Timeline that these marks have not seen. @hot */
  update(): void {
    const { newest, windowTicks } = this.#timeline
    if (newest === this.tick) return
    assert(newest > this.tick, 'a Timeline that is replicated is never truncated')
    const first = Math.max(this.tick + 1, newest - windowTicks + 1, 0)
    for (let tick = first; tick <= newest; tick++) this.#look(tick)
  }

  /**
   * The offset in its pool of the row that an object had at a tick, as far as `set` sees it; -1 when it is no longer
   * known. @hot
   */
  rowAtOf(index: number, set: number, tick: Tick): number {
    const { oldest } = this
    if (tick >= oldest) return this.#timeline.find(this.types[index], this.ids[index], tick)
    return this.settled[index << 2 | set] <= tick ? this.#timeline.find(this.types[index], this.ids[index], oldest) : -1
  }

  /** Whether the Timeline still has a tick. The world may be ahead of the tick that is sent. @hot */
  isStored(tick: Tick): boolean {
    return tick > this.#timeline.newest - this.#timeline.windowTicks
  }

  /** Whether the object, as far as `set` sees it, was unchanged from `since` to the tick before the newest. @hot */
  isRested(index: number, set: number, since: Tick): boolean {
    const at = index << 2 | set
    return (this.changed[at] === this.tick ? this.before[at] : this.changed[at]) <= since
  }

  /** Whether the object, as far as `set` sees it, changed after `from` and up to `to`, both in the window. @hot */
  hasChanged(index: number, set: number, from: Tick, to: Tick): boolean {
    return (this.masks.since(set, index >>> BLOCK_SHIFT, from, to) & 1 << index) !== 0
  }

  #look(tick: Tick): void {
    const references = this.#timeline.references(tick)
    const earlier = this.#timeline.references(tick === this.tick + 1 ? tick - 1 : NO_TICK)
    this.#reserve(references.length)
    this.tick = tick
    this.oldest = tick - this.#timeline.windowTicks + 1
    this.#settle(this.oldest)
    let high = 0
    for (let first = 0; first < references.length; first += BLOCK) {
      let all = 0
      let team = 0
      let owner = 0
      let alive = 0
      for (let index = first; index < first + BLOCK; index++) {
        const reference = references[index]
        if (reference === 0) {
          if (this.ids[index] !== 0) this.#bury(index)
          continue
        }
        high = index + 1
        alive |= 1 << index
        if (reference === earlier[index]) continue
        const set = this.#mark(index, reference, index < earlier.length ? earlier[index] : 0)
        const bit = 1 << index
        if (set === 0) all |= bit
        if (set <= 1) team |= bit
        if (set <= 2) owner |= bit
      }
      this.alives[first >>> BLOCK_SHIFT] = alive
      this.masks.put(0, first >>> BLOCK_SHIFT, tick, all)
      this.masks.put(1, first >>> BLOCK_SHIFT, tick, team)
      this.masks.put(2, first >>> BLOCK_SHIFT, tick, owner)
    }
    this.highWater = high
  }

  #bury(index: number): void {
    this.ids[index] = 0
    this.diedAt[index] = this.tick
    this.censusTick = this.tick
  }

  /** An object has a new row. Returns the first field set that sees the difference, or `HIDDEN`. */
  #mark(index: number, reference: number, earlier: number): number {
    const type = reference >>> ROW_BITS
    const { ids, owners, rows, laneCount } = this.#timeline.pools[type]
    const row = reference & ROW_MASK
    const was = earlier & ROW_MASK
    const isBorn = earlier === 0 || earlier >>> ROW_BITS !== type || ids[was] !== ids[row]
    const isOwned = isBorn || owners[was] !== owners[row]
    if (isBorn) {
      this.censusTick = this.tick
      this.bornAt[index] = this.tick
    }
    if (isOwned) this.ownedAt[index] = this.tick
    this.ids[index] = ids[row]
    this.types[index] = type
    this.owners[index] = owners[row]
    this.rowAts[index] = row * laneCount
    const set = isOwned ? 0 : firstSet(this.#laneSets[type], rows, row * laneCount, was * laneCount)
    for (let at = index << 2 | set; at < (index << 2) + SETS; at++) {
      this.before[at] = isBorn ? this.tick : this.changed[at]
      this.changed[at] = this.tick
      if (isBorn) this.settled[at] = this.tick
    }
    return set
  }

  /** `oldest` is now the oldest tick of the window: a change in it cannot be found in the window once it moves on. */
  #settle(oldest: Tick): void {
    // This runs even if the Timeline no longer has that tick: when several ticks are processed together, it has moved
    // on.
    if (oldest < 0) return
    const { masks } = this
    for (let block = 0; block < masks.capacity; block++) {
      for (let set = 0; set < SETS; set++) {
        for (let bits = masks.at(set, block, oldest); bits !== 0; bits &= bits - 1) {
          const at = (block << BLOCK_SHIFT | 31 - Math.clz32(bits & -bits)) << 2 | set
          // An object born since has a later value.
          if (this.settled[at] < oldest) this.settled[at] = oldest
        }
      }
    }
  }

  #reserve(need: number): void {
    if (need <= this.ids.length) return
    this.ids = widen(this.ids, new Uint32Array(need))
    this.types = widen(this.types, new Uint8Array(need))
    this.owners = widen(this.owners, new Uint32Array(need))
    this.rowAts = widen(this.rowAts, new Uint32Array(need))
    this.bornAt = widen(this.bornAt, new Float64Array(need))
    this.ownedAt = widen(this.ownedAt, new Float64Array(need))
    this.diedAt = widen(this.diedAt, new Float64Array(need))
    this.alives = widen(this.alives, new Int32Array(need >>> BLOCK_SHIFT))
    this.changed = widen(this.changed, new Float64Array(need << 2))
    this.before = widen(this.before, new Float64Array(need << 2))
    this.settled = widen(this.settled, new Float64Array(need << 2))
    this.masks.reserve(need >>> BLOCK_SHIFT)
  }
}

/** The first field set that contains a lane in which two rows of a pool differ; `HIDDEN` when none does. @hot */
function firstSet(laneSets: Uint8Array, rows: Int32Array, at: number, wasAt: number): number {
  let first = HIDDEN
  for (let lane = 0; lane < laneSets.length; lane++) {
    if (rows[at + lane] !== rows[wasAt + lane] && laneSets[lane] < first) first = laneSets[lane]
  }
  return first
}

function laneSetsOf({ laneCount, masks }: Schema): Uint8Array {
  const sets = new Uint8Array(laneCount).fill(HIDDEN)
  for (let set = SETS - 1; set >= 0; set--) {
    for (const { lane, laneCount: count } of masks[set].members) sets.fill(set, lane, lane + count)
  }
  return sets
}

/**
 * The objects that changed in each tick of the window, 32 in a word: the same marks, for callers that ask about many
 * objects at once. `bits` is indexed by tick modulo a power of two, by field set, by block.
 *
 * Invariant: callers ask only about ticks within the Timeline's window. Words of older ticks are overwritten.
 */
class ChangeMasks {
  /** Number of blocks that fit. */
  capacity = 0
  /** Read in loops over all blocks. The blocks of a field set in a tick begin at `rowOf`. */
  bits: Int32Array = new Int32Array(0)
  readonly #slots: number

  constructor(windowTicks: number) {
    let slots = 1
    while (slots < windowTicks) slots *= 2
    this.#slots = slots
  }

  /** The offset in `bits` of the first block of a field set in a tick. @hot */
  rowOf(set: number, tick: Tick): number {
    return ((tick & (this.#slots - 1)) * SETS + set) * this.capacity
  }

  /** The objects of a block that changed in a tick, as far as the field set sees them. @hot */
  at(set: number, block: number, tick: Tick): number {
    return this.bits[this.rowOf(set, tick) + block]
  }

  /** The objects of a block that changed after `from` and up to `to`. @hot */
  since(set: number, block: number, from: Tick, to: Tick): number {
    const { bits, capacity } = this
    const rowStep = SETS * capacity
    let changed = 0
    let at = this.rowOf(set, from + 1) + block
    for (let left = to - from; left > 0; left--) {
      changed |= bits[at]
      at += rowStep
      if (at >= bits.length) at -= bits.length
    }
    return changed
  }

  /** @hot */
  put(set: number, block: number, tick: Tick, bits: number): void {
    this.bits[this.rowOf(set, tick) + block] = bits
  }

  /** Makes room for `need` blocks. */
  reserve(need: number): void {
    if (need <= this.capacity) return
    const { capacity } = this
    const bits = new Int32Array(this.#slots * SETS * need)
    for (let row = 0; row < this.#slots * SETS; row++)
      bits.set(this.bits.subarray(row * capacity, (row + 1) * capacity), row * need)
    this.bits = bits
    this.capacity = need
  }
}
