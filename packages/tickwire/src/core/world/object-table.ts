/**
 * The object table: ids, generations, types, owners and the slot of each object in the store of its type.
 *
 *   id = index x 65,536 + generation        never 0, ascending id = ascending index
 *
 *   words, four per index    id | owner | type 8, slot 24 | draws        while an object lives there
 *                            id | -     | 255,    link    | -            after it died: the next free index, or none
 *
 *   births, two per index    tick | ordinal        the n-th object of its entity and first owner born in that tick
 *
 * It is one Uint32Array, so that a save slot copies it at once. A freed index is reused with another generation: an old
 * id that a peer still holds names no object instead of the wrong one. Freed indexes wait in a queue and the longest
 * free is reused first, because a generation has 16 bits and should repeat as late as possible.
 *
 * A birth identifies an object before it has the authority's id: a client that predicts a spawn and the authority that
 * makes it agree on tick and ordinal. Births are not part of state hashes: they follow from the spawns, `step` cannot
 * see them, and a client that does not own the object does not know them.
 *
 * Invariant: data at or above `highWater` has no meaning. Spawn and despawn are O(1).
 */

import { assert } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { widen } from '../base/widen.ts'
import type { EntityStore } from './entity-store.ts'
import type { Handle } from './handle.ts'

/** Stands in place of a type where no object lives. */
export const NO_TYPE = 255
/** Words per index in `words`, as a shift, and the offset of each. */
export const WORD = { shift: 2, id: 0, owner: 1, place: 2, draws: 3 } as const
/** The slot bits in the word with type and slot. */
export const SLOT_MASK = 0xff_ffff

const GENERATIONS = 65_536
const CAPACITY_FIRST = 64
/** Words per birth count: owner, type, count. */
const COUNT_WORDS = 3
const COUNTS_FIRST = 16
/** Handles that an index remembers: about one for each tick in which it was reused, as far back as rollback goes. */
const HANDLES_REMEMBERED = 8
/** Links of the queue of free indexes: the end of the queue, and an index that is not in the queue. */
const LINK_END = 0xff_fffe
const LINK_NONE = 0xff_ffff
const NO_PLACE = (NO_TYPE * 0x100_0000 + LINK_NONE) >>> 0
/** No index. */
const NONE = -1

export class ObjectTable {
  /** Every index ever used is below this one. */
  highWater = 0
  words: Uint32Array = new Uint32Array(CAPACITY_FIRST << 2)
  /** The queue of free indexes, linked through their type-and-slot words. */
  freeFirst: number = NONE
  freeLast: number = NONE
  /** Died in this tick: index x 256 + type, and slot. Their indexes and slots become free when the tick ends. */
  buried: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  buriedCount = 0
  /** Birth tick and ordinal of each object. Indexed by object index, two words each. */
  births: Uint32Array = new Uint32Array(CAPACITY_FIRST << 1)
  /** How many objects were born since the last tick ended, by owner and type; three words each. */
  bornCounts: Uint32Array = new Uint32Array(COUNTS_FIRST * COUNT_WORDS)
  bornCountsLength = 0
  /**
   * If not 0: ids come from the authority, and an object that is spawned here gets a provisional id with an index from
   * here on. Freed indexes are not queued, because only the authority may assign them.
   */
  provisionalFrom = 0
  /**
   * The provisional id that a birth had when its tick was stepped before; 0: none. The object gets it again, because it
   * is the same object.
   */
  idOfBirth: ((type: number, owner: PeerId, tick: Tick, ordinal: number) => ObjectId) | undefined = undefined
  /** The handle of the object that lives at an index or lived there last. Indexed by object index. */
  readonly handles: (Handle | undefined)[] = []
  /** Handles of earlier objects at an index, the latest first. Indexed by object index. */
  readonly #former = new Map<number, Handle[]>()

  /** Whether no index is left for another object. */
  get isFull(): boolean {
    if (this.provisionalFrom > 0) return this.#nextProvisional() >= OBJECTS_MAX
    return this.freeFirst === NONE && this.highWater === OBJECTS_MAX
  }

  /** The type of the object at an index; `NO_TYPE` when there is none. */
  typeAt(index: number): number {
    return this.words[(index << 2) + WORD.place] >>> 24
  }

  /** The slot of the object at an index, in the store of its type. */
  slotAt(index: number): number {
    return this.words[(index << 2) + WORD.place] & SLOT_MASK
  }

  ownerAt(index: number): PeerId {
    return this.words[(index << 2) + WORD.owner]
  }

  /** The id of the object that lives at an index or lived there last. */
  idAt(index: number): ObjectId {
    return this.words[index << 2]
  }

  /** The birth tick of the object at an index; 0 when it was not sent. */
  birthTickAt(index: number): Tick {
    return this.births[index << 1]
  }

  /** Its position among the objects of its entity and owner that were born in that tick, from 0. */
  birthOrdinalAt(index: number): number {
    return this.births[(index << 1) + 1]
  }

  setBirth(index: number, tick: Tick, ordinal: number): void {
    this.births[index << 1] = tick
    this.births[(index << 1) + 1] = ordinal
  }

  /** Whether a living object has this id. @hot */
  isAlive(id: ObjectId): boolean {
    const index = indexOf(id)
    return (
      index < this.highWater
      && this.words[index << 2] === id
      && this.words[(index << 2) + WORD.place] >>> 24 !== NO_TYPE
    )
  }

  setOwner(index: number, owner: PeerId): void {
    this.words[(index << 2) + WORD.owner] = owner
  }

  /** Takes an index for a new object that is born in a tick. Returns its id. */
  take(type: number, slot: number, owner: PeerId, tick: Tick = 0): ObjectId {
    assert(!this.isFull, 'the caller checks for a free index first')
    const ordinal = this.#nextOrdinal(owner, type)
    const id = this.provisionalFrom > 0 ? this.#takeProvisional(type, owner, tick, ordinal) : this.#takeFree()
    const index = indexOf(id)
    this.#settle(index, id, type, slot, owner)
    this.setBirth(index, tick, ordinal)
    return id
  }

  /** The next id on the authority: at the index that has been free for longest, or at a new one. */
  #takeFree(): ObjectId {
    let index = this.freeFirst
    if (index === NONE) {
      index = this.highWater
      this.raise(index + 1)
    } else {
      this.#unlink(NONE, index)
    }
    return index * GENERATIONS + (this.words[index << 2] & 0xffff) % (GENERATIONS - 1) + 1
  }

  /**
   * The provisional id of a birth. Its generation has the upper bit set; the authority reaches those generations only
   * after 32,767 reuses of an index.
   */
  #takeProvisional(type: number, owner: PeerId, tick: Tick, ordinal: number): ObjectId {
    const known = this.idOfBirth?.(type, owner, tick, ordinal) ?? 0
    const index = this.#isFreeProvisional(indexOf(known)) ? indexOf(known) : this.#nextProvisional()
    this.raise(index + 1)
    return index === indexOf(known)
      ? known
      : index * GENERATIONS + ((((this.words[index << 2] & 0xffff) + 1) & 0x7fff) | 0x8000)
  }

  /** Seats an object under an id that the authority assigned. Its index must be empty. */
  seat(id: ObjectId, type: number, slot: number, owner: PeerId): void {
    const index = indexOf(id)
    assert(id === (id >>> 0) && id % GENERATIONS !== 0, 'an id has an index and a generation')
    this.raise(index + 1)
    const place = this.words[(index << 2) + WORD.place]
    assert(place >>> 24 === NO_TYPE, 'one object an index')
    if ((place & SLOT_MASK) !== LINK_NONE) this.#unlink(this.#before(index), index)
    this.#settle(index, id, type, slot, owner)
    this.setBirth(index, 0, 0)
  }

  /** Gives the object at an index another id, whose index must be empty. Its birth moves along. */
  rename(index: number, id: ObjectId): void {
    const { slot, type, owner } = { slot: this.slotAt(index), type: this.typeAt(index), owner: this.ownerAt(index) }
    const [tick, ordinal] = [this.birthTickAt(index), this.birthOrdinalAt(index)]
    this.unseat(this.idAt(index))
    this.seat(id, type, slot, owner)
    this.setBirth(indexOf(id), tick, ordinal)
  }

  /** Empties the index of an id. It can be reused when the tick ends. */
  bury(id: ObjectId): void {
    const index = indexOf(id)
    const at = 2 * this.buriedCount++
    if (at === this.buried.length) this.buried = widen(this.buried, new Uint32Array(2 * at))
    this.buried[at] = index * 256 + this.typeAt(index)
    this.buried[at + 1] = this.slotAt(index)
    this.unseat(id)
  }

  /** Empties an index without offering it to `take`. */
  unseat(id: ObjectId): void {
    this.words[(indexOf(id) << 2) + WORD.place] = NO_PLACE
  }

  /** Offers an empty index to `take`. */
  release(index: number): void {
    if (this.provisionalFrom > 0) return
    this.#link(index, LINK_END)
    if (this.freeLast === NONE) this.freeFirst = index
    else this.#link(this.freeLast, index)
    this.freeLast = index
  }

  /** The index after this one in the queue of free indexes; -1 after the last. @hot */
  nextFree(index: number): number {
    const link = this.slotAt(index)
    return link === LINK_END ? NONE : link
  }

  /** Sets an empty index to its state in another table: the id that was last used there. `release` queues the index. */
  retire(index: number, generation: number): void {
    this.raise(index + 1)
    this.words[index << 2] = generation === 0 ? 0 : index * GENERATIONS + generation
  }

  /** Remembers the handle of an object whose index is reused: loading may restore that object. */
  remember(index: number, handle: Handle): void {
    const former = this.#former.get(index) ?? []
    former.unshift(handle)
    if (former.length > HANDLES_REMEMBERED) former.pop()
    this.#former.set(index, former)
  }

  /** Returns and forgets the remembered handle of an id, if there is one. */
  recall(index: number, id: ObjectId, store: EntityStore): Handle | undefined {
    const former = this.#former.get(index)
    const at = former?.findIndex((handle) => handle.id === id && handle.$store === store) ?? -1
    return at < 0 ? undefined : former?.splice(at, 1)[0]
  }

  /** Makes room for `count` indexes. */
  reserve(count: number): void {
    let capacity = this.words.length >>> 2
    while (capacity < count) capacity *= 2
    if (capacity === this.words.length >>> 2) return
    this.words = widen(this.words, new Uint32Array(capacity << 2))
    this.births = widen(this.births, new Uint32Array(capacity << 1))
  }

  /** The tick is over: ordinals start at 0 again. */
  forgetBorn(): void {
    this.bornCountsLength = 0
  }

  /** Takes over the birth counts of another table: owner, type and count of each. */
  setBorn(counts: readonly number[]): void {
    if (counts.length > this.bornCounts.length) this.bornCounts = new Uint32Array(counts.length)
    this.bornCounts.set(counts)
    this.bornCountsLength = counts.length
  }

  /** The first provisional index at which no object lives or died in this tick. A scan, because few are in use. */
  #nextProvisional(): number {
    let index = this.provisionalFrom
    while (!this.#isFreeProvisional(index)) index++
    return index
  }

  #isFreeProvisional(index: number): boolean {
    return (
      index >= this.provisionalFrom
      && (index >= this.highWater || (this.typeAt(index) === NO_TYPE && !this.#isBuried(index)))
    )
  }

  #isBuried(index: number): boolean {
    for (let at = 0; at < 2 * this.buriedCount; at += 2) if (this.buried[at] >>> 8 === index) return true
    return false
  }

  /** Counts a birth. Few combinations of owner and type spawn within one tick, so a linear scan is enough. */
  #nextOrdinal(owner: PeerId, type: number): number {
    const { bornCountsLength } = this
    let at = 0
    while (at < bornCountsLength && (this.bornCounts[at] !== owner || this.bornCounts[at + 1] !== type))
      at += COUNT_WORDS
    if (at === bornCountsLength) {
      this.bornCountsLength += COUNT_WORDS
      if (at === this.bornCounts.length) this.bornCounts = widen(this.bornCounts, new Uint32Array(2 * at))
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

  /** Brings `count` indexes into use. New ones are marked as never used. */
  raise(count: number): void {
    this.reserve(count)
    for (; this.highWater < count; this.highWater++) {
      this.#settle(this.highWater, 0, NO_TYPE, LINK_NONE, 0)
      if (this.handles.length === this.highWater) this.handles.push(undefined)
    }
  }

  #link(index: number, next: number): void {
    this.words[(index << 2) + WORD.place] = NO_TYPE * 0x100_0000 + next
  }

  /** Takes an index out of the queue, given the one before it. */
  #unlink(before: number, index: number): void {
    const next = this.nextFree(index)
    if (before === NONE) this.freeFirst = next
    else this.#link(before, this.slotAt(index))
    if (next === NONE) this.freeLast = before
  }

  /** The index before this one in the queue. A linear scan, needed only when `seat` takes a queued index. */
  #before(index: number): number {
    let before = NONE
    for (let each = this.freeFirst; each !== index; each = this.slotAt(each)) before = each
    return before
  }
}

/** The index of an id in the table. */
export function indexOf(id: ObjectId): number {
  return id >>> 16
}
