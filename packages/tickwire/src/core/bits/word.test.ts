import { expect, test } from 'vitest'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { writeDouble, writeFloat } from './float.ts'
import { readU32, readU64Pair, writeU16, writeU32, writeU64Pair } from './word.ts'
import { readBitsPair, writeBitsPair } from './wide-bits.ts'

function written(write: (writer: BitWriter) => void): string {
  const bytes = new Uint8Array(16)
  const writer = new BitWriter(bytes)
  write(writer)
  return Array.from(bytes.subarray(0, writer.finish()), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

test('[BITS3] words, floats and doubles are bytes, low byte first', () => {
  expect(written((writer) => writeU16(writer, 0x1234))).toBe('3412')
  expect(written((writer) => writeU32(writer, 0x1234_5678))).toBe('78563412')
  expect(written((writer) => writeU32(writer, -2))).toBe('feffffff')
  expect(written((writer) => writeU64Pair(writer, 0x1234_5678, 0x9abc_def0 | 0))).toBe('78563412f0debc9a')
  expect(written((writer) => writeFloat(writer, 1))).toBe('0000803f')
  expect(written((writer) => writeDouble(writer, 1))).toBe('000000000000f03f')
})

test('[BITS3] a word at an unaligned cursor is the same bytes, shifted', () => {
  expect(written((writer) => {
    writer.writeBits(0, 4)
    writeU16(writer, 0x1234)
  })).toBe('034120')
})

test('[BITS2] a field of up to 64 bits is one integer, high half first', () => {
  expect(written((writer) => writeBitsPair(writer, 0x89ab_cdef | 0, 0x123_4567, 60))).toBe('123456789abcdef0')
  const reader = new BitReader(Uint8Array.of(0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0))
  const out = new Int32Array(2)
  readBitsPair(reader, 60, out, 0)
  expect([out[0]! >>> 0, out[1]]).toEqual([0x89ab_cdef, 0x123_4567])
})

test('[BITS5] a truncated pair reads as zeros, not as half a number', () => {
  const out = Int32Array.of(7, 7)
  const reader = new BitReader(new Uint8Array(7).fill(255))
  readU64Pair(reader, out, 0)
  expect(reader.failed).toBe(true)
  expect(Array.from(out)).toEqual([0, 0])
  expect(readU32(reader)).toBe(0)
  reader.reset(new Uint8Array(7).fill(255))
  readBitsPair(reader, 57, out, 0)
  expect([reader.failed, ...out]).toEqual([true, 0, 0])
})
