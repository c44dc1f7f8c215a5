import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { bitsForCount, readEnum, readRangedInt, writeEnum, writeRangedInt } from './ranged-int.ts'

const bytes = new Uint8Array(8)
const writer = new BitWriter(bytes)

describe('[BITS11] ranged ints and enums', () => {
  test.each([
    [0, 9, 4], [0, 1000, 10], [0, 1023, 10], [0, 1024, 11], [-128, 127, 8], [5, 5, 0], [-(2 ** 31), 2 ** 31 - 1, 32],
    [0, 2 ** 32 - 1, 32], [2 ** 52, 2 ** 52 + 1, 1],
  ])('%d..%d takes %d bits, and both ends are read back', (min, max, bits) => {
    for (const value of [min, max]) {
      writer.reset(bytes)
      writeRangedInt(writer, value, min, max)
      expect(writer.bitLength).toBe(bits)
      writer.finish()
      expect(readRangedInt(new BitReader(bytes), min, max)).toBe(value)
    }
  })

  test.each([
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 3],
    [256, 8],
    [257, 9],
    [2 ** 32, 32],
  ])('%d values take %d bits', (count, bits) => {
    expect(bitsForCount(count)).toBe(bits)
  })

  test('codes above the range are refused', () => {
    const reader = new BitReader(Uint8Array.of(0b1010_0000))
    expect(readRangedInt(reader, -5, 4)).toBe(-5)
    expect(reader.failed).toBe(true)
    reader.reset(Uint8Array.of(0b1010_0000))
    expect(readEnum(reader, 5)).toBe(0)
    expect(reader.failed).toBe(true)
  })

  test('writing a value outside its range is a bug of the caller', () => {
    expect(() => writeRangedInt(writer, 11, 0, 10)).toThrow(InvariantError)
    expect(() => writeRangedInt(writer, NaN, 0, 10)).toThrow(InvariantError)
    expect(() => writeEnum(writer, 5, 5)).toThrow(InvariantError)
    expect(() => writeEnum(writer, -1, 5)).toThrow(InvariantError)
  })
})
