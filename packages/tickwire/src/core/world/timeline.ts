/**
 * The Timeline: the quantised row of every object at every tick of the last second or so.
 *
 * Deltas, interpolation, rewind, rollback and hashing all read it; "what was field X of object O at tick T?" has one
 * answer and one owner. A row is stored once, when it or the owner changes. A tick is a list of references, indexed by
 * object index:
 *
 *   tick 41   [ 7  3  - 12 ]        -  no object lives there
 *   tick 42   [ 7  4  - 12 ]        object 1 moved: row 4 is new, 7 and 12 are shared with tick 41
 *
 * Dense (`sample`): every object of a world, every tick in order, for the authority and for prediction. Sparse (`put`):
 * the rows that a client received, in any order; rows that it did not receive are missing. A Timeline is either dense
 * or sparse.
 *
 * Memory, in bytes, where P(n) is the smallest power of two that is at least n:
 *
 *   window x P(objects) x 4   references
 *   P(objects) x 12           last changes; sparse 16
 *   P(rows) x (lanes x 4 + 12), for each entity; rows = objects + changes within the window
 *
 * 10,000 objects of 20 lanes at 128 Hz, a tenth of them moving: 8 + 0.2 + 23 MiB.
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX, TIMELINE_ROWS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { Entity } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import type { ValueOf } from '../schema/value-types.ts'
import { loadField } from '../schema/values.ts'
import { indexOf, NO_TYPE, SLOT_MASK } from './object-table.ts'
import { rateLatchOf, type RateLatch } from './rate-latch.ts'
import { RowPool } from './row-pool.ts'
import { checkWindow } from './timeline-window.ts'
import type { ValueKeeper } from './value-keeping.ts'
import type { World } from './world.ts'

/** A reference has a type in the high byte and a row of that type's pool below; 0 is none. */
export const ROW_BITS = 24
export const ROW_MASK = 0xff_ffff
const NO_TICK = -1
const NO_SAMPLE = -1
const NO_REFERENCES = new Uint32Array(0)
const OBJECTS_FIRST = 64

/** The quantised rows of all objects over the last ticks. */
export class Timeline implements ValueKeeper {
  /** How many ticks are stored. */
  readonly windowTicks: number
  /** Indexed by type. */
  readonly pools: readonly RowPool[]
  /** The newest tick stored; -1 before the first. */
  newest: Tick = NO_TICK
  readonly #world: World
  #isSparse: boolean | undefined = undefined
  /** Indexed by tick modulo the window: the tick, and its references, which are indexed by object index. */
  readonly #ticks: Float64Array
  readonly #references: Uint32Array[]
  /** Indexed by object index: the tick of the last change (sparse: the last tick received), and the object's id. */
  #changedAt = new Float64Array(0)
  #changedId = new Uint32Array(0)
  /** Sparse, by object index: the newest received row. It outlives the window: an object at rest gets no more rows. */
  #latest = new Uint32Array(0)
  /** The allocated number of object indexes, and the high-water mark of the newest tick. */
  #capacity = 0
  #high = 0
  /** The world's sample counter at the newest tick; -1 when the stamps cannot be compared with it. */
  #sample = NO_SAMPLE
  /** Indexed by type: holds back the fields that are sent less often than every tick. */
  readonly #latches: readonly (RateLatch | undefined)[]

  /** With a tick rate, sampling follows the rates that fields declare. Without, rows are stored as they are. */
  constructor(world: World, windowTicks: number, tickRate = 0) {
    checkWindow(windowTicks)
    this.windowTicks = windowTicks
    this.pools = world.stores.map(({ schema }) => new RowPool(schema))
    this.#latches = world.stores.map(({ schema }) => tickRate === 0 ? undefined : rateLatchOf(schema, tickRate))
    this.#world = world
    this.#ticks = new Float64Array(windowTicks).fill(NO_TICK)
    this.#references = Array.from({ length: windowTicks }, () => new Uint32Array(0))
    world.keepValuesOf(this)
  }

  /** Allocated bytes. */
  get byteLength(): number {
    const references = this.#references.length * this.#capacity * 4
    return this.pools.reduce(
      (sum, pool) => sum + pool.byteLength,
      references + this.#changedAt.byteLength + this.#changedId.byteLength + this.#latest.byteLength,
    )
  }

  /** Whether a tick is stored. */
  has(tick: Tick): boolean {
    return tick >= 0 && this.#ticks[tick % this.windowTicks] === tick
  }

  /**
   * The offset of an object's row at a tick in `pools[type].rows`; -1 when it is not known. Two ticks with the same
   * result have the same row. O(1). @hot
   */
  find(type: number, id: ObjectId, tick: Tick): number {
    const index = indexOf(id)
    if (index >= this.#capacity || tick < 0) return -1
    // Divided only once, because this runs for every row that is sent.
    const slot = tick % this.windowTicks
    if (this.#ticks[slot] !== tick) return -1
    const reference = this.#references[slot][index]
    if (reference === 0 || reference >>> ROW_BITS !== type) return -1
    const pool = this.pools[type]
    const row = reference & ROW_MASK
    return pool.ids[row] === id ? row * pool.laneCount : -1
  }

  /**
   * Sparse: the offset of the newest received row of an object, however old; -1 when there is none. Its tick is
   * `changedAt`. O(1). @hot
   */
  findLatest(type: number, id: ObjectId): number {
    const index = indexOf(id)
    if (index >= this.#capacity || this.#changedId[index] !== id) return -1
    const reference = this.#latest[index]
    return reference === 0 || reference >>> ROW_BITS !== type ? -1 : (reference & ROW_MASK) * this.pools[type].laneCount
  }

  /**
   * The newest tick from `from` down to `to` at which an object has a row; -1 when there is none. O(ticks passed). @hot
   */
  lastKnown(type: number, id: ObjectId, from: Tick, to: Tick): Tick {
    const oldest = Math.max(to, this.newest - this.windowTicks + 1, 0)
    for (let tick = Math.min(from, this.newest); tick >= oldest; tick--) if (this.find(type, id, tick) >= 0) return tick
    return NO_TICK
  }

  /**
   * The oldest tick from `from` up to `to` at which an object has a row; -1 when there is none. O(ticks passed). @hot
   */
  nextKnown(type: number, id: ObjectId, from: Tick, to: Tick): Tick {
    const newest = Math.min(to, this.newest)
    const oldest = Math.max(from, this.newest - this.windowTicks + 1, 0)
    for (let tick = oldest; tick <= newest; tick++) if (this.find(type, id, tick) >= 0) return tick
    return NO_TICK
  }

  /**
   * All references of a tick, for iteration: 0 is no object, else type << ROW_BITS | row. Indexed by object index.
   * Empty when the tick is not known. Read-only, and valid until the next sample. @hot
   */
  references(tick: Tick): Uint32Array {
    return this.has(tick) ? this.#references[tick % this.windowTicks] : NO_REFERENCES
  }

  /** One lane of an object at a tick; NaN when it is not known. O(1). @hot */
  lane(type: number, id: ObjectId, tick: Tick, lane: number): number {
    const at = this.find(type, id, tick)
    return at < 0 ? NaN : this.pools[type].rows[at + lane]
  }

  /** A field of an object at a tick, as the game sees it; undefined when it is not known. Allocates. */
  read<S extends Shape, Name extends keyof S & string>(
    entity: Entity<S>, id: ObjectId, tick: Tick, name: Name,
  ): ValueOf<S>[Name] | undefined {
    const { type, schema, heap } = this.#world.storeOf(entity)
    const at = this.find(type, id, tick)
    const member = schema.members.find((each) => each.name === name)
    if (at < 0 || member === undefined) return undefined
    const cells = new Float64Array(schema.cellCount)
    dequantizeRow(schema, this.pools[type].rows, at, cells, 0)
    return loadField(schema.leaves, { leaf: member.firstLeaf }, member.field, cells, 0, heap) as ValueOf<S>[Name]
  }

  /** The owner of an object at a tick; -1 when it is not known. O(1). @hot */
  owner(type: number, id: ObjectId, tick: Tick): PeerId {
    const at = this.find(type, id, tick)
    return at < 0 ? -1 : this.pools[type].owners[at / this.pools[type].laneCount]
  }

  /**
   * The tick of the last change of an object's row or owner (sparse: last received); -1 when there is none. O(1). @hot
   */
  changedAt(id: ObjectId): Tick {
    const index = indexOf(id)
    return index < this.#capacity && this.#changedId[index] === id ? this.#changedAt[index] : NO_TICK
  }

  /** Whether an object changed or appeared after a tick, or does not exist. O(1). @hot */
  isChangedSince(id: ObjectId, tick: Tick): boolean {
    const index = indexOf(id)
    return index >= this.#capacity || this.#changedId[index] !== id || this.#changedAt[index] > tick
  }

  /** Stores the world as it is after a tick: the tick after the newest, or the first of all. @hot */
  sample(): void {
    const { tick, objects, stores, samples } = this.#world
    this.#setMode(false)
    assert(this.newest === NO_TICK || tick === this.newest + 1, 'ticks are sampled one after the other')
    this.#reserve(objects.highWater)
    const references = this.#begin(tick)
    if (this.newest === NO_TICK) references.fill(0)
    else references.set(this.#references[this.newest % this.windowTicks])
    this.newest = tick
    const { words, highWater } = objects
    for (let index = 0; index < highWater; index++) {
      const type = words[(index << 2) + 2] >>> 24
      if (type === NO_TYPE) {
        this.#clear(references, index)
        continue
      }
      const id = words[index << 2]
      const owner = words[(index << 2) + 1]
      const slot = words[(index << 2) + 2] & SLOT_MASK
      const store = stores[type]
      const pool = this.pools[type]
      const known = references[index]
      let rows = store.rows
      let at = slot * pool.laneCount
      if (known !== 0 && known >>> ROW_BITS === type && pool.ids[known & ROW_MASK] === id) {
        const latch = this.#latches[type]
        if (latch !== undefined) {
          // A field that was held back is due at a tick of its own, even if the row has not changed since.
          latch.hold(tick, index, rows, at, pool.rows, (known & ROW_MASK) * pool.laneCount)
          rows = latch.row
          at = 0
        } else if (store.stamps[slot] <= this.#sample) continue
        if (pool.equals(known & ROW_MASK, owner, rows, at)) continue
      }
      references[index] = this.#add(type, id, owner, rows, at)
      this.#changedAt[index] = tick
      this.#changedId[index] = id
    }
    for (let index = highWater; index < this.#high; index++) this.#clear(references, index)
    this.#high = highWater
    this.#sample = samples
  }

  /** Stores one received row. False when its tick is too old. @hot */
  put(tick: Tick, type: number, id: ObjectId, owner: PeerId, rows: Int32Array, at: number): boolean {
    this.#setMode(true)
    if (tick <= this.newest - this.windowTicks) return false
    const index = indexOf(id)
    this.#reserve(index + 1)
    // Ticks without any rows push old ticks out of the window too.
    for (let each = Math.max(this.newest + 1, tick - this.windowTicks + 1); each < tick; each++) this.#evict(each)
    const isKnown = this.has(tick)
    const references = isKnown ? this.#references[tick % this.windowTicks] : this.#begin(tick)
    if (!isKnown) references.fill(0)
    if (tick > this.newest) this.newest = tick
    if (references[index] !== 0) {
      this.#remove(references[index])
      if (this.#latest[index] === references[index]) this.#latest[index] = 0
    }
    const reference = this.#add(type, id, owner, rows, at)
    references[index] = reference
    if (tick >= this.#changedAt[index]) {
      this.#dropDetached(index, NO_TICK)
      this.#latest[index] = reference
      this.#changedAt[index] = tick
      this.#changedId[index] = id
    }
    return true
  }

  /** Removes every tick after this one: prediction rolls back and samples them again. */
  truncate(tick: Tick): void {
    for (let index = 0; index < this.#latest.length; index++) this.#dropDetached(index, tick)
    if (tick >= this.newest) return
    // From the newest down, because a shared row is freed with the oldest removed tick that refers to it.
    for (let each = this.newest; each > tick && each > this.newest - this.windowTicks && each >= 0; each--)
      this.#forget(each)
    this.newest = this.#newestFrom(tick)
    this.#sample = NO_SAMPLE
    for (let index = 0; index < this.#capacity; index++) if (this.#changedAt[index] > tick) this.#recall(index)
  }

  markValues(heap: ValueHeap): void {
    for (const pool of this.pools) pool.markValues(heap)
  }

  /** The newest stored tick, from this one down; -1 when there is none. */
  #newestFrom(tick: Tick): Tick {
    for (let each = tick; each >= 0 && each > tick - this.windowTicks; each--) {
      if (this.has(each)) return each
    }
    return NO_TICK
  }

  /** Frees the newest received row of an index if it is newer than `after` and no tick in the window refers to it. */
  #dropDetached(index: number, after: Tick): void {
    const tick = this.#changedAt[index]
    if (this.#latest[index] === 0 || tick <= after || this.#at(tick, index) === this.#latest[index]) return
    this.#remove(this.#latest[index])
    this.#latest[index] = 0
    this.#changedAt[index] = NO_TICK
    this.#changedId[index] = 0
  }

  /** Removes a tick. */
  #forget(tick: Tick): void {
    if (!this.has(tick)) return
    const at = tick % this.windowTicks
    this.#ticks[at] = NO_TICK
    this.#release(
      this.#references[at],
      this.has(tick - 1) ? this.#references[(tick - 1) % this.windowTicks] : undefined,
      false,
    )
  }

  /** Recomputes when an object last changed, appeared or disappeared, or was last received. */
  #recall(index: number): void {
    let tick = this.newest
    if (this.#isSparse === true) while (tick > this.newest - this.windowTicks && this.#at(tick, index) === 0) tick--
    const reference = this.#at(tick, index)
    if (this.#isSparse === false) while (this.has(tick - 1) && this.#at(tick - 1, index) === reference) tick--
    this.#changedAt[index] = reference === 0 && this.#isSparse === true ? NO_TICK : tick
    this.#changedId[index] = reference === 0 ? 0 : this.pools[reference >>> ROW_BITS].ids[reference & ROW_MASK]
    if (this.#isSparse === true) this.#latest[index] = reference
  }

  /** The reference of an index at a tick; 0 when there is none. */
  #at(tick: Tick, index: number): number {
    return this.has(tick) ? this.#references[tick % this.windowTicks][index] : 0
  }

  /** Claims the place of a tick in the ring. */
  #begin(tick: Tick): Uint32Array {
    this.#evict(tick)
    this.#ticks[tick % this.windowTicks] = tick
    return this.#references[tick % this.windowTicks]
  }

  /** Empties the place of a tick in the ring. A row that the following tick shares stays. */
  #evict(tick: Tick): void {
    const at = tick % this.windowTicks
    const evicted = this.#ticks[at]
    if (evicted === NO_TICK) return
    this.#ticks[at] = NO_TICK
    this.#release(
      this.#references[at],
      this.has(evicted + 1) ? this.#references[(evicted + 1) % this.windowTicks] : undefined,
      true,
    )
  }

  /**
   * Frees the rows of a tick that its neighbour does not share; with `keepsLatest`, except the newest received ones.
   */
  #release(references: Uint32Array, neighbour: Uint32Array | undefined, keepsLatest: boolean): void {
    for (let index = 0; index < references.length; index++) {
      const reference = references[index]
      if (reference === 0 || neighbour?.[index] === reference) continue
      if (!keepsLatest || this.#latest[index] !== reference) this.#remove(reference)
    }
  }

  /** Records that no object lives at an index in the newest tick. */
  #clear(references: Uint32Array, index: number): void {
    if (references[index] === 0) return
    references[index] = 0
    this.#changedAt[index] = this.newest
    this.#changedId[index] = 0
  }

  #add(type: number, id: ObjectId, owner: PeerId, rows: Int32Array, at: number): number {
    const row = this.pools[type].add(id, owner, rows, at)
    assert(row < TIMELINE_ROWS_MAX, 'a Timeline holds as many rows of a type as 24 bits can number')
    return (type << ROW_BITS | row) >>> 0
  }

  #remove(reference: number): void {
    this.pools[reference >>> ROW_BITS].remove(reference & ROW_MASK)
  }

  #setMode(isSparse: boolean): void {
    this.#isSparse ??= isSparse
    assert(this.#isSparse === isSparse, 'a Timeline is either sampled or filled by put')
  }

  #reserve(need: number): void {
    if (need <= this.#capacity) return
    let capacity = Math.max(this.#capacity, OBJECTS_FIRST)
    while (capacity < need) capacity *= 2
    this.#capacity = Math.min(capacity, OBJECTS_MAX)
    for (let at = 0; at < this.#references.length; at++) {
      const references = this.#references[at]
      this.#references[at] = new Uint32Array(this.#capacity)
      this.#references[at].set(references)
    }
    const [changedAt, changedId, latest] = [this.#changedAt, this.#changedId, this.#latest]
    this.#changedAt = new Float64Array(this.#capacity).fill(NO_TICK)
    this.#changedAt.set(changedAt)
    this.#changedId = new Uint32Array(this.#capacity)
    this.#changedId.set(changedId)
    this.#latest = new Uint32Array(this.#isSparse === true ? this.#capacity : 0)
    this.#latest.set(latest)
  }
}
