/**
 * Stored rows of one entity: a growing arena of equal places, freed and reused.
 *
 * Row 0 is unused, so that 0 can mean "no row". Each row stores the id of its object, because an index in a table of
 * the past may since belong to another object, and the owner of the object at that time.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import { widen } from '../base/widen.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'

const ROWS_FIRST = 64

export class RowPool {
  // Declared here and assigned in the constructor, for speed: see handle.ts.
  declare readonly schema: Schema
  declare readonly laneCount: number
  declare rows: Int32Array
  /** Indexed by row: the id of its object; 0 where there is none. */
  ids: Uint32Array = new Uint32Array(ROWS_FIRST)
  /** Indexed by row: the owner of its object. */
  owners: Uint32Array = new Uint32Array(ROWS_FIRST)
  #free: Uint32Array = new Uint32Array(ROWS_FIRST)
  #freeCount = 0
  #high = 1

  constructor(schema: Schema) {
    this.schema = schema
    this.laneCount = schema.laneCount
    this.rows = new Int32Array(ROWS_FIRST * schema.laneCount)
  }

  /** The number of rows in use. */
  get size(): number {
    return this.#high - 1 - this.#freeCount
  }

  /** Allocated bytes, used or not. */
  get byteLength(): number {
    return this.rows.byteLength + this.ids.byteLength + this.owners.byteLength + this.#free.byteLength
  }

  /** Stores a copy of the row at `rows[at]` of an object. Returns its number, never 0. @hot */
  add(id: ObjectId, owner: PeerId, rows: Int32Array, at: number): number {
    const row = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.#high++
    if (row >= this.ids.length) this.#grow()
    this.ids[row] = id
    this.owners[row] = owner
    const target = row * this.laneCount
    for (let lane = 0; lane < this.laneCount; lane++) this.rows[target + lane] = rows[at + lane]
    return row
  }

  /** Frees a row. @hot */
  remove(row: number): void {
    this.ids[row] = 0
    this.#free[this.#freeCount++] = row
  }

  /** Whether a row has this owner and equals the one at `rows[at]`. @hot */
  equals(row: number, owner: PeerId, rows: Int32Array, at: number): boolean {
    if (this.owners[row] !== owner) return false
    const known = row * this.laneCount
    for (let lane = 0; lane < this.laneCount; lane++) if (this.rows[known + lane] !== rows[at + lane]) return false
    return true
  }

  /** Marks the values of all rows, so that the coming sweep of the heap keeps them. */
  markValues(heap: ValueHeap): void {
    if (this.schema.heapLeaves.length === 0) return
    for (let row = 1; row < this.#high; row++)
      if (this.ids[row] !== 0) heap.markRow(this.schema, this.rows, row * this.laneCount)
  }

  #grow(): void {
    const capacity = this.ids.length * 2
    this.rows = widen(this.rows, new Int32Array(capacity * this.laneCount))
    this.ids = widen(this.ids, new Uint32Array(capacity))
    this.owners = widen(this.owners, new Uint32Array(capacity))
    this.#free = widen(this.#free, new Uint32Array(capacity))
  }
}
