import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { readInt, readLong, readLongPair, readVarint, writeInt, writeLong, writeVarint } from './varint.ts'

const bytes = new Uint8Array(16)
const writer = new BitWriter(bytes)
const reader = new BitReader(bytes)

function written(write: () => void): number[] {
  writer.reset(bytes)
  write()
  return Array.from(bytes.subarray(0, writer.finish()))
}

/** What reading these bytes gives; undefined when refused. */
function readFrom<T>(read: (reader: BitReader) => T, ...from: number[]): T | undefined {
  reader.reset(Uint8Array.from(from))
  const value = read(reader)
  return reader.finish() ? value : undefined
}

describe('[BITS8] varints', () => {
  test.each([
    [0, [0]], [1, [1]], [127, [0x7f]], [128, [0x80, 1]], [300, [0xac, 0x02]], [2 ** 14 - 1, [0xff, 0x7f]],
    [2 ** 14, [0x80, 0x80, 1]], [2 ** 21, [0x80, 0x80, 0x80, 1]], [2 ** 28 - 1, [0xff, 0xff, 0xff, 0x7f]],
    [2 ** 28, [0x80, 0x80, 0x80, 0x80, 1]], [2 ** 35, [0x80, 0x80, 0x80, 0x80, 0x80, 1]],
    [2 ** 42, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]], [2 ** 49, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]],
    [2 ** 53 - 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('%d', (value, expected) => {
    expect(written(() => writeVarint(writer, value))).toEqual(expected)
    expect(readFrom(readVarint, ...expected)).toBe(value)
  })

  test('refuses every over-long form of 0, 1 and 127', () => {
    for (const value of [0, 1, 127]) {
      for (let extra = 1; extra < 10; extra++) {
        const form = [value | 0x80, ...Array<number>(extra - 1).fill(0x80), 0]
        expect(readFrom(readVarint, ...form)).toBeUndefined()
      }
    }
  })

  test('refuses 2^53, nine bytes and a truncated varint', () => {
    expect(readFrom(readVarint, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10)).toBeUndefined()
    expect(readFrom(readVarint, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1)).toBeUndefined()
    expect(readFrom(readVarint, 0x80, 0x80)).toBeUndefined()
    expect(readFrom(readVarint)).toBeUndefined()
  })
})

describe('[BITS9] ints', () => {
  test.each([
    [0, [0]], [-1, [1]], [1, [2]], [-64, [0x7f]], [64, [0x80, 1]], [2 ** 31 - 1, [0xfe, 0xff, 0xff, 0xff, 0x0f]],
    [-(2 ** 31), [0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])('%d', (value, expected) => {
    expect(written(() => writeInt(writer, value))).toEqual(expected)
    expect(readFrom(readInt, ...expected)).toBe(value)
  })

  test('refuses 2^32 and an over-long 0', () => {
    expect(readFrom(readInt, 0x80, 0x80, 0x80, 0x80, 0x10)).toBeUndefined()
    expect(readFrom(readInt, 0x80, 0)).toBeUndefined()
  })
})

describe('[BITS10] longs', () => {
  const nine = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
  test.each([
    [0n, [0]], [-1n, [1]], [2n ** 31n, [0x80, 0x80, 0x80, 0x80, 0x10]],
    [2n ** 55n - 1n, [0xfe, ...nine.slice(2), 0x7f]], [2n ** 55n, [...nine.map(() => 0x80), 0x01]],
    [2n ** 62n, [...nine.map(() => 0x80), 0x80]], [-(2n ** 62n), [...nine, 0x7f]],
    [2n ** 63n - 1n, [0xfe, ...nine.slice(1), 0xff]], [-(2n ** 63n), [...nine, 0xff]],
  ])('%d', (value, expected) => {
    expect(written(() => writeLong(writer, value))).toEqual(expected)
    expect(readFrom(readLong, ...expected)).toBe(value)
  })

  test('refuses an over-long ninth byte, and leaves zeros', () => {
    const pair = Int32Array.of(7, 7)
    reader.reset(Uint8Array.from([...nine, 0]))
    readLongPair(reader, pair, 0)
    expect(reader.failed).toBe(true)
    expect(Array.from(pair)).toEqual([0, 0])
  })

  test('a bigint beyond 64 bits is a bug of the caller', () => {
    expect(() => writeLong(writer, 2n ** 63n)).toThrow(InvariantError)
  })
})
