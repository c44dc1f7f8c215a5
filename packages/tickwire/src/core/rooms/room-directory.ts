/**
 * All rooms, indexed by number, id and code, and the search for a room with a free seat.
 *
 * Ids and codes are random and use only letters and digits that are not easily confused.
 */

import type { Entropy } from '../base/entropy.ts'
import type { HostedRoom, RoomListing } from './hosted-room.ts'
import type { Metadata } from './join-body.ts'
import { readUint32 } from '../packet/header.ts'
import { isPlacedHere, nextNumber, PLACE_LETTERS as LETTERS, type RoomPlace } from './room-place.ts'

/** Criteria for listing rooms. */
export interface RoomFilter {
  /** Only rooms of this type. Default: all types. */
  readonly type?: string
  /** Only rooms whose metadata have these values. Default: all rooms. */
  readonly metadata?: Metadata
}

const ID_LETTERS = 10
/**
 * An origin may try ten codes per second. In one hour it finds one of a hundred rooms with a probability of three in a
 * million. With codes of six letters the probability would be one in 300.
 */
const CODE_LETTERS = 8

export class RoomDirectory<R extends HostedRoom = HostedRoom> {
  readonly #entropy: Entropy
  readonly #place: RoomPlace | undefined
  readonly #areNumbersRandom: boolean
  readonly #byNumber = new Map<number, R>()
  readonly #byId = new Map<string, R>()
  readonly #byCode = new Map<string, R>()
  #lastNumber = 0

  /**
   * With a place, the names of its rooms lead to that process. Numbers are random where rooms move between hosts: a
   * room that arrives must find its number unused.
   */
  constructor(entropy: Entropy, place?: RoomPlace, areNumbersRandom = false) {
    this.#entropy = entropy
    this.#place = place
    this.#areNumbersRandom = areNumbersRandom
  }

  get count(): number {
    return this.#byNumber.size
  }

  /** All rooms, oldest first. */
  get rooms(): IterableIterator<R> {
    return this.#byNumber.values()
  }

  /** Draws the number, id and code of a new room. */
  drawIdentity(isPrivate: boolean): { readonly number: number; readonly id: string; readonly code: string } {
    this.#lastNumber = this.#areNumbersRandom ? this.#drawNumber() : nextNumber(this.#lastNumber, this.#place)
    return {
      number: this.#lastNumber,
      id: this.#draw(ID_LETTERS, this.#byId),
      code: isPrivate ? this.#draw(CODE_LETTERS, this.#byCode) : '',
    }
  }

  add(room: R): void {
    this.#lastNumber = Math.max(this.#lastNumber, room.number)
    this.#byNumber.set(room.number, room)
    this.#byId.set(room.id, room)
    if (room.isPrivate) this.#byCode.set(room.code, room)
  }

  remove(room: R): void {
    this.#byNumber.delete(room.number)
    this.#byId.delete(room.id)
    this.#byCode.delete(room.code)
  }

  byNumber(number: number): R | undefined {
    return this.#byNumber.get(number)
  }

  byId(id: string): R | undefined {
    return this.#byId.get(id)
  }

  byCode(code: string): R | undefined {
    return this.#byCode.get(code.toUpperCase())
  }

  /** The fullest room with a free seat, so that players end up together. `isFit` may exclude rooms. */
  findSeat(
    type: string,
    filter: Metadata,
    isSpectator: boolean,
    isFit: (room: R) => boolean = () => true,
  ): R | undefined {
    let best: R | undefined
    for (const room of this.#byNumber.values()) {
      if (room.typeName !== type || room.isPrivate || room.isLocked || room.hasPassword) continue
      if (room.ending !== undefined || room.isFrozen || !room.seats.hasRoom(isSpectator)) continue
      if (!isMatch(room.metadata, filter) || !isFit(room)) continue
      if (best === undefined || room.seats.free < best.seats.free) best = room
    }
    return best
  }

  /** The public list of rooms. Private rooms are left out. */
  list({ type, metadata = {} }: RoomFilter = {}): RoomListing[] {
    return [...this.#byNumber.values()]
      .filter(
        (room) =>
          !room.isPrivate
          && room.ending === undefined
          && (type === undefined || room.typeName === type)
          && isMatch(room.metadata, metadata),
      )
      .map((room) => room.listing)
  }

  #drawNumber(): number {
    const bytes = new Uint8Array(4)
    for (;;) {
      this.#entropy.fill(bytes)
      const number = readUint32(bytes, 0)
      if (number !== 0 && !this.#byNumber.has(number)) return number
    }
  }

  #draw(letters: number, taken: ReadonlyMap<string, R>): string {
    const bytes = new Uint8Array(letters)
    for (;;) {
      this.#entropy.fill(bytes)
      const text = Array.from(bytes, (byte) => LETTERS[byte & 31]).join('')
      if (!taken.has(text) && (this.#place === undefined || isPlacedHere(text, this.#place))) return text
    }
  }
}

/** Whether the metadata contains all pairs of the filter. */
export function isMatch(metadata: Metadata, filter: Metadata): boolean {
  return Object.keys(filter).every((key) => Object.hasOwn(metadata, key) && metadata[key] === filter[key])
}
