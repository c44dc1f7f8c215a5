/**
 * What packet relays receive and send in a world of paths: answers that are not longer than questions (I14), and data
 * that goes only from a member of a match to another (I46).
 */

import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { isRelayControl, readRelay, RELAY_KIND, RelayMessage } from '../../packages/tickwire/src/core/nat/relay-wire.ts'
import { hold } from './invariants.ts'

const CHANNEL_HEAD_BYTES = 4
/** Where the attacker is. */
const ATTACKER = '192.0.2.'
/** Kinds of messages that tell an allocation its address. */
const GRANTS: readonly number[] = [RELAY_KIND.allocateOk, RELAY_KIND.bindOk, RELAY_KIND.refreshOk]

export class RelayWitness {
  /** Keyed by relay and address: the bytes that came from there, and went there. */
  readonly #books = new Map<string, { received: number; sent: number }>()
  /** Keyed by relay and address: the channels that the relay has given to the allocation there. */
  readonly #channels = new Map<string, Set<number>>()
  /** Keyed by relay and allocation: likewise. An allocation keeps its channels when it moves. */
  readonly #bound = new Map<string, Set<number>>()
  /** Hashes of what the two peers gave to relays as data. */
  readonly #given = new Set<string>()
  readonly #message = new RelayMessage()

  /** A relay received a datagram. `relay`: its index. */
  handleReceived(relay: number, address: string, bytes: Uint8Array, length: number): void {
    this.#bookOf(`${relay} ${address}`).received += length
    if (isData(bytes, length) && !address.startsWith(ATTACKER)) this.#given.add(innerOf(bytes, length))
  }

  /** A relay sends a datagram. */
  handleSent(relay: number, address: string, bytes: Uint8Array, length: number): void {
    const place = `${relay} ${address}`
    if (isData(bytes, length)) {
      hold(this.#given.has(innerOf(bytes, length)), 'I46', () => `a relay sent data to ${address} that no peer gave it`)
      const isBound = this.#channels.get(place)?.has(bytes[0]! * 256 + bytes[1]!) === true
      hold(isBound, 'I46', () => `a relay sent data to ${address} on a channel that it has not bound`)
      return
    }
    this.#noteChannel(relay, place, bytes, length)
    const book = this.#bookOf(place)
    // An answer to STUN has at most 32 bytes for 20; all other answers are not longer than their questions.
    if ((bytes[0]! & 0xc0) === 0) book.received += 12
    book.sent += length
    hold(book.sent <= book.received + 63, 'I14', () => `${address} got ${book.sent} bytes for ${book.received}`)
  }

  #bookOf(place: string): { received: number; sent: number } {
    const book = this.#books.get(place) ?? { received: 0, sent: 0 }
    this.#books.set(place, book)
    return book
  }

  #noteChannel(relay: number, place: string, bytes: Uint8Array, length: number): void {
    const message = this.#message
    if (!readRelay(bytes, length, message) || !GRANTS.includes(message.kind)) return
    const allocation = `${relay} ${message.idHi} ${message.idLo}`
    const channels = this.#bound.get(allocation) ?? new Set()
    if (message.kind === RELAY_KIND.bindOk) channels.add(message.channel)
    this.#bound.set(allocation, channels)
    this.#channels.set(place, channels)
  }
}

function isData(bytes: Uint8Array, length: number): boolean {
  return bytes[0]! >= 0x40 && bytes[0]! < 0x80 && !isRelayControl(bytes, length)
}

/** What is inside of channel data, as a key. */
function innerOf(bytes: Uint8Array, length: number): string {
  const hash = new Uint32Array(2)
  hashBytes(bytes, CHANNEL_HEAD_BYTES, length - CHANNEL_HEAD_BYTES, 0, hash, 0)
  return hashHex(hash, 0)
}
