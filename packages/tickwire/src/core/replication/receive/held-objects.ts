/**
 * The objects that a receiver holds, one per index, and from which tick on their rows may be baselines.
 *
 *   floors   rows of this index at this tick or before belong to a different object, stay in view or field set
 *   tellings newest tick of a row of the held object; -1 when no object is held
 *   named    the baseline that the authority used last, with a copy of its row: it may be older than the window
 *
 * Also records what happened at each index since the last `drain`: entered, changed, left.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import type { ValueHeap } from '../../schema/value-heap.ts'
import { RowPool } from '../../world/row-pool.ts'
import type { ValueKeeper } from '../../world/value-keeping.ts'
import type { World } from '../../world/world.ts'

/** Called for each object that entered, changed or left since the last drain: once per object, in no order. */
export interface HeldObserver {
  onEntered(id: ObjectId, type: number, owner: PeerId): void
  /** Its newest row, or its owner, changed. */
  onChanged(id: ObjectId, type: number, owner: PeerId): void
  /** It left the view. `isDespawned`: it left the world. */
  onLeft(id: ObjectId, type: number, isDespawned: boolean): void
}

const NO_TICK = -1
const INDEXES_FIRST = 64
const TOUCHED = 1
const DESPAWNED = 2

export class HeldObjects implements ValueKeeper {
  /** These arrays are indexed by object index. */
  ids: Uint32Array = new Uint32Array(INDEXES_FIRST)
  types: Uint8Array = new Uint8Array(INDEXES_FIRST)
  sets: Uint8Array = new Uint8Array(INDEXES_FIRST)
  owners: Uint32Array = new Uint32Array(INDEXES_FIRST)
  floors: Float64Array = new Float64Array(INDEXES_FIRST).fill(NO_TICK)
  receivedAt: Float64Array = new Float64Array(INDEXES_FIRST).fill(NO_TICK)
  namedTicks: Float64Array = new Float64Array(INDEXES_FIRST).fill(NO_TICK)
  namedRows: Uint32Array = new Uint32Array(INDEXES_FIRST)
  /** For our own objects, if the authority sent it: the tick of birth, and the ordinal within that tick; else -1. */
  birthTicks: Float64Array = new Float64Array(INDEXES_FIRST).fill(NO_TICK)
  birthOrdinals: Float64Array = new Float64Array(INDEXES_FIRST).fill(NO_TICK)
  /** For shared objects: the first tick that the owner writes. */
  authorityTicks: Float64Array = new Float64Array(INDEXES_FIRST)
  /** Indexed by type: the rows of named baselines. */
  readonly pools: readonly RowPool[]
  /** How many objects are held. */
  count = 0
  /** The last state reported to the observer, and the indexes to report next. */
  #shownIds = new Uint32Array(INDEXES_FIRST)
  #shownTypes = new Uint8Array(INDEXES_FIRST)
  #flags = new Uint8Array(INDEXES_FIRST)
  #touched = new Uint32Array(INDEXES_FIRST)
  #touchedCount = 0

  constructor(world: World) {
    this.pools = world.stores.map(({ schema }) => new RowPool(schema))
    world.keepValuesOf(this)
  }

  /** Starts to hold an object at an index, in place of the previous one. */
  enter(index: number, id: ObjectId, type: number, set: number): void {
    if (this.ids[index] !== 0) this.leave(index, true)
    this.ids[index] = id
    this.types[index] = type
    this.sets[index] = set
    this.birthTicks[index] = NO_TICK
    this.birthOrdinals[index] = NO_TICK
    this.authorityTicks[index] = 0
    this.count++
    this.touch(index)
  }

  /** Stops holding the object at an index. */
  leave(index: number, isDespawned: boolean): void {
    if (this.ids[index] === 0) return
    this.unname(index)
    this.ids[index] = 0
    this.receivedAt[index] = NO_TICK
    this.count--
    this.touch(index)
    this.#flags[index] = isDespawned ? TOUCHED | DESPAWNED : TOUCHED
  }

  /** Keeps a copy of the baseline that the authority used. @hot */
  name(index: number, tick: Tick, owner: PeerId, rows: Int32Array, at: number): void {
    if (this.namedTicks[index] === tick) return
    this.unname(index)
    this.namedTicks[index] = tick
    this.namedRows[index] = this.pools[this.types[index]].add(this.ids[index], owner, rows, at)
  }

  unname(index: number): void {
    if (this.namedRows[index] !== 0) this.pools[this.types[index]].remove(this.namedRows[index])
    this.namedRows[index] = 0
    this.namedTicks[index] = NO_TICK
  }

  /** Marks an index for the next drain. @hot */
  touch(index: number): void {
    if (this.#flags[index] !== 0) return
    this.#flags[index] = TOUCHED
    this.#touched[this.#touchedCount++] = index
  }

  /** Reports what happened to each object since the last drain. */
  drain(observer: HeldObserver): void {
    for (let at = 0; at < this.#touchedCount; at++) {
      const index = this.#touched[at]
      const id = this.ids[index]
      const shown = this.#shownIds[index]
      const isDespawned = (this.#flags[index] & DESPAWNED) !== 0
      this.#flags[index] = 0
      this.#shownIds[index] = id
      if (shown !== 0 && shown !== id) observer.onLeft(shown, this.#shownTypes[index], isDespawned)
      this.#shownTypes[index] = this.types[index]
      if (id === 0) continue
      if (shown === id) observer.onChanged(id, this.types[index], this.owners[index])
      else observer.onEntered(id, this.types[index], this.owners[index])
    }
    this.#touchedCount = 0
  }

  /** Makes room for `need` indexes. */
  reserve(need: number): void {
    let capacity = this.ids.length
    if (need <= capacity) return
    while (capacity < need) capacity *= 2
    this.ids = widen(this.ids, new Uint32Array(capacity))
    this.types = widen(this.types, new Uint8Array(capacity))
    this.sets = widen(this.sets, new Uint8Array(capacity))
    this.owners = widen(this.owners, new Uint32Array(capacity))
    this.floors = widen(this.floors, new Float64Array(capacity).fill(NO_TICK))
    this.receivedAt = widen(this.receivedAt, new Float64Array(capacity).fill(NO_TICK))
    this.namedTicks = widen(this.namedTicks, new Float64Array(capacity).fill(NO_TICK))
    this.namedRows = widen(this.namedRows, new Uint32Array(capacity))
    this.birthTicks = widen(this.birthTicks, new Float64Array(capacity).fill(NO_TICK))
    this.birthOrdinals = widen(this.birthOrdinals, new Float64Array(capacity).fill(NO_TICK))
    this.authorityTicks = widen(this.authorityTicks, new Float64Array(capacity))
    this.#shownIds = widen(this.#shownIds, new Uint32Array(capacity))
    this.#shownTypes = widen(this.#shownTypes, new Uint8Array(capacity))
    this.#flags = widen(this.#flags, new Uint8Array(capacity))
    this.#touched = widen(this.#touched, new Uint32Array(capacity))
  }

  markValues(heap: ValueHeap): void {
    for (const pool of this.pools) pool.markValues(heap)
  }
}
