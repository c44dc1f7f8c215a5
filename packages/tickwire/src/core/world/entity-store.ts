/**
 * All objects of one entity: their live cells, object after object in one Float64Array, and their handles.
 *
 *   slot 0  the grave: what a dead handle reads and writes
 *   slot 1  x y hue ...   slot 2  x y hue ...
 *
 * One array a type makes saving one copy. A slot freed in a tick is not reused before its end, so that a handle that
 * dies in the middle of `step` harms nobody. Beside the cells lie the rows: the same objects quantised, as of the last
 * sample.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { makeHandleClass, type Handle, type HandleClass } from './handle.ts'
import { indexOf, type ObjectTable } from './object-table.ts'

const SLOTS_FIRST = 16

export class EntityStore {
  readonly type: number
  readonly schema: Schema
  readonly heap: ValueHeap
  cells: Float64Array
  rows: Int32Array
  /** Handles by slot. */
  readonly handles: (Handle | undefined)[] = [undefined]
  readonly #objects: ObjectTable
  readonly #handleClass: HandleClass
  readonly #free: number[] = []
  /** Alive, ascending by id; undefined after a spawn or despawn, until somebody asks. */
  #living: readonly Handle[] | undefined

  constructor(type: number, schema: Schema, objects: ObjectTable, heap: ValueHeap, isReadOnly: boolean) {
    this.type = type
    this.schema = schema
    this.heap = heap
    this.cells = new Float64Array(SLOTS_FIRST * schema.cellCount)
    this.rows = new Int32Array(SLOTS_FIRST * schema.laneCount)
    this.#objects = objects
    this.#handleClass = makeHandleClass(schema, isReadOnly)
  }

  ownerOf(id: ObjectId): PeerId {
    return this.#objects.owners[indexOf(id)]
  }

  /** A slot with the cells of a fresh object. */
  takeSlot(): number {
    const slot = this.#free.pop() ?? this.handles.length
    const { cellCount, initialCells } = this.schema
    if ((slot + 1) * cellCount > this.cells.length) this.#grow()
    this.cells.set(initialCells, slot * cellCount)
    return slot
  }

  /** Puts a new object into its slot. */
  seat(id: ObjectId, slot: number): Handle {
    const handle = new this.#handleClass(this, id, slot * this.schema.cellCount)
    this.handles[slot] = handle
    this.#living = undefined
    return handle
  }

  /** The object is gone from now on; its slot stays until `freeSlot`. */
  bury(handle: Handle): void {
    handle.isAlive = false
    this.#living = undefined
  }

  /** Makes a buried object's slot free for another. */
  freeSlot(handle: Handle): void {
    const slot = handle.at / this.schema.cellCount
    this.handles[slot] = undefined
    this.#free.push(slot)
    handle.at = 0
  }

  /** Quantises everyone alive, and snaps their cells to it: what a peer cannot be told, nobody computes with. @hot */
  sample(): void {
    const living = this.living()
    const { laneCount, cellCount } = this.schema
    for (let index = 0; index < living.length; index++) {
      const { at } = living[index]
      const rowAt = at / cellCount * laneCount
      quantizeCells(this.schema, this.cells, at, this.rows, rowAt)
      dequantizeRow(this.schema, this.rows, rowAt, this.cells, at)
    }
  }

  /** Where the row of an object lies in `rows`. */
  rowAt(handle: Handle): number {
    return handle.at / this.schema.cellCount * this.schema.laneCount
  }

  /** Sets an object to a row. @hot */
  load(handle: Handle, rows: Int32Array, at: number): void {
    const rowAt = this.rowAt(handle)
    for (let lane = 0; lane < this.schema.laneCount; lane++) this.rows[rowAt + lane] = rows[at + lane]
    dequantizeRow(this.schema, this.rows, rowAt, this.cells, handle.at)
  }

  /** Everyone alive, ascending by id. The list is never changed after it was given out. */
  living(): readonly Handle[] {
    return (this.#living ??= this.#collect())
  }

  #collect(): readonly Handle[] {
    const { types, slots, highWater } = this.#objects
    const living: Handle[] = []
    for (let index = 0; index < highWater; index++) {
      if (types[index] !== this.type) continue
      const handle = this.handles[slots[index]]
      if (handle?.isAlive) living.push(handle)
    }
    return living
  }

  #grow(): void {
    const { cellCount, laneCount } = this.schema
    const slots = Math.min(this.cells.length / cellCount * 2, OBJECTS_MAX + 1)
    const { cells, rows } = this
    this.cells = new Float64Array(slots * cellCount)
    this.cells.set(cells)
    this.rows = new Int32Array(slots * laneCount)
    this.rows.set(rows)
  }
}
