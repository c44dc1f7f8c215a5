import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { isCompletePrefix, prefixCode, prefixLengths, readSymbol, writeSymbol } from './prefix-code.ts'

const CHECKS = { seed: 26, numRuns: 300 }
const bytes = new Uint8Array(4000)
const writer = new BitWriter(bytes)
const reader = new BitReader(bytes)

/** Counts as in text: a few are large, many are small, some are 0. */
const counts = fc.array(
  fc.tuple(fc.nat(1000), fc.nat(12)).map(([base, power]) => Math.floor((base * 2 ** power) / 4096)),
  { minLength: 2, maxLength: 300 },
)

describe('[BITS28] prefix codes', () => {
  test('have the bits that prefix-code.ts draws', () => {
    const code = prefixCode([1, 3, 2, 3])
    writer.reset(bytes)
    for (const symbol of [0, 2, 1, 3]) writeSymbol(writer, code, symbol)
    writer.finish()
    expect(bytes[0]).toBe(0b0_10_110_11)
    expect(bytes[1]! >> 7).toBe(1)
  })

  test('symbols with short and long codes are read back', () => {
    fc.assert(fc.property(counts, fc.array(fc.nat(), { maxLength: 100 }), (of, picks) => {
      const lengths = prefixLengths(of)
      const code = prefixCode(lengths)
      const used = Array.from(lengths.keys()).filter((symbol) => lengths[symbol]! > 0)
      const symbols = picks.map((pick) => used[pick % used.length]!)
      writer.reset(bytes)
      for (const symbol of symbols) writeSymbol(writer, code, symbol)
      const size = writer.finish()
      reader.reset(bytes, 0, size)
      expect(symbols.map(() => readSymbol(reader, code))).toEqual(symbols)
      expect(reader.finish()).toBe(true)
    }), CHECKS)
  })

  test('any bits decode, and encode to the same bits again', () => {
    fc.assert(fc.property(counts, fc.uint8Array({ minLength: 30, maxLength: 30 }), (of, noise) => {
      const code = prefixCode(prefixLengths(of))
      reader.reset(noise)
      writer.reset(bytes)
      for (let count = 0; count < 20; count++) writeSymbol(writer, code, readSymbol(reader, code))
      writer.finish()
      expect(reader.failed).toBe(false)
      expect(reader.bitPosition).toBe(writer.bitLength)
      const whole = writer.bitLength >> 3
      expect(Array.from(bytes.subarray(0, whole))).toEqual(Array.from(noise.subarray(0, whole)))
    }), CHECKS)
  })

  test('a truncated symbol is refused', () => {
    const code = prefixCode(prefixLengths(Array.from({ length: 20 }, (_, index) => 2 ** index)))
    for (let symbol = 0; symbol < 20; symbol++) {
      for (let length = 0; length < code.lengths[symbol]!; length++) {
        writer.reset(bytes)
        writeSymbol(writer, code, symbol)
        writer.finish()
        reader.resetBits(bytes, 0, length)
        expect(readSymbol(reader, code)).toBe(0)
        expect(reader.failed).toBe(true)
      }
    }
  })

  test.each([
    ['nothing', []],
    ['one symbol with a code', [1]],
    ['incomplete', [1, 2]],
    ['incomplete', [0, 1]],
    ['all absent', [0, 0]],
    ['over-subscribed', [1, 1, 1]],
    ['over-subscribed', [1, 2, 2, 2]],
    ['too long', [1, 13, 13]],
    ['negative', [1, -1, 1]],
    ['fractional', [1, 1.5, 1]],
    ['NaN', [1, NaN, 1]],
  ])('%s is not a code: %j', (_, lengths) => {
    expect(isCompletePrefix(lengths)).toBe(false)
    expect(() => prefixCode(lengths)).toThrow(ConfigError)
  })

  test('an alphabet of one symbol costs nothing', () => {
    const code = prefixCode(prefixLengths([5]))
    writer.reset(bytes)
    writeSymbol(writer, code, 0)
    expect(writer.bitLength).toBe(0)
    reader.resetBits(bytes, 0, 0)
    expect(readSymbol(reader, code)).toBe(0)
    expect(reader.failed).toBe(false)
  })

  test('4096 symbols of 12 bits each are a code', () => {
    const code = prefixCode(new Uint8Array(4096).fill(12))
    writer.reset(bytes)
    for (const symbol of [0, 1, 4095]) writeSymbol(writer, code, symbol)
    writer.finish()
    reader.reset(bytes)
    expect([0, 0, 0].map(() => readSymbol(reader, code))).toEqual([0, 1, 4095])
  })
})

describe('[BITS29] prefix lengths', () => {
  const cost = (of: readonly number[], lengths: ArrayLike<number>): number =>
    of.reduce((sum, count, symbol) => sum + count * lengths[symbol]!, 0)

  test('are the best of all codes, for small alphabets by trying every one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 3, max: 5 }),
        (of, bitsMax) => {
          let best = Infinity
          const lengths = new Uint8Array(of.length).fill(1)
          for (;;) {
            if (isCompletePrefix(lengths)) best = Math.min(best, cost(of, lengths))
            let at = 0
            while (at < lengths.length && lengths[at] === bitsMax) lengths[at++] = 1
            if (at === lengths.length) break
            lengths[at]!++
          }
          const found = prefixLengths(of, bitsMax)
          expect(isCompletePrefix(found)).toBe(true)
          expect(Math.max(...found)).toBeLessThanOrEqual(bitsMax)
          expect(cost(of, found)).toBe(best)
        },
      ),
      { ...CHECKS, numRuns: 60 },
    )
  })

  test('are those of Huffman where the limit does not bind', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 60 }), (of) => {
      // Huffman's total is the sum of all merged weights.
      const weights = of.slice()
      let total = 0
      while (weights.length > 1) {
        weights.sort((a, b) => b - a)
        const merged = weights.pop()! + weights.pop()!
        total += merged
        weights.push(merged)
      }
      expect(cost(of, prefixLengths(of))).toBe(total)
    }), CHECKS)
  })

  test('are always complete, and kept to the limit', () => {
    fc.assert(fc.property(counts, fc.integer({ min: 9, max: 12 }), (of, bitsMax) => {
      const lengths = prefixLengths(of, bitsMax)
      expect(isCompletePrefix(lengths)).toBe(true)
      expect(Math.max(...lengths)).toBeLessThanOrEqual(bitsMax)
    }), CHECKS)
  })

  test.each([
    [[0, 0, 3], [1, 0, 1]], [[0, 0], [1, 1]], [[7, 0], [1, 1]], [[5, 1, 2, 1], [1, 3, 2, 3]], [[1, 1, 1], [2, 2, 1]],
  ])('of %j are %j', (of, expected) => {
    expect(Array.from(prefixLengths(of))).toEqual(expected)
  })
})
