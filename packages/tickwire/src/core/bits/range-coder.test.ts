import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rangeDecode, rangeEncode, type Coding } from '../../../../../test/reference/bits-entropy-reference.ts'
import { PROBABILITY_HALF, RangeDecoder, RangeEncoder } from './range-coder.ts'

const CHECKS = { seed: 25, numRuns: 500 }
const ONE = 2 ** 15

/** A coded bit: at a fixed probability of being 0, or (null) by the adaptive cell of that index. */
type Coded = { bit: number; fixed: number | null; cell: number }

const codings = (bits: readonly Coded[]): Coding[] =>
  bits.map(({ fixed, cell }) => (fixed === null ? { cell } : { fixed }))
const slowEncode = (bits: readonly Coded[]): number[] =>
  rangeEncode(
    bits.map(({ bit }) => bit),
    codings(bits),
  )

const coded = fc.record({
  bit: fc.nat(1), cell: fc.nat(2),
  fixed: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: ONE - 1 }), fc.constantFrom(1, 2, ONE / 2, ONE - 1)),
})
/**
 * Long runs of unlikely and of likely bits: carries ripple in the first, and nothing is written for long in the second.
 */
const runs = fc.array(fc.tuple(coded, fc.integer({ min: 1, max: 40 })), { maxLength: 12 })
  .map((parts) => parts.flatMap(([one, count]) => Array.from({ length: count }, () => one)))

function encode(bits: readonly Coded[], bytes: Uint8Array, encoder = new RangeEncoder(bytes)): number {
  const cells = new Uint16Array(3).fill(PROBABILITY_HALF)
  for (const { bit, fixed, cell } of bits) {
    if (fixed === null) encoder.encodeBit(cells, cell, bit)
    else encoder.encodeFixed(fixed, bit)
  }
  return encoder.finish()
}

function decode(decoder: RangeDecoder, like: readonly Coded[]): number[] {
  const cells = new Uint16Array(3).fill(PROBABILITY_HALF)
  return like.map(({ fixed, cell }) => (fixed === null ? decoder.decodeBit(cells, cell) : decoder.decodeFixed(fixed)))
}

describe('[BITS26] the range coder', () => {
  test('gives the bytes of exact arithmetic, and reads them back', () => {
    const bytes = new Uint8Array(4000)
    let longest = 0
    fc.assert(fc.property(fc.oneof(fc.array(coded, { maxLength: 60 }), runs), (bits) => {
      const size = encode(bits, bytes)
      expect(Array.from(bytes.subarray(0, size))).toEqual(slowEncode(bits))
      const decoder = new RangeDecoder(bytes)
      decoder.reset(bytes, 0, size)
      expect(decode(decoder, bits)).toEqual(bits.map(({ bit }) => bit))
      expect(rangeDecode(Array.from(bytes.subarray(0, size)), codings(bits))).toEqual(bits.map(({ bit }) => bit))
      expect(decoder.finish()).toBe(true)
      longest = Math.max(longest, size)
    }), CHECKS)
    expect(longest).toBeGreaterThan(100)
  })

  test('a carry runs through bytes that are all 255', () => {
    // Bits that take the upper half of the range write ones; a last unlikely 1 then carries through all of them.
    const bytes = new Uint8Array(64)
    const ones = Array.from({ length: 80 }, () => ({ bit: 1, fixed: ONE / 2, cell: 0 }))
    const size = encode(ones, bytes)
    expect(Array.from(bytes.subarray(0, size))).toEqual(slowEncode(ones))
  })

  test('costs what the probabilities say, and under a byte more', () => {
    const bytes = new Uint8Array(8000)
    fc.assert(fc.property(fc.array(coded.filter(({ fixed }) => fixed !== null), { maxLength: 400 }), (bits) => {
      const price = bits.reduce((sum, { bit, fixed }) => sum - Math.log2((bit === 0 ? fixed! : ONE - fixed!) / ONE), 0)
      const size = encode(bits, bytes)
      // A normalised range has 24 bits or more, so a probability is off by 2^-9 at most.
      expect(size * 8).toBeLessThan(price * 1.003 + bits.length * 0.01 + 8)
    }), CHECKS)
  })

  test('adaptive cells never reach 0 or 1', () => {
    const cells = new Uint16Array(2).fill(PROBABILITY_HALF)
    const encoder = new RangeEncoder(new Uint8Array(4000))
    for (let count = 0; count < 5000; count++) {
      encoder.encodeBit(cells, 0, 0)
      encoder.encodeBit(cells, 1, 1)
    }
    expect(Array.from(cells)).toEqual([ONE - 31, 31])
    expect(encoder.failed).toBe(false)
  })

  test('a read past the end fails for good and touches nothing', () => {
    const bytes = new Uint8Array(12).fill(0xa5)
    const encoder = new RangeEncoder(bytes)
    encoder.reset(bytes, 4, 4)
    for (let count = 0; count < 100; count++) encoder.encodeFixed(ONE / 2, count % 3 === 0 ? 1 : 0)
    expect(encoder.finish()).toBe(0)
    expect(encoder.failed).toBe(true)
    expect(bytes.subarray(0, 4).every((byte) => byte === 0xa5)).toBe(true)
    expect(bytes.subarray(8).every((byte) => byte === 0xa5)).toBe(true)
  })
})

describe('[BITS27] the end of a section', () => {
  test('of no symbols has no bytes', () => {
    expect(encode([], new Uint8Array(4))).toBe(0)
    expect(new RangeDecoder(new Uint8Array(0)).finish()).toBe(true)
  })

  test('any bytes decode; they are accepted exactly when encoding gives them back', () => {
    const bytes = new Uint8Array(4000)
    let accepted = 0
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.array(fc.constantFrom(0, 1, 255, 128), { maxLength: 4 }).map((all) => Uint8Array.from(all)),
    )
    fc.assert(
      fc.property(noise, fc.array(coded, { maxLength: 40 }), (raw, like) => {
        const decoder = new RangeDecoder(raw)
        const bits = decode(decoder, like)
        const isAccepted = decoder.finish()
        const size = encode(
          like.map((one, index) => ({ ...one, bit: bits[index]! })),
          bytes,
        )
        expect(isAccepted).toBe(Buffer.from(bytes.subarray(0, size)).equals(Buffer.from(raw)))
        if (isAccepted) accepted++
      }),
      { ...CHECKS, numRuns: 5000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test('the one number outside the first interval is refused', () => {
    const decoder = new RangeDecoder(new Uint8Array(8).fill(255))
    expect(decoder.failed).toBe(true)
    expect(decoder.decodeFixed(1)).toBe(0)
    expect(decoder.finish()).toBe(false)
  })
})
