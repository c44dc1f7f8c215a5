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

import type { ObjectId, PeerId } from '../base/time.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { makeHandleClass, type Handle, type HandleClass } from './handle.ts'
import { indexOf, type ObjectTable } from './object-table.ts'
import { planSample, sampleCells, type SamplePlan } from './sample.ts'

const SLOTS_FIRST = 16

export class EntityStore {
  readonly type: number
  readonly schema: Schema
  readonly heap: ValueHeap
  cells: Float64Array
  rows: Int32Array
  /** By slot: 1 where the last sample found a row that was not what it had been. */
  changed: Uint8Array = new Uint8Array(SLOTS_FIRST)
  /** The rows are not those of the last tick, because cells were loaded: the next sample calls everything changed. */
  isStale = false
  /** Every slot ever used is below this. */
  highSlot = 1
  /** A stack of freed slots; its height is `freeCount`. */
  free: Uint32Array = new Uint32Array(SLOTS_FIRST)
  freeCount = 0
  /** Handles by slot. */
  readonly handles: (Handle | undefined)[] = [undefined]
  readonly #objects: ObjectTable
  readonly #handleClass: HandleClass
  readonly #plan: SamplePlan
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
    this.#plan = planSample(schema)
  }

  ownerOf(id: ObjectId): PeerId {
    return this.#objects.owners[indexOf(id)]
  }

  /** A slot with the cells of a fresh object. */
  takeSlot(): number {
    const slot = this.freeCount > 0 ? this.free[--this.freeCount] : this.highSlot++
    const { cellCount, initialCells } = this.schema
    if (slot >= this.changed.length) this.reserve(slot + 1)
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
    const slot = handle.$at / this.schema.cellCount
    this.handles[slot] = undefined
    this.free[this.freeCount++] = slot
    handle.$at = 0
  }

  /** Quantises every object and snaps its cells to that. @hot */
  sample(): void {
    sampleCells(this.#plan, this.cells, this.rows, this.highSlot, this.changed)
    if (!this.isStale) return
    this.isStale = false
    this.changed.fill(1, 0, this.highSlot)
  }

  /** Where the row of an object lies in `rows`. */
  rowAt(handle: Handle): number {
    return handle.$at / this.schema.cellCount * this.schema.laneCount
  }

  /** Sets an object to a row. @hot */
  load(handle: Handle, rows: Int32Array, at: number): void {
    const rowAt = this.rowAt(handle)
    for (let lane = 0; lane < this.schema.laneCount; lane++) this.rows[rowAt + lane] = rows[at + lane]
    dequantizeRow(this.schema, this.rows, rowAt, this.cells, handle.$at)
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

  /** Makes room for so many slots. */
  reserve(slots: number): void {
    let capacity = this.changed.length
    while (capacity < slots) capacity *= 2
    const { cellCount, laneCount } = this.schema
    this.cells = widen(this.cells, new Float64Array(capacity * cellCount))
    this.rows = widen(this.rows, new Int32Array(capacity * laneCount))
    this.changed = widen(this.changed, new Uint8Array(capacity))
    this.free = widen(this.free, new Uint32Array(capacity))
  }

  /** After objects came or went by loading: binds handles to who lives where now. */
  rebind(): void {
    const { types, slots, highWater } = this.#objects
    const { cellCount } = this.schema
    const before = this.handles.slice()
    this.handles.fill(undefined)
    for (let index = 0; index < highWater; index++) {
      if (types[index] !== this.type) continue
      const id = this.#objects.idAt(index)
      const slot = slots[index]
      const known = before[slot]
      this.handles[slot] = known?.id === id && known.isAlive ? known : new this.#handleClass(this, id, slot * cellCount)
      before[slot] = undefined
    }
    for (const gone of before) if (gone) bury(gone)
    this.#living = undefined
  }
}

/** A handle of what no longer lives: it reads and writes the grave. */
function bury(handle: Handle): void {
  handle.isAlive = false
  handle.$at = 0
}

function widen<T extends Float64Array | Int32Array | Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
