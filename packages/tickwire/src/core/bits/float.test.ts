import { describe, expect, test } from 'vitest'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import {
  readDouble, readDoubleAny, readFloat, readFloatAny, writeDouble, writeDoubleAny, writeFloat, writeFloatAny,
} from './float.ts'

const bytes = new Uint8Array(8)

function through(
  write: (writer: BitWriter, value: number) => void,
  read: (reader: BitReader) => number,
  value: number,
): number {
  const writer = new BitWriter(bytes)
  write(writer, value)
  writer.finish()
  const reader = new BitReader(bytes)
  const back = read(reader)
  expect(reader.failed).toBe(false)
  return back
}

/** Whether the reader takes these bytes, given high byte first as they are usually printed. */
function takes(read: (reader: BitReader) => number, hex: string): boolean {
  const reader = new BitReader(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)).reverse())
  const value = read(reader)
  if (reader.failed) expect(value).toBe(0)
  return !reader.failed
}

const FLOAT_MAX = 2 ** 127 * (2 - 2 ** -23)

describe('[BITS13] finite forms', () => {
  test('write NaN as 0 and clamp what is too large', () => {
    const values = [NaN, Infinity, -Infinity, 1e39, -1e39, 0.5, -0]
    expect(values.map((value) => through(writeFloat, readFloat, value)))
      .toEqual([0, FLOAT_MAX, -FLOAT_MAX, FLOAT_MAX, -FLOAT_MAX, 0.5, -0])
    expect([NaN, Infinity, -Infinity, 1e308, -0].map((value) => through(writeDouble, readDouble, value)))
      .toEqual([0, Number.MAX_VALUE, -Number.MAX_VALUE, 1e308, -0])
  })

  test('refuse NaN and infinities', () => {
    for (const hex of ['7fc00000', '7f800000', 'ff800000', '7f800001', 'ffffffff'])
      expect(takes(readFloat, hex)).toBe(false)
    for (const hex of ['7ff8000000000000', '7ff0000000000000', 'fff0000000000000', '7ff0000000000001']) {
      expect(takes(readDouble, hex)).toBe(false)
    }
    expect(takes(readFloat, '7f7fffff')).toBe(true)
    expect(takes(readDouble, '7fefffffffffffff')).toBe(true)
  })
})

describe('[BITS14] any number', () => {
  test('is read back as written, NaN, infinities and negative zero included', () => {
    for (const value of [NaN, Infinity, -Infinity, -0, 0, 1.5, 2 ** -149, FLOAT_MAX]) {
      expect(through(writeFloatAny, readFloatAny, value)).toBe(value)
      expect(through(writeDoubleAny, readDoubleAny, value)).toBe(value)
    }
    expect(through(writeFloatAny, readFloatAny, 1e39)).toBe(Infinity)
  })

  test('has one NaN', () => {
    expect(takes(readFloatAny, '7fc00000')).toBe(true)
    for (const hex of ['ffc00000', '7fc00001', '7f800001', 'ffffffff']) expect(takes(readFloatAny, hex)).toBe(false)
    expect(takes(readDoubleAny, '7ff8000000000000')).toBe(true)
    for (const hex of ['fff8000000000000', '7ff8000000000001', '7ff0000000000001'])
      expect(takes(readDoubleAny, hex)).toBe(false)
  })
})
