/**
 * The Timeline: what every object's quantised row was, at every tick of the last second or so.
 *
 * Deltas, interpolation, rewind, rollback and hashing all ask it; "what was field X of object O at tick T?" has one
 * answer and one owner. A row is kept once, when it changes; a tick is a list of references, one per object:
 *
 *   tick 41   [ 7  3  - 12 ]        -  nobody lives there
 *   tick 42   [ 7  4  - 12 ]        object 1 moved: row 4 is new, 7 and 12 are shared with tick 41
 *
 * Dense (`sample`): every object of a world, every tick in turn, for the authority and for prediction. Sparse (`put`):
 * the rows that a client was told, in whatever order they came; what it was not told is not there.
 *
 * Memory: ticks x objects x 4 bytes of references, 8 an object for its last change, and lanes x 4 + 8 bytes for each
 * change within the window. 10,000 objects of 20 lanes at 128 Hz, a tenth of them moving: 5 + 12 MB.
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX, TIMELINE_ROWS_MAX, TIMELINE_TICKS_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import type { Schema } from '../schema/schema.ts'
import { indexOf, NO_TYPE } from './object-table.ts'
import { RowPool } from './row-pool.ts'
import type { World } from './world.ts'

/** A reference is a type in the high byte and a row of that type's pool below; 0 is none. */
const ROW_BITS = 24
const ROW_MASK = 0xff_ffff
const NO_TICK = -1

export class Timeline {
  /** How many ticks are remembered. */
  readonly windowTicks: number
  /** By type. */
  readonly pools: readonly RowPool[]
  /** The newest tick remembered; -1 before the first. */
  newest: Tick = NO_TICK
  /** By tick modulo the window: which tick it is, and the references by object index. */
  readonly #ticks: Float64Array
  readonly #references: Uint32Array[]
  /** By object index: the tick of the last change, and whose it was. */
  #changedAt = new Float64Array(0)
  #capacity = 0

  constructor(schemas: readonly Schema[], windowTicks: number) {
    assert(windowTicks >= 2 && windowTicks <= TIMELINE_TICKS_MAX, 'a Timeline remembers a few ticks at least')
    this.windowTicks = windowTicks
    this.pools = schemas.map((schema) => new RowPool(schema.laneCount))
    this.#ticks = new Float64Array(windowTicks).fill(NO_TICK)
    this.#references = Array.from({ length: windowTicks }, () => new Uint32Array(0))
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.pools.reduce((sum, pool) => sum + pool.byteLength, this.#references.length * this.#capacity * 4 + this.#changedAt.byteLength)
  }

  /** Whether anything is known of a tick. */
  has(tick: Tick): boolean {
    return tick >= 0 && this.#ticks[tick % this.windowTicks] === tick
  }

  /** Where the row of an object at a tick lies in `pools[type].rows`; -1 when it is not known. O(1). @hot */
  find(type: number, id: ObjectId, tick: Tick): number {
    const index = indexOf(id)
    if (index >= this.#capacity || !this.has(tick)) return -1
    const reference = this.#references[tick % this.windowTicks][index]
    if (reference === 0 || reference >>> ROW_BITS !== type) return -1
    const pool = this.pools[type]
    const row = reference & ROW_MASK
    return pool.ids[row] === id ? row * pool.laneCount : -1
  }

  /** Whether the row of an object changed after a tick, or the object came after it. O(1). @hot */
  isChangedSince(id: ObjectId, tick: Tick): boolean {
    const index = indexOf(id)
    return index < this.#capacity && this.#changedAt[index] > tick
  }

  /** The tick at which an object last changed; -1 when it never did within memory. O(1). @hot */
  changedAt(id: ObjectId): Tick {
    const index = indexOf(id)
    return index < this.#capacity ? this.#changedAt[index] : NO_TICK
  }

  /** Remembers a world as it stands after a tick: the tick after the newest, or the first of all. @hot */
  sample(world: World): void {
    const { tick, objects, stores } = world
    assert(this.newest === NO_TICK || tick === this.newest + 1, 'ticks are sampled one after the other')
    this.#reserve(objects.highWater)
    const references = this.#begin(tick)
    if (this.newest !== NO_TICK) references.set(this.#references[this.newest % this.windowTicks])
    this.newest = tick
    const { types, slots, highWater } = objects
    for (let index = 0; index < highWater; index++) {
      const type = types[index]
      if (type === NO_TYPE) {
        references[index] = 0
        continue
      }
      const store = stores[type]
      const slot = slots[index]
      const known = references[index]
      const id = objects.idAt(index)
      const isSame = known !== 0 && known >>> ROW_BITS === type && this.pools[type].ids[known & ROW_MASK] === id
      if (isSame && store.changed[slot] === 0) continue
      if (isSame && this.#equals(type, known & ROW_MASK, store.rows, slot * store.schema.laneCount)) continue
      references[index] = this.#add(type, id, store.rows, slot * store.schema.laneCount)
      this.#changedAt[index] = tick
    }
  }

  /** Remembers one row that was told. False when its tick is too old to be remembered. @hot */
  put(tick: Tick, type: number, id: ObjectId, rows: Int32Array, at: number): boolean {
    if (tick <= this.newest - this.windowTicks) return false
    const index = indexOf(id)
    this.#reserve(index + 1)
    const references = this.has(tick) ? this.#references[tick % this.windowTicks] : this.#begin(tick).fill(0)
    if (tick > this.newest) this.newest = tick
    if (references[index] !== 0) this.#remove(references[index])
    references[index] = this.#add(type, id, rows, at)
    if (tick > this.#changedAt[index]) this.#changedAt[index] = tick
    return true
  }

  /** Forgets every tick after this one: prediction goes back and samples them anew. */
  truncate(tick: Tick): void {
    for (; this.newest > tick && this.newest >= 0; this.newest--) {
      const at = this.newest % this.windowTicks
      if (this.#ticks[at] !== this.newest) continue
      const before = this.has(this.newest - 1) ? this.#references[(this.newest - 1) % this.windowTicks] : undefined
      this.#release(this.#references[at], before)
      this.#ticks[at] = NO_TICK
    }
    for (let index = 0; index < this.#capacity; index++) {
      // What changed after the cut is unknown again; saying "at the cut" errs on the side of sending.
      if (this.#changedAt[index] > tick) this.#changedAt[index] = tick
    }
  }

  /** Takes the place of a tick in the ring, evicting what was there. */
  #begin(tick: Tick): Uint32Array {
    const at = tick % this.windowTicks
    const evicted = this.#ticks[at]
    if (evicted !== NO_TICK) {
      const next = this.has(evicted + 1) ? this.#references[(evicted + 1) % this.windowTicks] : undefined
      this.#release(this.#references[at], next)
    }
    this.#ticks[at] = tick
    return this.#references[at]
  }

  /** Lets go of every row of a tick that its neighbour does not share. */
  #release(references: Uint32Array, neighbour: Uint32Array | undefined): void {
    for (let index = 0; index < references.length; index++) {
      const reference = references[index]
      if (reference !== 0 && (neighbour === undefined || neighbour[index] !== reference)) this.#remove(reference)
    }
  }

  #add(type: number, id: ObjectId, rows: Int32Array, at: number): number {
    const row = this.pools[type].add(id, rows, at)
    assert(row < TIMELINE_ROWS_MAX, 'a Timeline holds as many rows of a type as 24 bits can number')
    return (type << ROW_BITS | row) >>> 0
  }

  #remove(reference: number): void {
    this.pools[reference >>> ROW_BITS].remove(reference & ROW_MASK)
  }

  #equals(type: number, row: number, rows: Int32Array, at: number): boolean {
    const pool = this.pools[type]
    const known = row * pool.laneCount
    for (let lane = 0; lane < pool.laneCount; lane++) if (pool.rows[known + lane] !== rows[at + lane]) return false
    return true
  }

  #reserve(need: number): void {
    if (need <= this.#capacity) return
    let capacity = Math.max(this.#capacity, 64)
    while (capacity < need) capacity *= 2
    capacity = Math.min(capacity, OBJECTS_MAX)
    this.#capacity = capacity
    for (let at = 0; at < this.#references.length; at++) {
      const references = this.#references[at]
      this.#references[at] = new Uint32Array(capacity)
      this.#references[at].set(references)
    }
    const changedAt = this.#changedAt
    this.#changedAt = new Float64Array(capacity).fill(NO_TICK)
    this.#changedAt.set(changedAt)
  }
}
