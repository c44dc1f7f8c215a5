/**
 * The data that the authority sends to a client on admission.
 *
 * ```
 * │ peer 4 │ seed 4 │                                         a single match
 * │ peer 4 │ seed 4 │ isBack 1 │ ticket 28 │ size 1 │ room │   a room: resumed or not, the ticket, the name in UTF-8
 * ```
 *
 * Numbers are little-endian.
 */

import type { PeerId } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'
import { TICKET_BYTES } from './resume-ticket.ts'

const WELCOME_BYTES = 8
const BACK_AT = 8
const TICKET_AT = 9
const SIZE_AT: number = TICKET_AT + TICKET_BYTES
const ROOM_AT: number = SIZE_AT + 1

/** The seat of a client in a room. */
export interface SeatWelcome {
  /** The name of the room. */
  readonly room: string
  /** Can be used once to resume this seat. Keep it secret. */
  readonly ticket: Uint8Array
  /** The client has resumed its previous seat. */
  readonly isBack: boolean
}

export interface Welcome {
  /** 0 when the bytes were invalid. */
  readonly peer: PeerId
  readonly seed: number
  /** Undefined in a match that is not a room. */
  readonly seat?: SeatWelcome
}

export function encodeWelcome({ peer, seed, seat }: Welcome): Uint8Array {
  const size = seat === undefined ? 0 : utf8Size(seat.room)
  const bytes = new Uint8Array(seat === undefined ? WELCOME_BYTES : ROOM_AT + size)
  writeUint32(bytes, 0, peer)
  writeUint32(bytes, 4, seed)
  if (seat === undefined) return bytes
  bytes[BACK_AT] = seat.isBack ? 1 : 0
  bytes.set(seat.ticket, TICKET_AT)
  bytes[SIZE_AT] = size
  const writer = new BitWriter(bytes)
  writer.reset(bytes, ROOM_AT, size)
  writeUtf8(writer, seat.room)
  writer.finish()
  return bytes
}

export function decodeWelcome(bytes: Uint8Array): Welcome {
  const nonsense = { peer: 0, seed: 0 }
  if (bytes.length < WELCOME_BYTES) return nonsense
  const welcome = { peer: readUint32(bytes, 0), seed: readUint32(bytes, 4) }
  if (bytes.length === WELCOME_BYTES) return welcome
  if (bytes.length < ROOM_AT || bytes[BACK_AT] > 1 || bytes.length !== ROOM_AT + bytes[SIZE_AT]) return nonsense
  const reader = new BitReader(bytes)
  reader.reset(bytes, ROOM_AT, bytes[SIZE_AT])
  const room = readUtf8(reader, bytes[SIZE_AT])
  return reader.failed
    ? nonsense
    : { ...welcome, seat: { room, ticket: bytes.slice(TICKET_AT, SIZE_AT), isBack: bytes[BACK_AT] === 1 } }
}
