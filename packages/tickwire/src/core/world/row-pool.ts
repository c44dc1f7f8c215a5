/**
 * Rows of one entity that somebody remembers: a growing arena of equal places, freed and reused.
 *
 * Row 0 is nobody's, so that 0 can mean "no row". Each row knows whose it is: a place in a table of the past may have
 * belonged to another object since.
 */

import type { ObjectId } from '../base/time.ts'

const ROWS_FIRST = 64

export class RowPool {
  readonly laneCount: number
  rows: Int32Array
  /** By row: the object it is of. */
  ids: Uint32Array
  #free: Uint32Array = new Uint32Array(ROWS_FIRST)
  #freeCount = 0
  #high = 1

  constructor(laneCount: number) {
    this.laneCount = laneCount
    this.rows = new Int32Array(ROWS_FIRST * laneCount)
    this.ids = new Uint32Array(ROWS_FIRST)
  }

  /** Rows in use. */
  get size(): number {
    return this.#high - 1 - this.#freeCount
  }

  /** Bytes held, used or not. */
  get byteLength(): number {
    return this.rows.byteLength + this.ids.byteLength + this.#free.byteLength
  }

  /** Keeps a copy of the row at `rows[at]` of an object; returns its number, never 0. @hot */
  add(id: ObjectId, rows: Int32Array, at: number): number {
    const row = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#high++
    if (row >= this.ids.length) this.#grow()
    this.ids[row] = id
    const target = row * this.laneCount
    for (let lane = 0; lane < this.laneCount; lane++) this.rows[target + lane] = rows[at + lane]
    return row
  }

  /** Forgets a row. @hot */
  remove(row: number): void {
    this.ids[row] = 0
    this.#free[this.#freeCount++] = row
  }

  #grow(): void {
    const capacity = this.ids.length * 2
    this.rows = widen(this.rows, new Int32Array(capacity * this.laneCount))
    this.ids = widen(this.ids, new Uint32Array(capacity))
    this.#free = widen(this.#free, new Uint32Array(capacity))
  }
}

function widen<T extends Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
