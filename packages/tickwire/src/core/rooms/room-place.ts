/**
 * Which of several processes a room is in, as clients can say it before they connect.
 *
 * The rooms of a server may be spread over several processes ("workers") behind one address. What a client asks for is
 * encrypted, so the process that accepts its socket cannot read it. Therefore the client adds a query to the address:
 *
 * ```
 * ?at=K                              the process of a room: the first letter of its id or code, or of a ticket
 * ?visit=9f2c41d07a3be865&type=duel&map=dust   a quick seat: a room of this type with this metadata; any type without
 * ?visit=9f2c41d07a3be865&new=1&type=duel      a new room
 * &watch=1                           a spectator
 * ```
 *
 * `visit` is random: all transports of one client lead to the process that was chosen for the first. A single letter
 * says nothing about a private room. A server without workers ignores the query.
 */

import type { JoinRequest, Metadata } from './join-body.ts'

/** Letters and digits that are not easily confused: those of ids and codes. */
export const PLACE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** Processes behind one address: each has a letter. */
export const WORKERS_MAX: number = PLACE_LETTERS.length
const LETTER_MASK = WORKERS_MAX - 1

/** One of several processes that share an address. */
export interface RoomPlace {
  /** From 0. */
  readonly index: number
  /** How many processes there are, at most 32. */
  readonly count: number
}

/** What a client says about the seat that it will ask for. */
export interface PlaceRequest {
  /** The letter of a process. Undefined: the server chooses. */
  readonly at: string | undefined
  /** Random, the same for all transports of one client. */
  readonly visit: string
  readonly type: string | undefined
  readonly metadata: Metadata
  readonly isNew: boolean
  readonly isSpectator: boolean
}

/** Whether a room with this id or code belongs to this process. */
export function isPlacedHere(name: string, { index, count }: RoomPlace): boolean {
  return placeIndex(name, count) === index
}

/** The process of a room, by its id, its code, or the letter of a request. Undefined for any other letter. */
export function placeIndex(name: string, count: number): number | undefined {
  const letter = PLACE_LETTERS.indexOf(name.slice(0, 1).toUpperCase())
  return letter < 0 || name === '' ? undefined : letter % count
}

/** The number of the next room of a process. The letter of a ticket is in the low bits. */
export function nextNumber(last: number, place: RoomPlace | undefined): number {
  return place === undefined ? last + 1 : ((last >>> 5) + 1) * (LETTER_MASK + 1) + place.index
}

/** The query that a client adds to the address of its server, without the question mark. */
export function encodePlaceRequest(join: JoinRequest | undefined, visit: string): string {
  const asked = join ?? {}
  const at = 'room' in asked ? asked.room.slice(0, 1)
    : 'code' in asked ? asked.code.slice(0, 1)
      : 'resume' in asked ? PLACE_LETTERS[(asked.resume[0] ?? 0) & LETTER_MASK] : undefined
  if (at !== undefined) return pairs({ at })
  const isNew = 'create' in asked
  const type = 'create' in asked ? asked.create : 'quick' in asked ? asked.quick : undefined
  const filter = 'filter' in asked && !isNew ? asked.filter : {}
  return pairs({
    visit,
    ...(isNew && { new: '1' }),
    ...(asked.role === 'spectator' && { watch: '1' }),
    ...(type !== undefined && { type }),
    ...filter,
  })
}

/** Reads a query. It comes from the network: anything is valid, and unknown pairs are metadata. */
export function decodePlaceRequest(query: { readonly [key: string]: string }): PlaceRequest {
  const { at, visit = '', type, new: isNew, watch, ...metadata } = query
  return { at, visit, type, metadata, isNew: isNew === '1', isSpectator: watch === '1' }
}

function pairs(query: { readonly [key: string]: string }): string {
  return Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
}
