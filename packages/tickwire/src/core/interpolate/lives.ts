/**
 * Who is, was and will be at each index of a view: the present life there and the one that follows it.
 *
 * A picture is behind the news: while an object is still drawn it may be known to be gone, and another to have come to
 * its index, or the same one to have come back. More than one that follows is not kept: the last one counts, and those
 * between were never seen.
 *
 * Arrays by index, for the loop of every draw. It does not know what a row is.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { indexOf } from '../world/object-table.ts'

const NO_TICK = -1
const INDEXES_FIRST = 64
/** Ticks between rows of who has had only one. */
const GAP_FIRST = 4

/** What the last draw of an object went by: its rows; its rows and that it rested; nothing, or somebody else's cells. */
export const MARK = { told: 0, quiet: 1, unknown: 2 } as const

export class Lives {
  /** Every index in use is below this. */
  high = 0
  /** The present life: whose (0: nobody), of which type, from which tick, gone at which (-1: none is known). */
  id: Uint32Array = new Uint32Array(0)
  type: Uint8Array = new Uint8Array(0)
  first: Float64Array = new Float64Array(0)
  gone: Float64Array = new Float64Array(0)
  /** The life that follows. */
  nextId: Uint32Array = new Uint32Array(0)
  nextType: Uint8Array = new Uint8Array(0)
  nextFirst: Float64Array = new Float64Array(0)
  nextGone: Float64Array = new Float64Array(0)
  /** Who of the index is stepped here; 0: nobody. */
  local: Uint32Array = new Uint32Array(0)
  /** Of the last draw: whether it is in the view, its mode, the ticks around the moment, its `MARK`. */
  isSeated: Uint8Array = new Uint8Array(0)
  mode: Uint8Array = new Uint8Array(0)
  before: Float64Array = new Float64Array(0)
  after: Float64Array = new Float64Array(0)
  mark: Uint8Array = new Uint8Array(0)
  /** Ticks between the last two rows that were drawn by: how often it is told. */
  gap: Uint8Array = new Uint8Array(0)
  /** Until which tick it was last taken to rest, and since which row's. */
  rest: Float64Array = new Float64Array(0)
  restRow: Float64Array = new Float64Array(0)

  enter(type: number, id: ObjectId, tick: Tick): void {
    const index = indexOf(id)
    this.reserve(index)
    if (this.id[index] === 0) {
      this.#begin(index, id, type, tick, NO_TICK)
      return
    }
    if (this.id[index] === id && this.gone[index] === NO_TICK && this.nextId[index] === 0) return
    if (this.gone[index] === NO_TICK || this.gone[index] > tick) this.gone[index] = tick
    this.nextId[index] = id
    this.nextType[index] = type
    this.nextFirst[index] = tick
    this.nextGone[index] = NO_TICK
  }

  leave(id: ObjectId, tick: Tick): void {
    const index = indexOf(id)
    if (index >= this.high) return
    if (this.nextId[index] === id && tick >= this.nextFirst[index]) this.nextGone[index] = tick
    else if (this.id[index] === id && (this.gone[index] === NO_TICK || tick < this.gone[index])) this.gone[index] = tick
  }

  /** Whether at a moment the present life is over: it is gone by then, or the one that follows has begun. */
  isOver(index: number, renderTick: number): boolean {
    if (this.id[index] !== 0 && this.gone[index] !== NO_TICK && renderTick >= this.gone[index]) return true
    return this.nextId[index] !== 0 && renderTick >= this.nextFirst[index] - 0.5
  }

  /** The present life is over: the one that follows begins. */
  advance(index: number): void {
    const id = this.nextId[index]
    if (id === 0) this.#begin(index, 0, 0, 0, NO_TICK)
    else this.#begin(index, id, this.nextType[index], this.nextFirst[index], this.nextGone[index])
    this.nextId[index] = 0
  }

  /** The oldest tick worth looking at for a row before the moment: the one it was last found at. */
  from(index: number): Tick {
    return Math.max(this.before[index], this.first[index])
  }

  clear(): void {
    for (let index = 0; index < this.high; index++) {
      this.nextId[index] = 0
      this.local[index] = 0
      this.#begin(index, 0, 0, 0, NO_TICK)
    }
    this.high = 0
  }

  /** Makes room for an index. */
  reserve(index: number): void {
    if (index >= this.id.length) this.#grow(index + 1)
    if (index >= this.high) this.high = index + 1
  }

  #begin(index: number, id: ObjectId, type: number, first: Tick, gone: Tick): void {
    this.id[index] = id
    this.type[index] = type
    this.first[index] = first
    this.gone[index] = gone
    this.isSeated[index] = 0
    this.mode[index] = 0
    this.before[index] = NO_TICK
    this.after[index] = NO_TICK
    this.mark[index] = MARK.told
    this.gap[index] = GAP_FIRST
    this.rest[index] = NO_TICK
    this.restRow[index] = NO_TICK
  }

  #grow(need: number): void {
    let capacity = Math.max(this.id.length, INDEXES_FIRST)
    while (capacity < need) capacity *= 2
    capacity = Math.min(capacity, OBJECTS_MAX)
    const old = this.id.length
    this.id = words(this.id, capacity)
    this.nextId = words(this.nextId, capacity)
    this.local = words(this.local, capacity)
    this.type = bytes(this.type, capacity)
    this.nextType = bytes(this.nextType, capacity)
    this.isSeated = bytes(this.isSeated, capacity)
    this.mode = bytes(this.mode, capacity)
    this.first = doubles(this.first, capacity)
    this.gone = doubles(this.gone, capacity).fill(NO_TICK, old)
    this.nextFirst = doubles(this.nextFirst, capacity)
    this.nextGone = doubles(this.nextGone, capacity)
    this.rest = doubles(this.rest, capacity).fill(NO_TICK, old)
    this.restRow = doubles(this.restRow, capacity).fill(NO_TICK, old)
    this.before = doubles(this.before, capacity).fill(NO_TICK, old)
    this.after = doubles(this.after, capacity).fill(NO_TICK, old)
    this.mark = bytes(this.mark, capacity)
    this.gap = bytes(this.gap, capacity).fill(GAP_FIRST, old)
  }
}

function words(from: Uint32Array, capacity: number): Uint32Array {
  const to = new Uint32Array(capacity)
  to.set(from)
  return to
}

function bytes(from: Uint8Array, capacity: number): Uint8Array {
  const to = new Uint8Array(capacity)
  to.set(from)
  return to
}

function doubles(from: Float64Array, capacity: number): Float64Array {
  const to = new Float64Array(capacity)
  to.set(from)
  return to
}
