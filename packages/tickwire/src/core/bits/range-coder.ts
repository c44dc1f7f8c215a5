/**
 * A binary range coder: each bit costs its information content, including fractions of a bit. Packed texts use it
 * (codec/packed-text.ts).
 *
 * The coder holds an interval [low, low + range) of 32 bits below the bytes already written. A bit with probability p /
 * 2^15 of being 0 keeps the lower p / 2^15 of the interval if it is 0, and the rest if it is 1. While the range is
 * below 2^24 the top byte is written.
 *
 * ```
 * bytes out so far | low (32 bits)      a carry out of low adds 1 to the bytes already out
 * ```
 *
 * At the end the encoder chooses the number in the interval with the fewest bytes, and drops trailing zero bytes: past
 * its end the decoder reads zeros. The size of the section must be known from outside.
 *
 * Invariant: one sequence of bits has one encoding. The decoder's `finish` refuses every other, though each decodes.
 *
 * Probabilities belong to the caller: a Uint16Array, indexed by context, all starting at `PROBABILITY_HALF`. Both sides
 * must have the same numbers, so contexts must depend only on data that the peer is known to have.
 */

import { assert } from '../base/assert.ts'

/** Probabilities are in units of 2^-15. */
export const PROBABILITY_HALF: number = 1 << 14

/**
 * Half-life of about 22 bits. Probabilities then stay within 31..32,737, so neither part of the range is ever empty.
 */
const ADAPT_SHIFT = 5
const ONE = 1 << 15
const RANGE_MIN = 1 << 24
const NO_BYTES: Uint8Array = new Uint8Array(0)

/** Writes bits into caller-owned bytes. Past the end nothing is written and `failed` stays set. */
export class RangeEncoder {
  failed: boolean = false
  #bytes = NO_BYTES
  #start = 0
  #at = 0
  #end = 0
  /** Unsigned, stored as int32: the bits are the same, and int32 is a small integer to the engine. */
  #low = 0
  #range = -1

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(
      byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length,
      'the window lies in its bytes',
    )
    this.failed = false
    this.#bytes = bytes
    this.#start = byteOffset
    this.#at = byteOffset
    this.#end = byteOffset + byteLength
    this.#low = 0
    this.#range = -1
  }

  /** Writes a bit with the probability `probabilities[index]`, and adapts it. @hot */
  encodeBit(probabilities: Uint16Array, index: number, bit: number): void {
    const probability = probabilities[index]
    this.encodeFixed(probability, bit)
    probabilities[index] = adapt(probability, bit)
  }

  /** Writes a bit that is 0 with `probability` / 2^15, 1..2^15-1. @hot */
  encodeFixed(probability: number, bit: number): void {
    const bound = Math.imul(this.#range >>> 15, probability)
    if (bit === 0) {
      this.#range = bound
    } else {
      this.#raise(bound)
      this.#range = (this.#range - bound) | 0
    }
    while (this.#range >>> 0 < RANGE_MIN) {
      this.#emit(this.#low >>> 24)
      this.#low <<= 8
      this.#range <<= 8
    }
  }

  /** Ends the section and returns its size in bytes. Only `reset` may follow. */
  finish(): number {
    const gap = shortestGap(this.#low >>> 0, this.#range >>> 0)
    this.#raise(gap)
    // All non-zero bytes of the low word must be written.
    for (; this.#low !== 0; this.#low <<= 8) this.#emit(this.#low >>> 24)
    if (this.failed) return 0
    while (this.#at > this.#start && this.#bytes[this.#at - 1] === 0) this.#at--
    return this.#at - this.#start
  }

  /**
   * Adds to low; a carry propagates into the bytes already written. It cannot overflow them: the interval is below 1.
   */
  #raise(amount: number): void {
    const low = (this.#low + amount) | 0
    const hasCarry = low >>> 0 < this.#low >>> 0
    this.#low = low
    if (!hasCarry || this.failed) return
    let at = this.#at - 1
    while (this.#bytes[at] === 0xff) this.#bytes[at--] = 0
    this.#bytes[at] += 1
  }

  #emit(byte: number): void {
    if (this.#at >= this.#end) this.failed = true
    else this.#bytes[this.#at++] = byte
  }
}

/** Reads bits from bytes. It never throws, and past the end it reads zeros, as the encoder assumes. */
export class RangeDecoder {
  failed: boolean = false
  #bytes = NO_BYTES
  #start = 0
  #at = 0
  #end = 0
  #range = -1
  /** The distance of the encoded number from low. Always below the range. Unsigned, stored as int32. */
  #code = 0
  /** The last four bytes read, so that low itself is known at the end. */
  #word = 0

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(
      byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length,
      'the window lies in its bytes',
    )
    this.failed = false
    this.#bytes = bytes
    this.#start = byteOffset
    this.#at = byteOffset
    this.#end = byteOffset + byteLength
    this.#range = -1
    this.#word = 0
    for (let count = 0; count < 4; count++) this.#word = (this.#word << 8) | this.#next()
    this.#code = this.#word
    // The only number outside the first interval.
    if (this.#code === -1) this.#fail()
  }

  /** Reads a bit with the probability `probabilities[index]`, and adapts it. @hot */
  decodeBit(probabilities: Uint16Array, index: number): number {
    const probability = probabilities[index]
    const bit = this.decodeFixed(probability)
    probabilities[index] = adapt(probability, bit)
    return bit
  }

  /** Reads a bit that is 0 with `probability` / 2^15; 0 once failed. @hot */
  decodeFixed(probability: number): number {
    const bound = Math.imul(this.#range >>> 15, probability)
    let bit = 0
    if (this.#code >>> 0 < bound >>> 0) {
      this.#range = bound
    } else {
      this.#code = (this.#code - bound) | 0
      this.#range = (this.#range - bound) | 0
      bit = 1
    }
    while (this.#range >>> 0 < RANGE_MIN) {
      const byte = this.#next()
      this.#word = (this.#word << 8) | byte
      this.#code = (this.#code << 8) | byte
      this.#range <<= 8
    }
    return bit
  }

  /** True when the bytes are exactly those that the encoder produces for the decoded bits. Anything else fails. */
  finish(): boolean {
    const low = (this.#word - this.#code) >>> 0
    const isShortest = this.#code >>> 0 === shortestGap(low, this.#range >>> 0)
    const isTrimmed = this.#end === this.#start || this.#bytes[this.#end - 1] !== 0
    if (!isShortest || !isTrimmed || this.#at < this.#end) this.#fail()
    return !this.failed
  }

  #next(): number {
    const at = this.#at++
    return at < this.#end ? this.#bytes[at] : 0
  }

  /** With code 0 all further bits decode to 0. */
  #fail(): void {
    this.failed = true
    this.#code = 0
    this.#end = this.#start
  }
}

function adapt(probability: number, bit: number): number {
  return bit === 0 ? probability + ((ONE - probability) >> ADAPT_SHIFT) : probability - (probability >> ADAPT_SHIFT)
}

/** The distance from low to the first number in the interval that ends in the most zero bytes. */
function shortestGap(low: number, range: number): number {
  for (let unit = 2 ** 32; unit > 1; unit /= 256) {
    const gap = (unit - (low % unit)) % unit
    if (gap < range) return gap
  }
  return 0
}
