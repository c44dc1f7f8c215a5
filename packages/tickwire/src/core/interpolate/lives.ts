/**
 * The current object at each index of a view and the one that follows it. Each stay at an index is called a life.
 *
 * Drawing lags behind the received data. While an object is still drawn it may be known to be gone, and another object
 * to have taken its index, or the same object to have returned. Only one following life is kept: the last one wins, and
 * lives in between are never shown.
 *
 * Arrays are indexed by object index, for the loop of every draw. This file does not depend on rows.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { indexOf } from '../world/object-table.ts'

const NO_TICK = -1
const INDEXES_FIRST = 64
/** The assumed number of ticks between rows for an object that has only one. */
const GAP_FIRST = 4

/** What the last draw of an object used: its rows; its rows and its rest; nothing, or cells that prediction wrote. */
export const MARK = { received: 0, quiet: 1, unknown: 2 } as const

export class Lives {
  /** Every index in use is below this one. */
  high = 0
  /** The current life: object (0: none), type, first tick, and the tick it is gone (-1: not known). */
  id: Uint32Array = new Uint32Array(0)
  type: Uint8Array = new Uint8Array(0)
  first: Float64Array = new Float64Array(0)
  gone: Float64Array = new Float64Array(0)
  /** Whether prediction has removed it from the view: it stays hidden for the rest of this life. */
  isRemoved: Uint8Array = new Uint8Array(0)
  /** The following life. */
  nextId: Uint32Array = new Uint32Array(0)
  nextType: Uint8Array = new Uint8Array(0)
  nextFirst: Float64Array = new Float64Array(0)
  nextGone: Float64Array = new Float64Array(0)
  isNextRemoved: Uint8Array = new Uint8Array(0)
  /** The object at the index that is predicted here; 0: none. */
  local: Uint32Array = new Uint32Array(0)
  /** State of the last draw: whether it is in the view, its mode, the ticks around the moment, its `MARK`. */
  isSeated: Uint8Array = new Uint8Array(0)
  mode: Uint8Array = new Uint8Array(0)
  before: Float64Array = new Float64Array(0)
  after: Float64Array = new Float64Array(0)
  mark: Uint8Array = new Uint8Array(0)
  /** Ticks between the last two rows that were drawn: how often rows arrive. */
  gap: Uint8Array = new Uint8Array(0)
  /** The tick until which it was last assumed to rest, and the tick of the row since which it rested. */
  rest: Float64Array = new Float64Array(0)
  restRow: Float64Array = new Float64Array(0)

  enter(type: number, id: ObjectId, tick: Tick): void {
    const index = indexOf(id)
    this.reserve(index)
    if (this.id[index] === 0) {
      this.#begin(index, id, type, tick, NO_TICK, 0)
      return
    }
    if (this.id[index] === id && this.gone[index] === NO_TICK && this.nextId[index] === 0) return
    if (this.gone[index] === NO_TICK || this.gone[index] > tick) this.gone[index] = tick
    this.nextId[index] = id
    this.nextType[index] = type
    this.nextFirst[index] = tick
    this.nextGone[index] = NO_TICK
    this.isNextRemoved[index] = 0
  }

  leave(id: ObjectId, tick: Tick): void {
    const index = indexOf(id)
    if (index >= this.high) return
    if (this.nextId[index] === id && tick >= this.nextFirst[index]) this.nextGone[index] = tick
    else if (this.id[index] === id && (this.gone[index] === NO_TICK || tick < this.gone[index])) this.gone[index] = tick
  }

  /** Prediction has removed an object from the view, or brings it back. */
  setRemoved(id: ObjectId, isRemoved: boolean): void {
    const index = indexOf(id)
    if (index >= this.high) return
    if (this.nextId[index] === id) this.isNextRemoved[index] = isRemoved ? 1 : 0
    if (this.id[index] === id) this.isRemoved[index] = isRemoved ? 1 : 0
  }

  /** Whether the current life is over at a moment: the object is gone by then, or the following life has begun. */
  isOver(index: number, renderTick: number): boolean {
    if (this.id[index] !== 0 && this.gone[index] !== NO_TICK && renderTick >= this.gone[index]) return true
    return this.nextId[index] !== 0 && renderTick >= this.nextFirst[index] - 0.5
  }

  /** Replaces the current life by the following one. */
  advance(index: number): void {
    const id = this.nextId[index]
    if (id === 0) this.#begin(index, 0, 0, 0, NO_TICK, 0)
    else
      this.#begin(
        index,
        id,
        this.nextType[index],
        this.nextFirst[index],
        this.nextGone[index],
        this.isNextRemoved[index],
      )
    this.nextId[index] = 0
  }

  /** The oldest tick to search for a row before the moment: the tick where one was last found. */
  from(index: number): Tick {
    return Math.max(this.before[index], this.first[index])
  }

  clear(): void {
    for (let index = 0; index < this.high; index++) {
      this.nextId[index] = 0
      this.local[index] = 0
      this.#begin(index, 0, 0, 0, NO_TICK, 0)
    }
    this.high = 0
  }

  /** Makes room for an index. */
  reserve(index: number): void {
    if (index >= this.id.length) this.#grow(index + 1)
    if (index >= this.high) this.high = index + 1
  }

  #begin(index: number, id: ObjectId, type: number, first: Tick, gone: Tick, isRemoved: number): void {
    this.id[index] = id
    this.type[index] = type
    this.first[index] = first
    this.gone[index] = gone
    this.isRemoved[index] = isRemoved
    this.isSeated[index] = 0
    this.mode[index] = 0
    this.before[index] = NO_TICK
    this.after[index] = NO_TICK
    this.mark[index] = MARK.received
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
    this.isRemoved = bytes(this.isRemoved, capacity)
    this.isNextRemoved = bytes(this.isNextRemoved, capacity)
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
