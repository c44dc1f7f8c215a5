/**
 * All objects of one entity: their live cells, object after object in one Float64Array, and beside them the rows, the
 * same objects quantised, as of the last sample.
 *
 *   slot 0  the grave: what a dead handle reads and writes; fresh again after every sample
 *   slot 1  x y hue ...   slot 2  x y hue ...
 *
 * One array a type makes saving one copy. A slot freed in a tick is not reused before its end, so that a handle that
 * dies in the middle of `step` harms nobody. Which slot an object has is nobody's business but ours: no order, hash or
 * byte depends on it.
 *
 * `stamps` say which sample last found an object's row changed, so that everybody who follows the world (Timeline, hash)
 * can look as often or as seldom as he likes and never miss a change.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { handleClassOf, move, type Handle, type HandleClass } from './handle.ts'
import { Living } from './living.ts'
import { indexOf, type ObjectTable } from './object-table.ts'
import { planSample, sampleCells, type SamplePlan } from './sample.ts'

const SLOTS_FIRST = 16
/** The slot of the dead. */
const GRAVE = 0

export class EntityStore {
  // Declared here and made in the constructor, for speed: see handle.ts.
  declare readonly type: number
  declare readonly schema: Schema
  declare readonly heap: ValueHeap
  declare readonly objects: ObjectTable
  /** Everyone alive, to be walked over. */
  readonly all: Living = new Living(this)
  declare cells: Float64Array
  declare rows: Int32Array
  /** By slot: the number of the last sample that found the row not what it had been. */
  stamps: Float64Array = new Float64Array(SLOTS_FIRST)
  /** The number of the next sample. */
  nextSample = 1
  /** Every slot ever used is below this. */
  highSlot = 1
  /** How many are alive. */
  count = 0
  /** Objects are written by who owns them. */
  isShared = false
  /** Whether whoever has this number simulates what he owns, so that it is not simulated here; undefined: everything is. */
  isElsewhere: ((owner: PeerId) => boolean) | undefined = undefined
  /** How many have died: iteration looks for the dead only when there are new ones. */
  deaths = 0
  /** A stack of free slots; its height is `#freeCount`. */
  #free: Uint32Array = new Uint32Array(SLOTS_FIRST)
  #freeCount = 0
  /** By slot: its cells. */
  readonly #windows: Float64Array[] = []
  readonly #handleClass: HandleClass
  readonly #plan: SamplePlan
  /** The rows, read as floats. */
  #floatRows: Float32Array
  /** Alive, ascending by id; undefined after a spawn or despawn, until somebody asks. */
  #living: readonly Handle[] | undefined

  constructor(type: number, schema: Schema, objects: ObjectTable, heap: ValueHeap, isReadOnly: boolean) {
    this.type = type
    this.schema = schema
    this.heap = heap
    this.objects = objects
    this.cells = new Float64Array(SLOTS_FIRST * schema.cellCount)
    this.cells.set(schema.initialCells)
    this.rows = new Int32Array(SLOTS_FIRST * schema.laneCount)
    this.#floatRows = new Float32Array(this.rows.buffer)
    this.#handleClass = handleClassOf(schema, isReadOnly)
    this.#plan = planSample(schema)
  }

  /** Whose an object is; 0 once it is dead and gone. */
  ownerOf(handle: Handle): PeerId {
    return this.slotOf(handle) === GRAVE ? 0 : this.objects.ownerAt(indexOf(handle.id))
  }

  /** A slot with the cells of a fresh object. */
  takeSlot(): number {
    const slot = this.#freeCount > 0 ? this.#free[--this.#freeCount] : this.highSlot++
    this.reserve(slot + 1)
    this.cells.set(this.schema.initialCells, slot * this.schema.cellCount)
    return slot
  }

  /** Puts a new object, whose cells are set, into its slot. */
  seat(id: ObjectId, slot: number): Handle {
    const { cellCount, laneCount } = this.schema
    quantizeCells(this.schema, this.cells, slot * cellCount, this.rows, slot * laneCount)
    this.stamps[slot] = this.nextSample
    this.count++
    this.#living = undefined
    return this.bind(id, slot, true)
  }

  /** The handle of an object in a slot: the one that stood for this very id before, if it is remembered. */
  bind(id: ObjectId, slot: number, isAlive: boolean): Handle {
    const { handles } = this.objects
    const index = indexOf(id)
    const last = handles[index]
    if (last !== undefined && (last.id !== id || last.$store !== this)) {
      last.$store.letGo(last)
      this.objects.remember(index, last)
    }
    const handle = last?.id === id && last.$store === this ? last : this.objects.recall(index, id, this) ?? new this.#handleClass(this, id, this.#window(slot))
    handles[index] = handle
    handle.isAlive = isAlive
    move(handle, this.#window(slot))
    return handle
  }

  /** A handle stands for the same object, which from now on has another id. */
  rename(handle: Handle, id: ObjectId, slot: number): void {
    const { handles } = this.objects
    handles[indexOf(handle.id)] = undefined
    handle.id = id
    const last = handles[indexOf(id)]
    if (last !== undefined) this.objects.remember(indexOf(id), last)
    handles[indexOf(id)] = handle
    this.stamps[slot] = this.nextSample
    this.#living = undefined
  }

  /** The object is gone from now on; its slot stays until `freeSlot`. */
  bury(handle: Handle): void {
    handle.isAlive = false
    this.count--
    this.deaths++
    this.#living = undefined
  }

  /** Makes a slot free for another. Values it held are let go of. */
  freeSlot(slot: number): void {
    const { heapLeaves, cellCount, laneCount } = this.schema
    for (let index = 0; index < heapLeaves.length; index++) {
      this.cells[slot * cellCount + heapLeaves[index].cell] = 0
      this.rows[slot * laneCount + heapLeaves[index].lane] = 0
    }
    this.#free[this.#freeCount++] = slot
  }

  /** A handle of what no longer lives: it reads and writes the grave. */
  letGo(handle: Handle): void {
    handle.isAlive = false
    move(handle, this.#window(GRAVE))
  }

  /** Quantises every object and snaps its cells to that. @hot */
  sample(): void {
    const { initialCells } = this.schema
    for (let cell = 0; cell < initialCells.length; cell++) this.cells[cell] = initialCells[cell]
    sampleCells(this.#plan, this.cells, this.rows, this.#floatRows, this.highSlot, this.stamps, this.nextSample)
    this.nextSample++
  }

  /** The slot of an object. */
  slotOf(handle: Handle): number {
    return handle.$cells.byteOffset / (8 * this.schema.cellCount)
  }

  /** Where the row of an object lies in `rows`. */
  rowAt(handle: Handle): number {
    return this.slotOf(handle) * this.schema.laneCount
  }

  /** Sets an object to a row. @hot */
  load(handle: Handle, rows: Int32Array, at: number): void {
    const slot = this.slotOf(handle)
    const rowAt = slot * this.schema.laneCount
    for (let lane = 0; lane < this.schema.laneCount; lane++) this.rows[rowAt + lane] = rows[at + lane]
    dequantizeRow(this.schema, this.rows, rowAt, this.cells, slot * this.schema.cellCount)
    this.stamps[slot] = this.nextSample
  }

  /** Everyone alive, ascending by id. The list is never changed after it was given out. */
  living(): readonly Handle[] {
    return (this.#living ??= this.#collect())
  }

  #collect(): readonly Handle[] {
    const { objects } = this
    const living: Handle[] = []
    for (let index = 0; living.length < this.count; index++) {
      if (objects.typeAt(index) !== this.type) continue
      const handle = objects.handles[index]
      if (handle !== undefined) living.push(handle)
    }
    return living
  }

  /** Makes room for so many slots. */
  reserve(slots: number): void {
    let capacity = this.stamps.length
    if (slots <= capacity) return
    while (capacity < slots) capacity *= 2
    const { cellCount, laneCount } = this.schema
    this.cells = widen(this.cells, new Float64Array(capacity * cellCount))
    this.rows = widen(this.rows, new Int32Array(capacity * laneCount))
    this.#floatRows = new Float32Array(this.rows.buffer)
    this.stamps = widen(this.stamps, new Float64Array(capacity))
    this.#free = widen(this.#free, new Uint32Array(capacity))
    this.#windows.length = 0
    for (const handle of this.objects.handles) {
      if (handle?.$store === this) move(handle, this.#window(this.slotOf(handle)))
    }
  }

  /** The cells of a slot by themselves; made once, since a window is an object as large as a small game's. */
  #window(slot: number): Float64Array {
    for (let next = this.#windows.length; next <= slot; next++) {
      this.#windows.push(this.cells.subarray(next * this.schema.cellCount, (next + 1) * this.schema.cellCount))
    }
    return this.#windows[slot]
  }

  /** After objects came or went by loading: which slots are taken, and by how many that live. */
  rebind(isTaken: Uint8Array, count: number): void {
    this.#freeCount = 0
    for (let slot = this.highSlot - 1; slot > 0; slot--) if (isTaken[slot] === 0) this.#free[this.#freeCount++] = slot
    this.count = count
    this.deaths++
    this.stamps.fill(this.nextSample, 0, this.highSlot)
    this.#living = undefined
  }

  /** Keeps the values of everybody here in the coming sweep of the heap. */
  markValues(): void {
    const { schema, heap, cells, rows, highSlot } = this
    if (schema.heapLeaves.length === 0) return
    for (let slot = 0; slot < highSlot; slot++) {
      heap.markCells(schema, cells, slot * schema.cellCount)
      heap.markRow(schema, rows, slot * schema.laneCount)
    }
  }
}

function widen<T extends Float64Array | Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
