/**
 * All objects of one entity: their live cells, object after object in one Float64Array, and their rows, which are the
 * same objects quantised at the last sample.
 *
 *   slot 0  the grave: what a dead handle reads and writes; reset by every sample
 *   slot 1  x y hue ...   slot 2  x y hue ...
 *
 * With one array per type, saving is a single copy. A slot that is freed in a tick is not reused before the tick ends,
 * so a handle that dies in the middle of `step` does no harm. Slots are internal: no order, hash or byte depends on
 * which slot an object has.
 *
 * `stamps` hold the sample that last found an object's row changed. A reader that follows the world (Timeline, hash)
 * can look as often or as seldom as it likes and never misses a change.
 */

import type { ObjectId, PeerId } from '../base/time.ts'
import { widen } from '../base/widen.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { handleClassOf, move, type Handle, type HandleClass, type HandleKind, type Place } from './handle.ts'
import { Living } from './living.ts'
import { indexOf, type ObjectTable } from './object-table.ts'
import { planSample, sampleCells, type SamplePlan } from './sample.ts'

const SLOTS_FIRST = 16
/** The slot of dead handles. */
const GRAVE = 0

export class EntityStore {
  // Declared here and assigned in the constructor, for speed: see handle.ts.
  declare readonly type: number
  declare readonly schema: Schema
  declare readonly heap: ValueHeap
  declare readonly objects: ObjectTable
  /** All living objects, as an iterable. */
  readonly all: Living = new Living(this)
  declare cells: Float64Array
  declare rows: Int32Array
  /** Indexed by slot: the number of the last sample that found the row changed. */
  stamps: Float64Array = new Float64Array(SLOTS_FIRST)
  /** The number of the next sample. */
  nextSample = 1
  /** Every slot ever used is below this one. */
  highSlot = 1
  /** The number of living objects. */
  count = 0
  /** Whether objects are written by their owners. */
  isShared = false
  /**
   * Whether an owner simulates its own objects, so that they are not simulated here; undefined: all are simulated here.
   */
  isElsewhere: ((owner: PeerId) => boolean) | undefined = undefined
  /** Called after each write to fields in a traced world, with the leaves from `first` to before `end`. */
  onWrite: ((place: Place, first: number, end: number) => void) | undefined = undefined
  /** The number of deaths so far. Iteration looks for dead objects only when it has changed. */
  deaths = 0
  /** A stack of free slots. Its height is `#freeCount`. */
  #free: Uint32Array = new Uint32Array(SLOTS_FIRST)
  #freeCount = 0
  /** Indexed by slot: its cells. */
  readonly #windows: Float64Array[] = []
  readonly #handleClass: HandleClass
  readonly #plan: SamplePlan
  /** The same memory as `rows`, read as floats. */
  #floatRows: Float32Array
  /** Living objects, ascending by id; undefined after a spawn or despawn, until the next request. */
  #living: readonly Handle[] | undefined

  constructor(type: number, schema: Schema, objects: ObjectTable, heap: ValueHeap, kind: HandleKind) {
    this.type = type
    this.schema = schema
    this.heap = heap
    this.objects = objects
    this.cells = new Float64Array(SLOTS_FIRST * schema.cellCount)
    this.cells.set(schema.initialCells)
    this.rows = new Int32Array(SLOTS_FIRST * schema.laneCount)
    this.#floatRows = new Float32Array(this.rows.buffer)
    this.#handleClass = handleClassOf(schema, kind)
    this.#plan = planSample(schema)
  }

  /** The owner of an object; 0 once it is dead and released. */
  ownerOf(handle: Handle): PeerId {
    return this.slotOf(handle) === GRAVE ? 0 : this.objects.ownerAt(indexOf(handle.id))
  }

  /** Takes a slot and fills it with the cells of a fresh object. */
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

  /** The handle of an object in a slot. Reuses the handle that had this id before, if it is remembered. */
  bind(id: ObjectId, slot: number, isAlive: boolean): Handle {
    const { handles } = this.objects
    const index = indexOf(id)
    const last = handles[index]
    if (last !== undefined && (last.id !== id || last.$store !== this)) {
      last.$store.letGo(last)
      this.objects.remember(index, last)
    }
    const handle =
      last?.id === id && last.$store === this
        ? last
        : (this.objects.recall(index, id, this) ?? new this.#handleClass(this, id, this.#window(slot)))
    handles[index] = handle
    handle.isAlive = isAlive
    move(handle, this.#window(slot))
    return handle
  }

  /** Gives the object of a handle another id. The handle stays the same. */
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

  /** Marks an object as dead. Its slot stays taken until `freeSlot`. */
  bury(handle: Handle): void {
    handle.isAlive = false
    this.count--
    this.deaths++
    this.#living = undefined
  }

  /** Makes a slot available again and releases its heap values. */
  freeSlot(slot: number): void {
    const { heapLeaves, cellCount, laneCount } = this.schema
    for (let index = 0; index < heapLeaves.length; index++) {
      this.cells[slot * cellCount + heapLeaves[index].cell] = 0
      this.rows[slot * laneCount + heapLeaves[index].lane] = 0
    }
    this.#free[this.#freeCount++] = slot
  }

  /** Points the handle of a dead object at the grave. */
  letGo(handle: Handle): void {
    handle.isAlive = false
    move(handle, this.#window(GRAVE))
  }

  /** Quantises every object and snaps its cells to the quantised values. @hot */
  sample(): void {
    const { initialCells } = this.schema
    for (let cell = 0; cell < initialCells.length; cell++) this.cells[cell] = initialCells[cell]
    sampleCells(this.#plan, this.cells, this.rows, this.#floatRows, this.highSlot, this.stamps, this.nextSample)
    this.nextSample++
  }

  slotOf(handle: Handle): number {
    return handle.$cells.byteOffset / (8 * this.schema.cellCount)
  }

  /** The offset of an object's row in `rows`. */
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

  /** All living objects, ascending by id. A returned list never changes. */
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

  /** Makes room for `slots` slots. */
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

  /** The cells of a slot. Made once and kept, because a subarray is an object as large as a small game object. */
  #window(slot: number): Float64Array {
    for (let next = this.#windows.length; next <= slot; next++) {
      this.#windows.push(this.cells.subarray(next * this.schema.cellCount, (next + 1) * this.schema.cellCount))
    }
    return this.#windows[slot]
  }

  /** Call after loading has added or removed objects: which slots are taken, and how many objects live. */
  rebind(isTaken: Uint8Array, count: number): void {
    this.#freeCount = 0
    for (let slot = this.highSlot - 1; slot > 0; slot--) if (isTaken[slot] === 0) this.#free[this.#freeCount++] = slot
    this.count = count
    this.deaths++
    this.stamps.fill(this.nextSample, 0, this.highSlot)
    this.#living = undefined
  }

  /** Marks the values of all objects here, so that the coming sweep of the heap keeps them. */
  markValues(): void {
    const { schema, heap, cells, rows, highSlot } = this
    if (schema.heapLeaves.length === 0) return
    for (let slot = 0; slot < highSlot; slot++) {
      heap.markCells(schema, cells, slot * schema.cellCount)
      heap.markRow(schema, rows, slot * schema.laneCount)
    }
  }
}
