/**
 * Who is alive: ids, generations, types, owners and the place of each object in the store of its type.
 *
 *   id = index x 65,536 + generation        never 0, ascending id = ascending index
 *
 * Parallel typed arrays, so that a save slot copies memory. A freed index comes back with another generation: an id
 * that a peer still holds from before names nothing, instead of a stranger. Spawn and despawn are O(1); the last index
 * freed is the first reused, which keeps the table dense.
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId } from '../base/time.ts'

const GENERATIONS = 65_536
const CAPACITY_FIRST = 64
/** In `types`: nobody lives here. */
export const NO_TYPE = 255

export class ObjectTable {
  /** Every index ever used is below this. */
  highWater = 0
  types: Uint8Array = new Uint8Array(CAPACITY_FIRST).fill(NO_TYPE)
  generations: Uint16Array = new Uint16Array(CAPACITY_FIRST)
  slots: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  owners: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** A stack of freed indexes; its height is `freeCount`. */
  free: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  freeCount = 0

  /** No index is left for another object. */
  get isFull(): boolean {
    return this.freeCount === 0 && this.highWater === OBJECTS_MAX
  }

  /** Takes an index for a new object and returns its id. */
  take(type: number, slot: number, owner: PeerId): ObjectId {
    assert(!this.isFull, 'whoever takes an index has asked whether there is one')
    const index = this.freeCount > 0 ? this.free[--this.freeCount] : this.highWater++
    if (index >= this.types.length) this.#grow(index + 1)
    this.generations[index] = this.generations[index] % (GENERATIONS - 1) + 1
    this.#settle(index, type, slot, owner)
    return index * GENERATIONS + this.generations[index]
  }

  /** Seats an object under an id that the authority gave it. Its index must be free. */
  seat(id: ObjectId, type: number, slot: number, owner: PeerId): void {
    const index = indexOf(id)
    assert(index < OBJECTS_MAX && id % GENERATIONS !== 0, 'an id lies in the table')
    if (index >= this.types.length) this.#grow(index + 1)
    assert(this.types[index] === NO_TYPE, 'one object an index')
    if (index >= this.highWater) this.highWater = index + 1
    this.generations[index] = id % GENERATIONS
    this.#settle(index, type, slot, owner)
  }

  /** Frees an index for reuse. Only for ids that `take` gave: a seated one is freed by `unseat`. */
  release(id: ObjectId): void {
    this.unseat(id)
    this.free[this.freeCount++] = indexOf(id)
  }

  /** Empties an index without offering it to `take`. */
  unseat(id: ObjectId): void {
    this.types[indexOf(id)] = NO_TYPE
  }

  /** Whether an id names an object now. */
  isAlive(id: ObjectId): boolean {
    const index = indexOf(id)
    return index < this.highWater && this.types[index] !== NO_TYPE && this.generations[index] === id % GENERATIONS
  }

  /** The id of whoever lives at an index. */
  idAt(index: number): ObjectId {
    return index * GENERATIONS + this.generations[index]
  }

  /** Empties every index from this one on, and forgets their generations: they were never used. */
  clearFrom(index: number): void {
    this.types.fill(NO_TYPE, index, this.highWater)
    this.generations.fill(0, index, this.highWater)
  }

  #settle(index: number, type: number, slot: number, owner: PeerId): void {
    this.types[index] = type
    this.slots[index] = slot
    this.owners[index] = owner
  }

  #grow(need: number): void {
    let capacity = this.types.length
    while (capacity < need) capacity *= 2
    const oldTypes = this.types
    this.types = new Uint8Array(capacity).fill(NO_TYPE)
    this.types.set(oldTypes)
    this.generations = widen(this.generations, new Uint16Array(capacity))
    this.slots = widen(this.slots, new Uint32Array(capacity))
    this.owners = widen(this.owners, new Uint32Array(capacity))
    this.free = widen(this.free, new Uint32Array(capacity))
  }
}

/** The row of an id in the table. */
export function indexOf(id: ObjectId): number {
  return Math.floor(id / GENERATIONS)
}

function widen<T extends Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
