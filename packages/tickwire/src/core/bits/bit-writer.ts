/**
 * Writes bit fields, most significant bit first, into bytes that the caller owns.
 *
 * ```
 * writeBits(0b101, 3); writeBits(0x3ff, 10); writeBits(0, 1)
 *
 * byte 0            byte 1
 * 1 0 1 1 1 1 1 1 | 1 1 1 1 1 0 . .
 * └─3─┘ └───────10────────┘ 1
 * ```
 *
 * Invariant: every bit below `bitLength` is either in `bytes` or in the accumulator; no byte outside the window given
 * to `reset` is ever touched. The accumulator holds the bits of the 32-bit word under the cursor, left-aligned, and a
 * word goes out only when it is full, so a caller sees his bytes complete only after `finish`.
 *
 * Past the end nothing is written and `failed` stays set: encoders write a whole frame and look once.
 *
 * It does not know what a field means (see the twins beside it), and it never grows or allocates.
 */

import { assert } from '../base/assert.ts'
import { BIT_BUFFER_BYTES_MAX } from '../base/limits.ts'

/** A cursor that writes bits into caller-owned bytes. One shape, reusable by `reset`. */
export class BitWriter {
  /** The bytes written into. */
  bytes: Uint8Array
  /** A write went past the end. Sticky until `reset` or a `rewind` to what had fitted. */
  failed: boolean
  /** First byte of the window in `bytes`. */
  #start: number
  /** Bits of the window. */
  #size: number
  /** `#size`, or -1 once failed, so that one comparison decides every write. */
  #limit: number
  /** Bits written. */
  #cursor: number
  /** The word under the cursor: `#cursor & 31` bits, left-aligned, zeros below. */
  #word: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.failed = false
    this.#start = 0
    this.#size = 0
    this.#limit = 0
    this.#cursor = 0
    this.#word = 0
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length, 'the window lies in its bytes')
    assert(byteLength <= BIT_BUFFER_BYTES_MAX, 'bit positions are small integers')
    this.bytes = bytes
    this.failed = false
    this.#start = byteOffset
    this.#size = byteLength << 3
    this.#limit = this.#size
    this.#cursor = 0
    this.#word = 0
  }

  /** Bits written since `reset`. */
  get bitLength(): number {
    return this.#cursor
  }

  /** Bits that still fit; 0 once failed. */
  get bitsLeft(): number {
    return this.failed ? 0 : this.#size - this.#cursor
  }

  /** Writes the low `width` bits (0..32) of `value`, highest of them first. @hot */
  writeBits(value: number, width: number): void {
    const cursor = this.#cursor
    const next = cursor + width
    if (next > this.#limit) {
      this.#fail()
      return
    }
    const used = cursor & 31
    const spill = used + width - 32
    if (spill < 0) {
      // width <= 31 here, so the mask is right; the shift is 1..32, and 32 only when there is nothing to write.
      this.#word |= (value & ((1 << width) - 1)) << -spill
      this.#cursor = next
      return
    }
    const field = width === 32 ? value : value & ((1 << width) - 1)
    this.#store((cursor >>> 5) << 2, this.#word | (field >>> spill))
    this.#word = spill === 0 ? 0 : field << (32 - spill)
    this.#cursor = next
  }

  /** Copies `bitCount` bits of `source` from bit `bitOffset` on; any alignment on either side. @hot */
  copyBits(source: Uint8Array, bitOffset: number, bitCount: number): void {
    assert(bitOffset >= 0 && bitCount >= 0 && bitOffset + bitCount <= source.length * 8, 'the copied bits exist')
    if (this.#cursor + bitCount > this.#limit) {
      this.#fail()
      return
    }
    let at = bitOffset >>> 3
    let left = bitCount
    const head = bitOffset & 7
    if (head !== 0 && left > 0) {
      const width = left < 8 - head ? left : 8 - head
      this.writeBits(source[at] >>> (8 - head - width), width)
      left -= width
      at++
    }
    for (; left >= 32; left -= 32, at += 4) {
      this.writeBits((source[at] << 24) | (source[at + 1] << 16) | (source[at + 2] << 8) | source[at + 3], 32)
    }
    for (; left >= 8; left -= 8, at++) this.writeBits(source[at], 8)
    if (left > 0) this.writeBits(source[at] >>> (8 - left), left)
  }

  /** Forgets everything after bit `bitLength`, and the failure if that came later. */
  rewind(bitLength: number): void {
    assert(bitLength >= 0 && bitLength <= this.#cursor, 'a writer only rewinds to what it has written')
    const used = bitLength & 31
    if (bitLength >>> 5 !== this.#cursor >>> 5) this.#word = this.#load((bitLength >>> 5) << 2, used)
    this.#word = used === 0 ? 0 : this.#word & (-1 << (32 - used))
    this.#cursor = bitLength
    this.#limit = this.#size
    this.failed = false
  }

  /**
   * Puts the last bits into `bytes`, zero-padded to a whole byte, and returns how many bytes are used. Writing may go
   * on afterwards at `bitLength`: the padding is not part of what was written.
   */
  finish(): number {
    const used = this.#cursor & 31
    const at = this.#start + ((this.#cursor >>> 5) << 2)
    for (let bit = 0; bit < used; bit += 8) this.bytes[at + (bit >>> 3)] = this.#word >>> (24 - bit)
    return (this.#cursor + 7) >>> 3
  }

  #store(offset: number, word: number): void {
    const bytes = this.bytes
    const at = this.#start + offset
    bytes[at] = word >>> 24
    bytes[at + 1] = word >>> 16
    bytes[at + 2] = word >>> 8
    bytes[at + 3] = word
  }

  #load(offset: number, bits: number): number {
    let word = 0
    const at = this.#start + offset
    for (let bit = 0; bit < bits; bit += 8) word |= this.bytes[at + (bit >>> 3)] << (24 - bit)
    return word
  }

  #fail(): void {
    this.failed = true
    this.#limit = -1
  }
}
