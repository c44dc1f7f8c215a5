/**
 * Which rooms there are: by number, by id and by code; and which of them has a seat for somebody.
 *
 * Ids and codes are drawn from letters and digits that cannot be mistaken for one another.
 */

import type { Entropy } from '../../base/entropy.ts'
import type { Metadata } from './join-body.ts'
import type { Room, RoomListing } from './room.ts'

/** What to look for. */
export interface RoomFilter {
  readonly type?: string
  readonly metadata?: Metadata
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const ID_LETTERS = 10
/** One origin may try ten a second: in an hour it finds one of a hundred rooms with a chance of three in a million. Six letters were one in 300. */
const CODE_LETTERS = 8

export class RoomDirectory {
  readonly #entropy: Entropy
  readonly #byNumber = new Map<number, Room>()
  readonly #byId = new Map<string, Room>()
  readonly #byCode = new Map<string, Room>()
  #lastNumber = 0

  constructor(entropy: Entropy) {
    this.#entropy = entropy
  }

  get count(): number {
    return this.#byNumber.size
  }

  /** All of them, oldest first. */
  get rooms(): IterableIterator<Room> {
    return this.#byNumber.values()
  }

  /** Names for a room to be. */
  drawIdentity(isPrivate: boolean): { readonly number: number; readonly id: string; readonly code: string } {
    return { number: ++this.#lastNumber, id: this.#draw(ID_LETTERS, this.#byId), code: isPrivate ? this.#draw(CODE_LETTERS, this.#byCode) : '' }
  }

  add(room: Room): void {
    this.#lastNumber = Math.max(this.#lastNumber, room.number)
    this.#byNumber.set(room.number, room)
    this.#byId.set(room.id, room)
    if (room.isPrivate) this.#byCode.set(room.code, room)
  }

  remove(room: Room): void {
    this.#byNumber.delete(room.number)
    this.#byId.delete(room.id)
    this.#byCode.delete(room.code)
  }

  byNumber(number: number): Room | undefined {
    return this.#byNumber.get(number)
  }

  byId(id: string): Room | undefined {
    return this.#byId.get(id)
  }

  byCode(code: string): Room | undefined {
    return this.#byCode.get(code.toUpperCase())
  }

  /** The fullest room that has a seat, so that those who look for company find it. */
  findSeat(type: string, filter: Metadata, isSpectator: boolean): Room | undefined {
    let best: Room | undefined
    for (const room of this.#byNumber.values()) {
      if (room.typeName !== type || room.isPrivate || room.isLocked || room.ending !== undefined) continue
      if (!room.seats.hasRoom(isSpectator) || !isMatch(room.metadata, filter)) continue
      if (best === undefined || room.seats.players > best.seats.players) best = room
    }
    return best
  }

  /** What may be told to anybody: private rooms are not. */
  list({ type, metadata = {} }: RoomFilter = {}): RoomListing[] {
    return [...this.#byNumber.values()]
      .filter((room) => !room.isPrivate && room.ending === undefined && (type === undefined || room.typeName === type) && isMatch(room.metadata, metadata))
      .map((room) => room.listing)
  }

  #draw(letters: number, taken: ReadonlyMap<string, Room>): string {
    const bytes = new Uint8Array(letters)
    for (;;) {
      this.#entropy.fill(bytes)
      const text = Array.from(bytes, (byte) => LETTERS[byte & 31]).join('')
      if (!taken.has(text)) return text
    }
  }
}

function isMatch(metadata: Metadata, filter: Metadata): boolean {
  return Object.keys(filter).every((key) => Object.hasOwn(metadata, key) && metadata[key] === filter[key])
}
