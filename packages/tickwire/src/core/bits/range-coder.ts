/**
 * A binary range coder: bits at their price, fractions of a bit included, for the presence sections and ordered
 * streams of the snapshot codec.
 *
 * The coder holds an interval [low, low + range) of 32 bits below the bytes already out. A bit of probability
 * p / 2^15 (of being 0) keeps the lower p / 2^15 of it, a 1 the rest; while the range is below 2^24 the top byte goes out.
 *
 * ```
 * bytes out so far | low (32 bits)      a carry out of low adds 1 to the bytes already out
 * ```
 *
 * At the end the encoder names the number of the interval with the fewest bytes, and drops trailing zero bytes: past
 * its end the decoder reads zeros. The section's size must be known from outside.
 *
 * Invariant: one sequence of bits has one spelling. The decoder's `finish` refuses every other, though each decodes.
 *
 * Probabilities are the caller's: a Uint16Array, one cell a context, all starting at `PROBABILITY_HALF`. Both sides
 * must hold the same numbers, so contexts come only from what the peer surely has.
 */

import { assert } from '../base/assert.ts'

/** Probabilities count in parts of 2^15. */
export const PROBABILITY_HALF: number = 1 << 14

/** Half-life of about 22 bits. The cells then stay within 31..32,737, so neither part of the range is ever empty. */
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
  /** Unsigned, kept as int32: the two agree in every bit, and int32 is a small integer to the engine. */
  #low = 0
  #range = -1

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length, 'the window lies in its bytes')
    this.failed = false
    this.#bytes = bytes
    this.#start = byteOffset
    this.#at = byteOffset
    this.#end = byteOffset + byteLength
    this.#low = 0
    this.#range = -1
  }

  /** Writes a bit by the cell `probabilities[index]`, and teaches it. @hot */
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

  /** Ends the section and returns how many bytes it takes. Only `reset` may follow. */
  finish(): number {
    const gap = shortestGap(this.#low >>> 0, this.#range >>> 0)
    this.#raise(gap)
    // Whatever of the low word is not zero must go out.
    for (; this.#low !== 0; this.#low <<= 8) this.#emit(this.#low >>> 24)
    if (this.failed) return 0
    while (this.#at > this.#start && this.#bytes[this.#at - 1] === 0) this.#at--
    return this.#at - this.#start
  }

  /** Adds to low; a carry goes into the bytes already out. It cannot leave them: the interval lies below 1. */
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

/** Reads bits from bytes. It never throws, and past the end it reads zeros, as the encoder meant. */
export class RangeDecoder {
  failed: boolean = false
  #bytes = NO_BYTES
  #start = 0
  #at = 0
  #end = 0
  #range = -1
  /** How far the encoded number lies above low. Always below the range. Unsigned, kept as int32. */
  #code = 0
  /** The last four bytes read, so that low itself is known at the end. */
  #word = 0

  constructor(bytes: Uint8Array) {
    this.reset(bytes)
  }

  /** Starts over on `byteLength` bytes of `bytes` from `byteOffset`. */
  reset(bytes: Uint8Array, byteOffset: number = 0, byteLength: number = bytes.length - byteOffset): void {
    assert(byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= bytes.length, 'the window lies in its bytes')
    this.failed = false
    this.#bytes = bytes
    this.#start = byteOffset
    this.#at = byteOffset
    this.#end = byteOffset + byteLength
    this.#range = -1
    this.#word = 0
    for (let count = 0; count < 4; count++) this.#word = (this.#word << 8) | this.#next()
    this.#code = this.#word
    // The one number that lies outside the first interval.
    if (this.#code === -1) this.#fail()
  }

  /** Reads a bit by the cell `probabilities[index]`, and teaches it. @hot */
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

  /** True when the bytes are exactly those that the encoder makes of what was decoded. Anything else fails. */
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

  /** Code 0 decodes to zeros for ever. */
  #fail(): void {
    this.failed = true
    this.#code = 0
    this.#end = this.#start
  }
}

function adapt(probability: number, bit: number): number {
  return bit === 0 ? probability + ((ONE - probability) >> ADAPT_SHIFT) : probability - (probability >> ADAPT_SHIFT)
}

/** From low to the first number of the interval that ends in the most zero bytes. */
function shortestGap(low: number, range: number): number {
  for (let unit = 2 ** 32; unit > 1; unit /= 256) {
    const gap = (unit - (low % unit)) % unit
    if (gap < range) return gap
  }
  return 0
}
