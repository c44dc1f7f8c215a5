/**
 * The Timeline: what every object's quantised row was, at every tick of the last second or so.
 *
 * Deltas, interpolation, rewind, rollback and hashing all ask it; "what was field X of object O at tick T?" has one
 * answer and one owner. A row is kept once, when it or the owner changes; a tick is a list of references, by object:
 *
 *   tick 41   [ 7  3  - 12 ]        -  nobody lives there
 *   tick 42   [ 7  4  - 12 ]        object 1 moved: row 4 is new, 7 and 12 are shared with tick 41
 *
 * Dense (`sample`): every object of a world, every tick in turn, for the authority and for prediction. Sparse (`put`):
 * the rows that a client was told, in whatever order they came; what it was not told is not there. One Timeline is one
 * or the other.
 *
 * Memory, in bytes, where P(n) is the power of two from n on:
 *
 *   window x P(objects) x 4   references
 *   P(objects) x 12           last changes; sparse 16
 *   P(rows) x (lanes x 4 + 12), for each entity; rows = objects + changes within the window
 *
 * 10,000 objects of 20 lanes at 128 Hz, a tenth of them moving: 8 + 0.2 + 23 MiB.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { OBJECTS_MAX, TIMELINE_ROWS_MAX, TIMELINE_TICKS_MAX, TIMELINE_WINDOW_MS } from '../base/limits.ts'
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
import type { ValueKeeper } from './value-keeping.ts'
import type { World } from './world.ts'

/** A reference is a type in the high byte and a row of that type's pool below; 0 is none. */
export const ROW_BITS = 24
export const ROW_MASK = 0xff_ffff
const NO_TICK = -1
const NO_SAMPLE = -1
const NO_REFERENCES = new Uint32Array(0)
const OBJECTS_FIRST = 64
const WINDOW_TICKS_MIN = 2

/** How many ticks a window of so many milliseconds has. */
export function windowTicks(tickRate: number, windowMs: number = TIMELINE_WINDOW_MS): number {
  const ticks = Math.max(Math.ceil((windowMs * tickRate) / 1000), WINDOW_TICKS_MIN)
  if (!(ticks <= TIMELINE_TICKS_MAX)) {
    throw new ConfigError('windowMs', `${windowMs} ms at ${tickRate} Hz are ${ticks} ticks`, `A Timeline remembers at most ${TIMELINE_TICKS_MAX}; record what needs longer memory.`)
  }
  return ticks
}

export class Timeline implements ValueKeeper {
  /** How many ticks are remembered. */
  readonly windowTicks: number
  /** By type. */
  readonly pools: readonly RowPool[]
  /** The newest tick remembered; -1 before the first. */
  newest: Tick = NO_TICK
  readonly #world: World
  #isSparse: boolean | undefined = undefined
  /** By tick modulo the window: which tick it is, and the references by object index. */
  readonly #ticks: Float64Array
  readonly #references: Uint32Array[]
  /** By object index: the tick of the last change (sparse: the last tick told), and whose it was. */
  #changedAt = new Float64Array(0)
  #changedId = new Uint32Array(0)
  /** Sparse, by object index: the reference of the newest row told. It outlives the window: who rests is told no more. */
  #latest = new Uint32Array(0)
  /** Objects that there is room for, and those that the newest tick has at most. */
  #capacity = 0
  #high = 0
  /** The sample of the world that the newest tick is of; -1 when it is of none that the stamps know. */
  #sample = NO_SAMPLE
  /** By type: what holds fields back that are told less often than every tick. */
  readonly #latches: readonly (RateLatch | undefined)[]

  /** With the tick rate, what is sampled follows the rates that fields declare; without, rows are remembered as they are. */
  constructor(world: World, windowTicks: number, tickRate = 0) {
    const isWindow = Number.isInteger(windowTicks) && windowTicks >= WINDOW_TICKS_MIN && windowTicks <= TIMELINE_TICKS_MAX
    if (!isWindow) throw new ConfigError('windowTicks', `${windowTicks}`, `Give ${WINDOW_TICKS_MIN} to ${TIMELINE_TICKS_MAX}.`)
    this.windowTicks = windowTicks
    this.pools = world.stores.map(({ schema }) => new RowPool(schema))
    this.#latches = world.stores.map(({ schema }) => tickRate === 0 ? undefined : rateLatchOf(schema, tickRate))
    this.#world = world
    this.#ticks = new Float64Array(windowTicks).fill(NO_TICK)
    this.#references = Array.from({ length: windowTicks }, () => new Uint32Array(0))
    world.keepValuesOf(this)
  }

  /** Bytes held. */
  get byteLength(): number {
    const references = this.#references.length * this.#capacity * 4
    return this.pools.reduce((sum, pool) => sum + pool.byteLength, references + this.#changedAt.byteLength + this.#changedId.byteLength + this.#latest.byteLength)
  }

  /** Whether anything is known of a tick. */
  has(tick: Tick): boolean {
    return tick >= 0 && this.#ticks[tick % this.windowTicks] === tick
  }

  /**
   * Where the row of an object at a tick lies in `pools[type].rows`; -1 when it is not known. Two ticks with the same
   * answer have the same row. O(1). @hot
   */
  find(type: number, id: ObjectId, tick: Tick): number {
    const index = indexOf(id)
    if (index >= this.#capacity || tick < 0) return -1
    // Divided once: this is asked for every row that is told.
    const slot = tick % this.windowTicks
    if (this.#ticks[slot] !== tick) return -1
    const reference = this.#references[slot][index]
    if (reference === 0 || reference >>> ROW_BITS !== type) return -1
    const pool = this.pools[type]
    const row = reference & ROW_MASK
    return pool.ids[row] === id ? row * pool.laneCount : -1
  }

  /**
   * Sparse: where the newest row told of an object lies, however long ago that was; -1 when there is none. Its tick is
   * `changedAt`. O(1). @hot
   */
  findLatest(type: number, id: ObjectId): number {
    const index = indexOf(id)
    if (index >= this.#capacity || this.#changedId[index] !== id) return -1
    const reference = this.#latest[index]
    return reference === 0 || reference >>> ROW_BITS !== type ? -1 : (reference & ROW_MASK) * this.pools[type].laneCount
  }

  /** The newest tick from `from` down to `to` at which an object has a row; -1 when there is none. O(ticks passed). @hot */
  lastKnown(type: number, id: ObjectId, from: Tick, to: Tick): Tick {
    const oldest = Math.max(to, this.newest - this.windowTicks + 1, 0)
    for (let tick = Math.min(from, this.newest); tick >= oldest; tick--) if (this.find(type, id, tick) >= 0) return tick
    return NO_TICK
  }

  /** The oldest tick from `from` up to `to` at which an object has a row; -1 when there is none. O(ticks passed). @hot */
  nextKnown(type: number, id: ObjectId, from: Tick, to: Tick): Tick {
    const newest = Math.min(to, this.newest)
    const oldest = Math.max(from, this.newest - this.windowTicks + 1, 0)
    for (let tick = oldest; tick <= newest; tick++) if (this.find(type, id, tick) >= 0) return tick
    return NO_TICK
  }

  /**
   * All references of a tick, by object index, for who walks all of them: 0 nobody, else type << ROW_BITS | row. Empty when
   * the tick is not known; not to be written to, and good until the next sample. @hot
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

  /** Who owned an object at a tick; -1 when it is not known. O(1). @hot */
  owner(type: number, id: ObjectId, tick: Tick): PeerId {
    const at = this.find(type, id, tick)
    return at < 0 ? -1 : this.pools[type].owners[at / this.pools[type].laneCount]
  }

  /** The tick at which an object, its row or its owner, last changed (sparse: was last told); -1 when it is not there. O(1). @hot */
  changedAt(id: ObjectId): Tick {
    const index = indexOf(id)
    return index < this.#capacity && this.#changedId[index] === id ? this.#changedAt[index] : NO_TICK
  }

  /** Whether an object changed after a tick, or came after it, or is not there at all. O(1). @hot */
  isChangedSince(id: ObjectId, tick: Tick): boolean {
    const index = indexOf(id)
    return index >= this.#capacity || this.#changedId[index] !== id || this.#changedAt[index] > tick
  }

  /** Remembers the world as it stands after a tick: the tick after the newest, or the first of all. @hot */
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
          // What was held back is due at a tick of its own, whenever the row changed last.
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

  /** Remembers one row that was told. False when its tick is too old to be remembered. @hot */
  put(tick: Tick, type: number, id: ObjectId, owner: PeerId, rows: Int32Array, at: number): boolean {
    this.#setMode(true)
    if (tick <= this.newest - this.windowTicks) return false
    const index = indexOf(id)
    this.#reserve(index + 1)
    // Ticks that nobody spoke of push old ones out of the window too.
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

  /** Forgets every tick after this one: prediction goes back and samples them anew. */
  truncate(tick: Tick): void {
    for (let index = 0; index < this.#latest.length; index++) this.#dropDetached(index, tick)
    if (tick >= this.newest) return
    // From the newest down, for a row is let go of by the oldest tick that is cut off.
    for (let each = this.newest; each > tick && each > this.newest - this.windowTicks && each >= 0; each--) this.#forget(each)
    this.newest = this.#newestFrom(tick)
    this.#sample = NO_SAMPLE
    for (let index = 0; index < this.#capacity; index++) if (this.#changedAt[index] > tick) this.#recall(index)
  }

  markValues(heap: ValueHeap): void {
    for (const pool of this.pools) pool.markValues(heap)
  }

  /** The newest tick held, from this one down; -1 when there is none. */
  #newestFrom(tick: Tick): Tick {
    for (let each = tick; each >= 0 && each > tick - this.windowTicks; each--) {
      if (this.has(each)) return each
    }
    return NO_TICK
  }

  /** Lets go of the newest row told of an index, if it was told after a tick and is older than the window: nobody else will. */
  #dropDetached(index: number, after: Tick): void {
    const tick = this.#changedAt[index]
    if (this.#latest[index] === 0 || tick <= after || this.#at(tick, index) === this.#latest[index]) return
    this.#remove(this.#latest[index])
    this.#latest[index] = 0
    this.#changedAt[index] = NO_TICK
    this.#changedId[index] = 0
  }

  /** Lets go of a tick. */
  #forget(tick: Tick): void {
    if (!this.has(tick)) return
    const at = tick % this.windowTicks
    this.#ticks[at] = NO_TICK
    this.#release(this.#references[at], this.has(tick - 1) ? this.#references[(tick - 1) % this.windowTicks] : undefined, false)
  }

  /** Finds out again when an object last changed, came or went, or was last told. */
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

  /** Takes the place of a tick in the ring. */
  #begin(tick: Tick): Uint32Array {
    this.#evict(tick)
    this.#ticks[tick % this.windowTicks] = tick
    return this.#references[tick % this.windowTicks]
  }

  /** Empties the place that a tick has in the ring. A row that the tick after it shares stays. */
  #evict(tick: Tick): void {
    const at = tick % this.windowTicks
    const evicted = this.#ticks[at]
    if (evicted === NO_TICK) return
    this.#ticks[at] = NO_TICK
    this.#release(this.#references[at], this.has(evicted + 1) ? this.#references[(evicted + 1) % this.windowTicks] : undefined, true)
  }

  /** Lets go of every row of a tick that its neighbour does not share, perhaps but for the newest told of an object. */
  #release(references: Uint32Array, neighbour: Uint32Array | undefined, keepsLatest: boolean): void {
    for (let index = 0; index < references.length; index++) {
      const reference = references[index]
      if (reference === 0 || neighbour?.[index] === reference) continue
      if (!keepsLatest || this.#latest[index] !== reference) this.#remove(reference)
    }
  }

  /** Says that nobody lives at an index in the newest tick. */
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
    assert(this.#isSparse === isSparse, 'a Timeline is sampled, or told, and not both')
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
