/**
 * Who is alive: ids, generations, types, owners and the place of each object in the store of its type.
 *
 *   id = index x 65,536 + generation        never 0, ascending id = ascending index
 *
 *   words, four an index     id | owner | type 8, slot 24 | draws        while somebody lives there
 *                            id | -     | 255,    link    | -            after he died: the next free index, or none
 *
 * One Uint32Array, so that a save slot copies it in one stroke. A freed index comes back with another generation: an id
 * that a peer still holds from before names nothing, instead of a stranger. Freed indexes wait in a queue and the
 * longest free is reused first, because a generation has 16 bits and ought to come round as late as it can.
 *
 * Invariant: what lies at or above `highWater` means nothing. Spawn and despawn are O(1).
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId } from '../base/time.ts'
import type { EntityStore } from './entity-store.ts'
import type { Handle } from './handle.ts'

/** In the place of a type: nobody lives here. */
export const NO_TYPE = 255
/** Words of one index in `words`, as a shift, and what stands in them. */
export const WORD = { shift: 2, id: 0, owner: 1, place: 2, draws: 3 } as const
/** What is below the type in the word of a place. */
export const SLOT_MASK = 0xff_ffff

const GENERATIONS = 65_536
const CAPACITY_FIRST = 64
/** Handles that an index remembers: one a tick or so that it was used again, as far back as rollback goes. */
const HANDLES_REMEMBERED = 8
/** Links of the queue of free indexes: the last of the queue, and an index that is not in it. */
const LINK_END = 0xff_fffe
const LINK_NONE = 0xff_ffff
const NOBODY = (NO_TYPE * 0x100_0000 + LINK_NONE) >>> 0
/** No index. */
const NONE = -1

export class ObjectTable {
  /** Every index ever used is below this. */
  highWater = 0
  words: Uint32Array = new Uint32Array(CAPACITY_FIRST << 2)
  /** The queue of free indexes, linked through the words of their places. */
  freeFirst: number = NONE
  freeLast: number = NONE
  /** Died in this tick: index x 256 + type, and slot. Their indexes and slots are free only when the tick ends. */
  buried: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  buriedCount = 0
  /** By index: the handle of who lives there, or of who lived there last. */
  readonly handles: (Handle | undefined)[] = []
  /** By index: handles of who lived there before, the latest first. */
  readonly #former = new Map<number, Handle[]>()

  /** No index is left for another object. */
  get isFull(): boolean {
    return this.freeFirst === NONE && this.highWater === OBJECTS_MAX
  }

  /** The type of who lives at an index; `NO_TYPE` when nobody does. */
  typeAt(index: number): number {
    return this.words[(index << 2) + WORD.place] >>> 24
  }

  /** The slot of who lives at an index, in the store of his type. */
  slotAt(index: number): number {
    return this.words[(index << 2) + WORD.place] & SLOT_MASK
  }

  ownerAt(index: number): PeerId {
    return this.words[(index << 2) + WORD.owner]
  }

  /** The id of who lives at an index, or lived there last. */
  idAt(index: number): ObjectId {
    return this.words[index << 2]
  }

  /** Whether an id names an object now. @hot */
  isAlive(id: ObjectId): boolean {
    const index = indexOf(id)
    return index < this.highWater && this.words[index << 2] === id && this.words[(index << 2) + WORD.place] >>> 24 !== NO_TYPE
  }

  setOwner(index: number, owner: PeerId): void {
    this.words[(index << 2) + WORD.owner] = owner
  }

  /** Takes an index for a new object and returns its id. */
  take(type: number, slot: number, owner: PeerId): ObjectId {
    assert(!this.isFull, 'whoever takes an index has asked whether there is one')
    let index = this.freeFirst
    if (index === NONE) {
      index = this.highWater
      this.#raise(index + 1)
    } else {
      this.#unlink(NONE, index)
    }
    const generation = (this.words[index << 2] & 0xffff) % (GENERATIONS - 1) + 1
    const id = index * GENERATIONS + generation
    this.#settle(index, id, type, slot, owner)
    return id
  }

  /** Seats an object under an id that the authority gave it. Nobody may live at its index. */
  seat(id: ObjectId, type: number, slot: number, owner: PeerId): void {
    const index = indexOf(id)
    assert(id === (id >>> 0) && id % GENERATIONS !== 0, 'an id has an index and a generation')
    this.#raise(index + 1)
    const place = this.words[(index << 2) + WORD.place]
    assert(place >>> 24 === NO_TYPE, 'one object an index')
    if ((place & SLOT_MASK) !== LINK_NONE) this.#unlink(this.#before(index), index)
    this.#settle(index, id, type, slot, owner)
  }

  /** From now on nobody lives at the index of an id; it is reused only when the tick ends. */
  bury(id: ObjectId): void {
    const index = indexOf(id)
    const at = 2 * this.buriedCount++
    if (at === this.buried.length) this.buried = widen(this.buried, 2 * at)
    this.buried[at] = index * 256 + this.typeAt(index)
    this.buried[at + 1] = this.slotAt(index)
    this.unseat(id)
  }

  /** Empties an index without offering it to `take`. */
  unseat(id: ObjectId): void {
    this.words[(indexOf(id) << 2) + WORD.place] = NOBODY
  }

  /** Offers an empty index to `take`. */
  release(index: number): void {
    this.#link(index, LINK_END)
    if (this.freeLast === NONE) this.freeFirst = index
    else this.#link(this.freeLast, index)
    this.freeLast = index
  }

  /** Remembers the handle of somebody whose index goes to another: loading may bring him back. */
  remember(index: number, handle: Handle): void {
    const former = this.#former.get(index) ?? []
    former.unshift(handle)
    if (former.length > HANDLES_REMEMBERED) former.pop()
    this.#former.set(index, former)
  }

  /** The remembered handle of an id, if there is one; it is no longer remembered. */
  recall(index: number, id: ObjectId, store: EntityStore): Handle | undefined {
    const former = this.#former.get(index)
    const at = former?.findIndex((handle) => handle.id === id && handle.$store === store) ?? -1
    return at < 0 ? undefined : former?.splice(at, 1)[0]
  }

  /** Makes room for so many indexes. */
  reserve(count: number): void {
    let capacity = this.words.length >>> 2
    while (capacity < count) capacity *= 2
    if (capacity > this.words.length >>> 2) this.words = widen(this.words, capacity << 2)
  }

  #settle(index: number, id: ObjectId, type: number, slot: number, owner: PeerId): void {
    const at = index << 2
    this.words[at] = id
    this.words[at + WORD.owner] = owner
    this.words[at + WORD.place] = type * 0x100_0000 + slot
    this.words[at + WORD.draws] = 0
  }

  /** Brings so many indexes into use; new ones are as if never used. */
  #raise(count: number): void {
    this.reserve(count)
    for (; this.highWater < count; this.highWater++) {
      this.#settle(this.highWater, 0, NO_TYPE, LINK_NONE, 0)
      if (this.handles.length === this.highWater) this.handles.push(undefined)
    }
  }

  #link(index: number, next: number): void {
    this.words[(index << 2) + WORD.place] = NO_TYPE * 0x100_0000 + next
  }

  /** Takes an index out of the queue, given the one before it there. */
  #unlink(before: number, index: number): void {
    const link = this.slotAt(index)
    const next = link === LINK_END ? NONE : link
    if (before === NONE) this.freeFirst = next
    else this.#link(before, link)
    if (next === NONE) this.freeLast = before
  }

  /** The index before this one in the queue. Only for seats among indexes of our own: a walk. */
  #before(index: number): number {
    let before = NONE
    for (let each = this.freeFirst; each !== index; each = this.slotAt(each)) before = each
    return before
  }
}

/** The row of an id in the table. */
export function indexOf(id: ObjectId): number {
  return id >>> 16
}

function widen(from: Uint32Array, length: number): Uint32Array {
  const to = new Uint32Array(length)
  to.set(from)
  return to
}
