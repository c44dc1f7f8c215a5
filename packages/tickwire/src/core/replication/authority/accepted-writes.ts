/**
 * Applies the rows that clients write for shared objects: for each object, once a tick, the newest row that its writer
 * has sent for a tick that the writer owned.
 *
 *   row of tick t from peer P counts      P is the writer of t in the book, t is not after the server's tick, and newer
 *                                         than the row applied before
 *
 * Rows of an old owner that are still in flight are applied as long as they are of its ticks and no row of the new
 * owner has arrived; after that they are old. An object that the server simulates itself needs no rows from clients.
 *
 * An owner may write only the fields that are replicated to owners: `server` fields stay the server's.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { dequantizeRow } from '../../schema/cells.ts'
import type { Leaf } from '../../schema/leaf.ts'
import type { Handle } from '../../world/handle.ts'
import { indexOf } from '../../world/object-table.ts'
import type { World } from '../../world/world.ts'
import { FIELD_SET } from '../relevance.ts'
import type { ClaimBook } from './claim-book.ts'
import type { WrittenRows } from './written-rows.ts'

/** Called for every row applied. */
export type AcceptedListener = (object: ObjectId, tick: Tick, writer: PeerId) => void

const NONE = -1
const INDEXES_FIRST = 64

export class AcceptedWrites {
  /** Rows applied so far. */
  acceptedCount = 0
  onAccepted: AcceptedListener | undefined = undefined
  readonly #world: World
  readonly #book: ClaimBook
  readonly #writers = new Map<PeerId, WrittenRows>()
  /** Indexed by object index: the object, and the tick of the row that the world has. */
  #ids = new Uint32Array(INDEXES_FIRST)
  #ticks = new Float64Array(INDEXES_FIRST)
  /** Indexed by type: the leaves that an owner writes; and a buffer for their cells. */
  readonly #leaves: readonly (readonly Leaf[])[]
  readonly #cells: Float64Array

  constructor(world: World, book: ClaimBook) {
    this.#world = world
    this.#book = book
    this.#leaves = world.stores.map(({ schema }) =>
      schema.masks[FIELD_SET.owner].members.flatMap(({ firstLeaf, leafCount }) =>
        schema.leaves.slice(firstLeaf, firstLeaf + leafCount),
      ),
    )
    this.#cells = new Float64Array(world.stores.reduce((most, { schema }) => Math.max(most, schema.cellCount), 0))
  }

  add(writer: WrittenRows): void {
    this.#writers.set(writer.peer, writer)
  }

  remove(peer: PeerId): void {
    this.#writers.get(peer)?.close()
    this.#writers.delete(peer)
  }

  of(peer: PeerId): WrittenRows | undefined {
    return this.#writers.get(peer)
  }

  /**
   * Called at the beginning of a tick: applies the rows received for ticks up to this one. Returns whether there were
   * any. @hot
   */
  apply(): boolean {
    const { stores } = this.#world
    const { acceptedCount } = this
    for (let type = 0; type < stores.length; type++) {
      const store = stores[type]
      if (!store.isShared) continue
      const handles = store.living()
      for (let at = 0; at < handles.length; at++) this.#applyTo(handles[at], type)
    }
    return this.acceptedCount !== acceptedCount
  }

  #applyTo(handle: Handle, type: number): void {
    const { id } = handle
    const { tick } = this.#world
    const index = indexOf(id)
    this.#reserve(index + 1)
    if (this.#ids[index] !== id) {
      this.#ids[index] = id
      this.#ticks[index] = this.#world.objects.birthTickAt(index)
    }
    let until = tick
    for (let back = 0; until > this.#ticks[index]; back++) {
      const owner = this.#book.ownerBack(id, back)
      if (owner === NONE) return
      const since = this.#book.tickBack(id, back)
      const writer = this.#writers.get(owner)
      // An object that the server simulates, for itself or for a player in this process, is always current.
      if (writer === undefined) {
        if (since <= tick) this.#ticks[index] = Math.max(this.#ticks[index], Math.min(until, tick - 1))
      } else if (this.#take(writer, handle, type, since, until)) return
      until = Math.min(until, since - 1)
    }
  }

  /** Applies the newest row that a writer has sent between two ticks, searching from the last one down. */
  #take(writer: WrittenRows, handle: Handle, type: number, since: Tick, to: Tick): boolean {
    const { id } = handle
    const index = indexOf(id)
    const from = Math.max(since, this.#ticks[index] + 1)
    // An object at rest sends no rows: no search is needed.
    if (writer.timeline.changedAt(id) < from) return false
    for (let tick = to; tick >= from && tick > to - writer.timeline.windowTicks; tick--) {
      const at = writer.find(type, id, tick, since)
      if (at < 0) continue
      this.#ticks[index] = tick
      this.#load(handle, type, writer.timeline.pools[type].rows, at)
      this.acceptedCount++
      this.onAccepted?.(id, tick, writer.peer)
      return true
    }
    return false
  }

  #load(handle: Handle, type: number, rows: Int32Array, at: number): void {
    const { $store: store, $cells: cells } = handle
    dequantizeRow(store.schema, rows, at, this.#cells, 0)
    const leaves = this.#leaves[type]
    for (let each = 0; each < leaves.length; each++) {
      const { cell, cellCount } = leaves[each]
      for (let next = cell; next < cell + cellCount; next++) cells[next] = this.#cells[next]
    }
  }

  #reserve(need: number): void {
    let capacity = this.#ids.length
    if (need <= capacity) return
    while (capacity < need) capacity *= 2
    const [ids, ticks] = [this.#ids, this.#ticks]
    this.#ids = new Uint32Array(capacity)
    this.#ids.set(ids)
    this.#ticks = new Float64Array(capacity)
    this.#ticks.set(ticks)
  }
}
