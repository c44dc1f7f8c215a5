/**
 * The orders of one tick as bytes: tags of one ASCII byte, and what they say.
 *
 * ```
 * tick    Z                          a tick without orders: the byte 5A
 *         K 1 order+                 a tick with orders; 1 is the distance from the tick before
 * order   ( P player )? ( S time )? ( T type )? D length bytes
 *
 * P       the player, varint; 0 is the relay
 * S       the time in the tick's window, in microseconds, varint
 * T       the type of the order, one byte; from C0 on: a tick event
 * D       the values of the order: length as a varint, then the bytes. It ends the order
 * ```
 *
 * P, S and T are written only when they differ from the order before. At each K they are 0 again, so a run of ticks is
 * a plain copy of their bytes.
 *
 * Invariants: one tick has one encoding. Orders ascend by time, and at equal times by player. A tick with orders ends
 * where the next begins (K or Z) or where the sender says that it ends.
 */

import { ORDER_LARGE_BYTES_MAX } from '../base/limits.ts'
import { putVarint, VarintReader } from './leb128.ts'

/** The tags: ASCII letters. */
export const TAG = { tick: 0x4b, player: 0x50, time: 0x53, type: 0x54, data: 0x44, empty: 0x5a } as const

// Imported constants as module constants: a constant read through an import is loaded again at every use.
const { tick: K, player: P, time: S, type: T, data: D, empty: Z } = TAG
/** Times fit 32 bits: a window is at most a second. */
export const TIME_US_MAX = 0xffff_ffff
const PLAYER_MAX = 0xffff_ffff

/** The most bytes that the tags of one order need: K 1, P and 5, S and 5, T and 1, D and 2. */
export const ORDER_HEAD_BYTES_MAX = 19

/** Writes ticks, one after the other, into its own bytes. */
export class TickBodyWriter {
  /** The bytes. They grow when an order does not fit. */
  bytes: Uint8Array
  /** How many bytes were written. */
  length = 0
  #isOpen = false
  #player = 0
  #time = 0
  #type = 0

  constructor(capacity: number = 512) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Starts over with an empty tick. */
  begin(): void {
    this.length = 0
    this.#isOpen = false
  }

  /** Adds an order. The caller adds them in order of time, then player. */
  add(player: number, timeUs: number, type: number, data: Uint8Array, from: number, count: number): void {
    this.#reserve(ORDER_HEAD_BYTES_MAX + count)
    const { bytes } = this
    let at = this.length
    if (!this.#isOpen) {
      bytes[at++] = K
      bytes[at++] = 1
      this.#isOpen = true
      this.#player = 0
      this.#time = 0
      this.#type = 0
    }
    if (player !== this.#player) {
      bytes[at++] = P
      at = putVarint(bytes, at, player)
      this.#player = player
    }
    if (timeUs !== this.#time) {
      bytes[at++] = S
      at = putVarint(bytes, at, timeUs)
      this.#time = timeUs
    }
    if (type !== this.#type) {
      bytes[at++] = T
      bytes[at++] = type
      this.#type = type
    }
    bytes[at++] = D
    at = putVarint(bytes, at, count)
    for (let byte = 0; byte < count; byte++) bytes[at + byte] = data[from + byte]
    this.length = at + count
  }

  /** Ends the tick. A tick without orders becomes the byte Z. */
  end(): void {
    if (!this.#isOpen) {
      this.#reserve(1)
      this.bytes[this.length++] = Z
    }
    this.#isOpen = false
  }

  #reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const grown = new Uint8Array(2 * (this.length + count))
    grown.set(this.bytes)
    this.bytes = grown
  }
}

/** Reads the orders of ticks. The bytes may be hostile: it never throws. */
export class TickBodyReader {
  /** The order that was read last. */
  player = 0
  timeUs = 0
  type = 0
  dataAt = 0
  dataLength = 0
  readonly #varint = new VarintReader()
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #limit = 0

  /**
   * Where the tick at `from` ends; 0 when more bytes are needed, -1 when the bytes are invalid. `isLast`: a tick with
   * orders may end at `limit`. Without it, such a tick ends only where another begins. @hot
   */
  scan(bytes: Uint8Array, from: number, limit: number, isLast: boolean): number {
    if (from >= limit) return 0
    if (bytes[from] === Z) return from + 1
    if (bytes[from] !== K) return -1
    if (from + 2 > limit) return 0
    if (bytes[from + 1] !== 1) return -1
    this.#start(bytes, from + 2, limit)
    let time = 0
    let player = 0
    let count = 0
    for (;;) {
      const tag = this.#at < limit ? bytes[this.#at] : -1
      if (count > 0 && (tag === K || tag === Z || (tag < 0 && isLast))) return this.#at
      const verdict = this.#order()
      if (verdict <= 0) return verdict < 0 || isLast ? -1 : 0
      if (this.timeUs < time || (this.timeUs === time && this.player < player)) return -1
      time = this.timeUs
      player = this.player
      count++
    }
  }

  /** Goes to the first order of a tick that `scan` has accepted. */
  open(bytes: Uint8Array, from: number, end: number): void {
    if (bytes[from] === Z) this.#start(bytes, end, end)
    else this.#start(bytes, from + 2, end)
  }

  /** Reads the next order of the tick. False at its end. @hot */
  next(): boolean {
    return this.#at < this.#limit && this.#order() > 0
  }

  #start(bytes: Uint8Array, at: number, limit: number): void {
    this.#bytes = bytes
    this.#at = at
    this.#limit = limit
    this.player = 0
    this.timeUs = 0
    this.type = 0
  }

  /** Reads one order: 1 when it is whole, 0 when more bytes are needed, -1 when it is invalid. @hot */
  #order(): number {
    const bytes = this.#bytes
    const limit = this.#limit
    const varint = this.#varint
    let at = this.#at
    if (at < limit && bytes[at] === P) {
      const value = varint.read(bytes, at + 1, limit)
      if (varint.end < 0) return this.#cut(at + 1)
      if (value === this.player || value > PLAYER_MAX) return -1
      this.player = value
      at = varint.end
    }
    if (at < limit && bytes[at] === S) {
      const value = varint.read(bytes, at + 1, limit)
      if (varint.end < 0) return this.#cut(at + 1)
      if (value === this.timeUs || value > TIME_US_MAX) return -1
      this.timeUs = value
      at = varint.end
    }
    if (at < limit && bytes[at] === T) {
      if (at + 2 > limit) return 0
      if (bytes[at + 1] === this.type) return -1
      this.type = bytes[at + 1]
      at += 2
    }
    if (at >= limit) return 0
    if (bytes[at] !== D) return -1
    const count = varint.read(bytes, at + 1, limit)
    if (varint.end < 0) return this.#cut(at + 1)
    if (count > ORDER_LARGE_BYTES_MAX) return -1
    if (varint.end + count > limit) return 0
    this.dataAt = varint.end
    this.dataLength = count
    this.#at = varint.end + count
    return 1
  }

  /** A number that does not end: 0 when more bytes may end it, -1 when it is too long. */
  #cut(at: number): number {
    for (let byte = at; byte < this.#limit && byte < at + 8; byte++) if (this.#bytes[byte] < 0x80) return -1
    return at + 8 > this.#limit ? 0 : -1
  }
}
