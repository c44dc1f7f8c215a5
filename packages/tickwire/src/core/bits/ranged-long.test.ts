import { describe, expect, test } from 'vitest'
import { ConfigError, InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { longRange, readRangedLong, readRangedLongPair, writeRangedLong, writeRangedLongPair } from './ranged-long.ts'

const bytes = new Uint8Array(8)
const writer = new BitWriter(bytes)
const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const

describe('[BITS12] ranged longs', () => {
  test.each([
    [0n, 0n, 0], [0n, 1n, 1], [0n, 1023n, 10], [0n, 2n ** 32n - 1n, 32], [0n, 2n ** 32n, 33], [-5n, 2n ** 40n, 41],
    [-(2n ** 40n), -(2n ** 40n) + 2n ** 33n, 34], [INT64[0], INT64[1], 64], [INT64[0], 0n, 64], [0n, INT64[1], 63],
  ])('%d..%d takes %d bits, and both ends are read back', (min, max, bits) => {
    const range = longRange(min, max)
    expect(range.bits).toBe(bits)
    for (const value of [min, max, (min + max) >> 1n]) {
      writer.reset(bytes)
      writeRangedLong(writer, value, range)
      expect(writer.bitLength).toBe(bits)
      writer.finish()
      const reader = new BitReader(bytes)
      expect(readRangedLong(reader, range)).toBe(value)
      expect(reader.failed).toBe(false)
    }
  })

  test('codes above the range are refused, in the low half and in the high one', () => {
    const reader = new BitReader(new Uint8Array(8).fill(255))
    for (const range of [longRange(3n, 3n + 2n ** 40n), longRange(3n, 2n ** 40n - 5n), longRange(3n, 9n)]) {
      reader.reset(new Uint8Array(8).fill(255))
      expect(readRangedLong(reader, range)).toBe(3n)
      expect(reader.failed).toBe(true)
    }
  })

  test('pairs and bigints write the same bits', () => {
    const range = longRange(-(2n ** 33n), 2n ** 50n)
    writer.reset(bytes)
    writeRangedLongPair(writer, -7, -1, range)
    writer.finish()
    const out = new Int32Array(2)
    readRangedLongPair(new BitReader(bytes), range, out, 0)
    expect(readRangedLong(new BitReader(bytes), range)).toBe(-7n)
    expect(Array.from(out)).toEqual([-7, -1])
  })

  test('an empty range is a configuration error, a value outside the range a bug of the caller', () => {
    expect(() => longRange(1n, 0n, 'Player.score')).toThrow(ConfigError)
    expect(() => longRange(0n, 2n ** 63n)).toThrow(ConfigError)
    expect(() => writeRangedLong(writer, 11n, longRange(0n, 10n))).toThrow(InvariantError)
    expect(() => writeRangedLongPair(writer, -1, -1, longRange(0n, 10n))).toThrow(InvariantError)
  })
})
