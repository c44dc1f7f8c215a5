/**
 * The ticket that a player resumes its seat with. The server makes it, with a key that never leaves the server.
 *
 * ```
 * │ room 4 │ peer 4 │ serial 4 │ HMAC-SHA-256 of the label and the rest, first 16 │      numbers low byte first
 * ```
 *
 * The ticket travels only inside the sealed Accepted and the sealed Response, so it is not visible on the network. Each
 * ticket has a random serial. When a client takes its seat, only the serial of its new ticket stays valid, so a used
 * ticket is invalid.
 *
 * This module does not know which seats exist. A ticket has no expiry date: it is valid while its seat is held.
 */

import type { Entropy } from '../base/entropy.ts'
import type { PeerId } from '../base/time.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { concat, label } from '../crypto/label.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'

const NUMBERS_BYTES = 12
const MAC_BYTES = 16
const KEY_BYTES = 32
const LABEL = label('tickwire/v1/resume')

/** Bytes of every ticket. */
export const TICKET_BYTES: number = NUMBERS_BYTES + MAC_BYTES

/** The seat that a ticket is for. */
export interface Ticket {
  readonly room: number
  readonly peer: PeerId
  readonly serial: number
}

/** Makes tickets and verifies its own. */
export class TicketMint {
  readonly #provider: CryptoProvider
  readonly #entropy: Entropy
  readonly #key: Uint8Array
  /** Keys of rooms that came from other processes. Keyed by room number. */
  readonly #adopted = new Map<number, Uint8Array>()
  readonly #draw = new Uint8Array(4)

  /** Without a key, a random one is drawn, and tickets of another process are invalid here. */
  constructor(provider: CryptoProvider, entropy: Entropy, key?: Uint8Array) {
    this.#provider = provider
    this.#entropy = entropy
    this.#key = Uint8Array.from(key ?? new Uint8Array(KEY_BYTES))
    if (key === undefined) entropy.fill(this.#key)
  }

  /** For the process that takes over. Keep it secret. */
  get key(): Uint8Array {
    return this.#key.slice()
  }

  /** The key of the tickets of a room: that of this process, or of the process that the room came from. */
  keyOf(room: number): Uint8Array {
    return (this.#adopted.get(room) ?? this.#key).slice()
  }

  /** Tickets of this room have the key of the process that the room came from. */
  adopt(room: number, key: Uint8Array): void {
    this.#adopted.set(room, key.slice())
  }

  /** The room has ended. */
  forget(room: number): void {
    this.#adopted.delete(room)
  }

  /** A random serial that cannot be guessed. */
  drawSerial(): number {
    this.#entropy.fill(this.#draw)
    return readUint32(this.#draw, 0)
  }

  make({ room, peer, serial }: Ticket): Uint8Array {
    const numbers = new Uint8Array(NUMBERS_BYTES)
    writeUint32(numbers, 0, room)
    writeUint32(numbers, 4, peer)
    writeUint32(numbers, 8, serial)
    return concat(numbers, this.#mac(room, numbers))
  }

  /** Verifies and decodes a ticket. Undefined when the MAC does not match. */
  read(bytes: Uint8Array): Ticket | undefined {
    if (bytes.length !== TICKET_BYTES) return undefined
    const numbers = bytes.subarray(0, NUMBERS_BYTES)
    const room = readUint32(numbers, 0)
    if (!isEqualConstantTime(this.#mac(room, numbers), bytes.subarray(NUMBERS_BYTES))) return undefined
    return { room, peer: readUint32(numbers, 4), serial: readUint32(numbers, 8) }
  }

  #mac(room: number, numbers: Uint8Array): Uint8Array {
    return this.#provider.hmacSha256(this.#adopted.get(room) ?? this.#key, concat(LABEL, numbers)).slice(0, MAC_BYTES)
  }
}
