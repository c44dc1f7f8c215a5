/**
 * Reads bit fields, most significant bit first, from bytes that it does not own: the twin of `bit-writer.ts`, where
 * the bits are drawn.
 *
 * Invariant: no bit outside the range given to `reset` or `resetBits` ever influences a result.
 *
 * Past the end, or once a decoder has called `fail`, `failed` stays set and every read returns 0: decoders read a
 * whole frame and look once. Loops over decoded counts must be bounded by a limit, not by `failed` alone.
 *
 * It never throws on what the bytes say, and it does not know what a field means.
 */

import { assert } from '../base/assert.ts'
import { BIT_BUFFER_BYTES_MAX } from '../base/limits.ts'

/** A cursor that reads bits from bytes. One shape, reusable by `reset`. */
export class BitReader {
  /** The bytes read from. */
  bytes: Uint8Array
  /** A read went past the end, or what was read made no sense. Sticky until `reset`. */
  failed: boolean
  /** The bit position after the last readable bit. */
  #limit: number
  /** The next bit to read, counted from the start of `bytes`. At `#limit` once failed, so that every read fails. */
  #cursor: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.failed = false
    this.#limit = 0
    this.#cursor = 0
    this.reset(bytes)
  }

  /** Marks what was read as senseless: everything from here on is 0. */
  fail(): void {
    this.failed = true
    this.#cursor = this.#limit
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    this.resetBits(bytes, byteOffset * 8, byteLength * 8)
  }

  /** Starts over on exactly `bitCount` bits of `bytes` from bit `bitOffset`. */
  resetBits(bytes: Uint8Array, bitOffset: number, bitCount: number): void {
    assert(bitOffset >= 0 && bitCount >= 0 && bitOffset + bitCount <= bytes.length * 8, 'the window lies in its bytes')
    assert(bytes.length <= BIT_BUFFER_BYTES_MAX, 'bit positions are small integers')
    this.bytes = bytes
    this.failed = false
    this.#limit = bitOffset + bitCount
    this.#cursor = bitOffset
  }

  /** Where the next bit stands, counted from the start of `bytes`: another reader's `resetBits` may start there. */
  get bitPosition(): number {
    return this.#cursor
  }

  /** Bits not yet read; 0 once failed. */
  get bitsLeft(): number {
    return this.#limit - this.#cursor
  }

  /** Reads `width` bits (0..32) as one unsigned integer, highest bit first. @hot */
  readBits(width: number): number {
    const cursor = this.#cursor
    const next = cursor + width
    if (next > this.#limit || width === 0) {
      if (width !== 0) this.fail()
      return 0
    }
    this.#cursor = next
    const bytes = this.bytes
    const first = cursor >>> 3
    const last = (next - 1) >>> 3
    let value = bytes[first] & (0xff >>> (cursor & 7))
    const tail = -next & 7
    for (let at = first + 1; at < last; at++) value = (value << 8) | bytes[at]
    if (last === first) return value >>> tail
    return ((value << (8 - tail)) | (bytes[last] >>> tail)) >>> 0
  }

  /** Steps over `count` bits. */
  skipBits(count: number): void {
    if (count > this.#limit - this.#cursor) this.fail()
    else this.#cursor += count
  }

  /**
   * True when reading went well and nothing is left but the writer's padding: fewer than 8 bits, all zero. Anything
   * else fails, for a second spelling of the same bytes would be a hole in every hash and signature over them.
   */
  finish(): boolean {
    const left = this.#limit - this.#cursor
    if (left >= 8 || this.readBits(left) !== 0) this.fail()
    return !this.failed
  }
}
