/**
 * Reads bit fields, most significant bit first, from bytes that it does not own: the counterpart of `bit-writer.ts`,
 * which describes the format.
 *
 * Invariant: no bit outside the range given to `reset` or `resetBits` ever influences a result.
 *
 * Past the end, or once a decoder has called `fail`, `failed` stays set and every read returns 0: decoders read a whole
 * frame and check once. Loops over decoded counts must be bounded by a limit, not by `failed` alone.
 *
 * It never throws, whatever the bytes are, it does not know what a field means, and it allocates nothing: bytes that
 * arrive each in a separate buffer (as datagrams do) cost no view.
 */

import { assert } from '../base/assert.ts'
import { BIT_BUFFER_BYTES_MAX } from '../base/limits.ts'

/** As in `bit-writer.ts`: no field starts as `undefined`. */
const NO_BYTES: Uint8Array = new Uint8Array(0)

/** A cursor that reads bits from bytes. Reusable by `reset`. */
export class BitReader {
  /** The bytes read from. */
  bytes: Uint8Array = NO_BYTES
  /** A read went past the end, or a decoder found invalid data. Sticky until `reset`. */
  failed: boolean = false
  /** The bit position after the last readable bit. */
  #limit = 0
  /** The next bit to read, counted from the start of `bytes`. At `#limit` once failed, so that every read fails. */
  #cursor = 0
  /** Reads that end at or before this bit may load five bytes at once: `#limit`, or less near the end of `bytes`. */
  #brink = 0

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Marks the input as invalid: every read from here on returns 0. */
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
    // A field of one bit or more starts before it ends, so its first byte is at most byte (end - 1) >>> 3.
    this.#brink = Math.min(this.#limit, (bytes.length - 4) << 3)
  }

  /** The position of the next bit, from the start of `bytes`: a different reader's `resetBits` may start there. */
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
    if (next > this.#brink || width === 0) return this.#readAtEnd(width)
    this.#cursor = next
    const bytes = this.bytes
    const at = cursor >>> 3
    const head = cursor & 7
    const word = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
    return ((word << head) | (bytes[at + 4] >>> (8 - head))) >>> (32 - width)
  }

  /** The next `width` bits (0..32) without consuming them; zeros past the end, and no failure. @hot */
  peekBits(width: number): number {
    const cursor = this.#cursor
    if (cursor + width > this.#brink || width === 0) return this.#peekAtEnd(width)
    const bytes = this.bytes
    const at = cursor >>> 3
    const head = cursor & 7
    const word = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
    return ((word << head) | (bytes[at + 4] >>> (8 - head))) >>> (32 - width)
  }

  /**
   * Reads `length` bytes to `out` from `at`, at any alignment. Reads nothing when there are fewer. One check for all
   * bytes. @hot
   */
  readBytes(out: Uint8Array, at: number, length: number): void {
    const cursor = this.#cursor
    if (length * 8 > this.#limit - cursor) {
      this.fail()
      return
    }
    this.#cursor = cursor + length * 8
    const bytes = this.bytes
    const head = cursor & 7
    let from = cursor >>> 3
    let to = at
    let left = length
    for (; left >= 4; left -= 4, from += 4, to += 4) {
      const word = (bytes[from] << 24) | (bytes[from + 1] << 16) | (bytes[from + 2] << 8) | bytes[from + 3]
      // The fifth byte exists whenever the first is not used completely.
      const whole = head === 0 ? word : (word << head) | (bytes[from + 4] >>> (8 - head))
      out[to] = whole >>> 24
      out[to + 1] = whole >>> 16
      out[to + 2] = whole >>> 8
      out[to + 3] = whole
    }
    for (; left > 0; left--, from++, to++) {
      out[to] = head === 0 ? bytes[from] : (bytes[from] << head) | (bytes[from + 1] >>> (8 - head))
    }
  }

  /** Skips `count` bits. @hot */
  skipBits(count: number): void {
    if (count > this.#limit - this.#cursor) this.fail()
    else this.#cursor += count
  }

  /**
   * True when reading succeeded and nothing is left but the writer's padding: fewer than 8 bits, all zero. Anything
   * else fails, because a second encoding of the same content would undermine every hash and signature over the bytes.
   */
  finish(): boolean {
    const left = this.#limit - this.#cursor
    if (left >= 8 || this.readBits(left) !== 0) this.fail()
    return !this.failed
  }

  #peekAtEnd(width: number): number {
    const cursor = this.#cursor
    const left = this.#limit - cursor
    if (left <= 0) return 0
    const value = this.#readAtEnd(width < left ? width : left)
    this.#cursor = cursor
    return width <= left ? value : (value << (width - left)) >>> 0
  }

  /** `readBits`, byte by byte: near the end of `bytes`, past the end of the range, and for a width of 0. */
  #readAtEnd(width: number): number {
    const cursor = this.#cursor
    const next = cursor + width
    if (next > this.#limit) {
      this.fail()
      return 0
    }
    this.#cursor = next
    let value = 0
    for (let at = cursor; at < next; ) {
      const head = at & 7
      const count = next - at < 8 - head ? next - at : 8 - head
      value = (value << count) | ((this.bytes[at >>> 3] >>> (8 - head - count)) & (0xff >>> (8 - count)))
      at += count
    }
    return value >>> 0
  }
}
