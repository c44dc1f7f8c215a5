/**
 * Who is alive: ids, generations, types, owners and the place of each object in the store of its type.
 *
 *   id = index x 65,536 + generation        never 0, ascending id = ascending index
 *
 *   words, four an index     id | owner | type 8, slot 24 | draws        while somebody lives there
 *                            id | -     | 255,    link    | -            after he died: the next free index, or none
 *
 *   births, two an index     tick | ordinal        the n-th of his entity and first owner that was born in that tick
 *
 * One Uint32Array, so that a save slot copies it in one stroke. A freed index comes back with another generation: an id
 * that a peer still holds from before names nothing, instead of a stranger. Freed indexes wait in a queue and the
 * longest free is reused first, because a generation has 16 bits and ought to come round as late as it can.
 *
 * By his birth an object is known before he has the authority's id: a client that predicts a spawn and the authority
 * that makes it agree on tick and ordinal. Births are no part of state hashes: they follow from which spawns there were,
 * `step` cannot see them, and whoever was told of an object without being its owner does not know them.
 *
 * Invariant: what lies at or above `highWater` means nothing. Spawn and despawn are O(1).
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
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
/** Words of one count of births: owner, type, how many. */
const COUNT_WORDS = 3
const COUNTS_FIRST = 16
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
  /** By index: tick and ordinal of the birth of who lives there. */
  births: Uint32Array = new Uint32Array(CAPACITY_FIRST << 1)
  /** How many were born for the coming end of a tick, by owner and type; three words each. */
  bornCounts: Uint32Array = new Uint32Array(COUNTS_FIRST * COUNT_WORDS)
  bornCountsLength = 0
  /**
   * When not 0: ids come from the authority, and who is born here has one for the time being, with an index from here
   * on. Indexes that fall free are not queued: they are the authority's to give.
   */
  provisionalFrom = 0
  /** By index: the handle of who lives there, or of who lived there last. */
  readonly handles: (Handle | undefined)[] = []
  /** By index: handles of who lived there before, the latest first. */
  readonly #former = new Map<number, Handle[]>()

  /** No index is left for another object. */
  get isFull(): boolean {
    if (this.provisionalFrom > 0) return this.#nextProvisional() >= OBJECTS_MAX
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

  /** The tick that who lives at an index was born in; 0 when that was not told. */
  birthTickAt(index: number): Tick {
    return this.births[index << 1]
  }

  /** The how manieth of his entity and owner he was in that tick, from 0. */
  birthOrdinalAt(index: number): number {
    return this.births[(index << 1) + 1]
  }

  setBirth(index: number, tick: Tick, ordinal: number): void {
    this.births[index << 1] = tick
    this.births[(index << 1) + 1] = ordinal
  }

  /** Whether an id names an object now. @hot */
  isAlive(id: ObjectId): boolean {
    const index = indexOf(id)
    return index < this.highWater && this.words[index << 2] === id && this.words[(index << 2) + WORD.place] >>> 24 !== NO_TYPE
  }

  setOwner(index: number, owner: PeerId): void {
    this.words[(index << 2) + WORD.owner] = owner
  }

  /** Takes an index for a new object, born in a tick, and returns its id. */
  take(type: number, slot: number, owner: PeerId, tick: Tick = 0): ObjectId {
    assert(!this.isFull, 'whoever takes an index has asked whether there is one')
    let index = this.provisionalFrom > 0 ? this.#nextProvisional() : this.freeFirst
    if (this.provisionalFrom > 0) {
      this.#raise(index + 1)
    } else if (index === NONE) {
      index = this.highWater
      this.#raise(index + 1)
    } else {
      this.#unlink(NONE, index)
    }
    const before = this.words[index << 2] & 0xffff
    // For the time being generations count in the upper half, where the authority's come only after 32,767 reuses of an index.
    const generation = this.provisionalFrom > 0 ? ((before + 1) & 0x7fff) | 0x8000 : before % (GENERATIONS - 1) + 1
    const id = index * GENERATIONS + generation
    this.#settle(index, id, type, slot, owner)
    this.setBirth(index, tick, this.#nextOrdinal(owner, type))
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
    this.setBirth(index, 0, 0)
  }

  /** Gives who lives at an index another id, where nobody lives; his birth goes along. */
  rename(index: number, id: ObjectId): void {
    const { slot, type, owner } = { slot: this.slotAt(index), type: this.typeAt(index), owner: this.ownerAt(index) }
    const [tick, ordinal] = [this.birthTickAt(index), this.birthOrdinalAt(index)]
    this.unseat(this.idAt(index))
    this.seat(id, type, slot, owner)
    this.setBirth(indexOf(id), tick, ordinal)
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
    if (this.provisionalFrom > 0) return
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
    if (capacity === this.words.length >>> 2) return
    this.words = widen(this.words, capacity << 2)
    this.births = widen(this.births, capacity << 1)
  }

  /** The tick is over: ordinals begin at 0 again. */
  forgetBorn(): void {
    this.bornCountsLength = 0
  }

  /** The first index for the time being where nobody lives or died in this tick. Few are born so at once. */
  #nextProvisional(): number {
    let index = this.provisionalFrom
    while (index < this.highWater && (this.typeAt(index) !== NO_TYPE || this.#isBuried(index))) index++
    return index
  }

  #isBuried(index: number): boolean {
    for (let at = 0; at < 2 * this.buriedCount; at += 2) if (this.buried[at] >>> 8 === index) return true
    return false
  }

  /** Counts a birth. Owners times types that spawn within one tick are few, so a walk finds theirs. */
  #nextOrdinal(owner: PeerId, type: number): number {
    const { bornCountsLength } = this
    let at = 0
    while (at < bornCountsLength && (this.bornCounts[at] !== owner || this.bornCounts[at + 1] !== type)) at += COUNT_WORDS
    if (at === bornCountsLength) {
      this.bornCountsLength += COUNT_WORDS
      if (at === this.bornCounts.length) this.bornCounts = widen(this.bornCounts, 2 * at)
      this.bornCounts[at] = owner
      this.bornCounts[at + 1] = type
      this.bornCounts[at + 2] = 0
    }
    return this.bornCounts[at + 2]++
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
