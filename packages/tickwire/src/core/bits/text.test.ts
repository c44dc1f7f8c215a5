import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'
import { readBytes, readBytesInto, writeBytes } from './blob.ts'
import { fixedStringRoom, readFixedString, readString, writeFixedString, writeString } from './text.ts'
import { readUtf8, utf8Size, writeUtf8 } from './utf8.ts'

const CHECKS = { seed: 24, numRuns: 500 }
const bytes = new Uint8Array(20_000)
const writer = new BitWriter(bytes)
const reader = new BitReader(bytes)

/** The value that a reader reads from these bytes; undefined when it refuses them. */
function readFrom<T>(from: ArrayLike<number>, read: (reader: BitReader) => T): T | undefined {
  reader.reset(Uint8Array.from(from))
  const value = read(reader)
  return reader.finish() ? value : undefined
}

describe('[BITS20] strings', () => {
  test('are the bytes that the platform makes of them, lone surrogates as U+FFFD', () => {
    const any = fc.array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff })), { maxLength: 30 })
      .map((units) => String.fromCharCode(...units))
    fc.assert(
      fc.property(fc.oneof(any, fc.string({ unit: 'binary' })), (text) => {
        const expected = new TextEncoder().encode(text)
        writer.reset(bytes)
        writeUtf8(writer, text)
        expect(Array.from(bytes.subarray(0, writer.finish()))).toEqual(Array.from(expected))
        expect(utf8Size(text)).toBe(expected.length)
        expect(readFrom(expected, (from) => readUtf8(from, expected.length))).toBe(
          new TextDecoder('utf-8', { ignoreBOM: true }).decode(expected),
        )
      }),
      CHECKS,
    )
  })

  test('every code point is read back', () => {
    for (let code = 0; code <= 0x10_ffff; code += code < 0x3000 ? 1 : 61) {
      if (code >= 0xd800 && code < 0xe000) continue
      const text = String.fromCodePoint(code)
      writer.reset(bytes)
      writeUtf8(writer, text)
      const size = writer.finish()
      reader.reset(bytes, 0, size)
      if (readUtf8(reader, size) !== text || reader.failed) throw new Error(`U+${code.toString(16)}`)
    }
  })

  test('long strings are read back whole', () => {
    const text = 'añ€😀'.repeat(1000)
    writer.reset(bytes)
    writeString(writer, text)
    writer.finish()
    reader.reset(bytes)
    expect(readString(reader)).toBe(text)
  })

  test.each([
    ['over-long', [0xc0, 0x80]],
    ['over-long', [0xc1, 0xbf]],
    ['over-long', [0xe0, 0x80, 0x80]],
    ['over-long', [0xe0, 0x9f, 0xbf]],
    ['over-long', [0xf0, 0x80, 0x80, 0x80]],
    ['over-long', [0xf0, 0x8f, 0xbf, 0xbf]],
    ['surrogate', [0xed, 0xa0, 0x80]],
    ['surrogate', [0xed, 0xbf, 0xbf]],
    ['above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['above U+10FFFF', [0xf5, 0x80, 0x80, 0x80]],
    ['no lead byte', [0x80]],
    ['no lead byte', [0xbf]],
    ['no lead byte', [0xff]],
    ['no lead byte', [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ['cut', [0xc3]],
    ['cut', [0xe2, 0x82]],
    ['cut', [0xf0, 0x9f, 0x98]],
    ['no continuation', [0xc3, 0x41]],
    ['no continuation', [0xe2, 0x82, 0x41]],
    ['no continuation', [0xf0, 0x9f, 0x41, 0x80]],
  ])('refuses %s: %j', (_, malformed) => {
    expect(readFrom([malformed.length, ...malformed], (from) => readString(from))).toBeUndefined()
    expect(readFrom([malformed.length + 1, ...malformed, 0x41], (from) => readString(from))).toBeUndefined()
  })

  test('agrees with a strict platform decoder on any bytes', () => {
    const tricky = fc.array(
      fc.constantFrom(0x41, 0x7f, 0x80, 0xbf, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xa0, 0x90, 0x8f),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(fc.oneof(tricky, fc.array(fc.nat(255), { maxLength: 6 })), (raw) => {
        let expected: string | undefined
        try {
          expected = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(raw))
        } catch {
          expected = undefined
        }
        expect(readFrom(raw, (from) => readUtf8(from, raw.length))).toBe(expected)
      }),
      { ...CHECKS, numRuns: 5000 },
    )
  })

  test('refuses a size above the maximum, or above the remaining bytes', () => {
    expect(readFrom([3, 0x41, 0x41, 0x41], (from) => readString(from, 2))).toBeUndefined()
    expect(readFrom([3, 0x41, 0x41, 0x41], (from) => readString(from, 3))).toBe('AAA')
    expect(readFrom([4, 0x41, 0x41, 0x41], (from) => readString(from))).toBeUndefined()
    expect(readFrom([0xff, 0xff, 0xff, 0xff, 0x7f], (from) => readString(from))).toBeUndefined()
    expect(() => writeString(writer, 'AAA', 2)).toThrow(InvariantError)
  })
})

describe('[BITS21] fixed strings', () => {
  test.each([
    [1, 1, 0],
    [16, 1, 15],
    [256, 1, 255],
    [257, 2, 255],
    [1000, 2, 998],
  ])('of %d bytes: %d of size, room for %d', (size, prefix, room) => {
    expect(fixedStringRoom(size)).toBe(room)
    for (const length of [0, room]) {
      writer.reset(bytes)
      writeFixedString(writer, 'x'.repeat(length), size)
      expect(writer.bitLength).toBe(size * 8)
      writer.finish()
      expect(Array.from(bytes.subarray(0, prefix))).toEqual(prefix === 1 ? [length] : [length & 255, length >> 8])
      reader.reset(bytes, 0, size)
      expect(readFixedString(reader, size)).toBe('x'.repeat(length))
      expect(reader.finish()).toBe(true)
    }
    expect(() => writeFixedString(writer, 'x'.repeat(room + 1), size)).toThrow(InvariantError)
  })

  test('refuses a size that does not fit, filling that is not zero, and malformed text', () => {
    expect(readFrom([2, 0x41, 0x42, 0], (from) => readFixedString(from, 4))).toBe('AB')
    expect(readFrom([4, 0x41, 0x42, 0x43], (from) => readFixedString(from, 4))).toBeUndefined()
    expect(readFrom([2, 0x41, 0x42, 1], (from) => readFixedString(from, 4))).toBeUndefined()
    expect(readFrom([1, 0x80, 0, 0], (from) => readFixedString(from, 4))).toBeUndefined()
    expect(readFrom([1, 0xc3, 0xa9, 0], (from) => readFixedString(from, 4))).toBeUndefined()
  })
})

describe('[BITS22] bytes', () => {
  test.each([0, 1, 3, 4, 127, 128, 1000])('%d of them are read back, at any alignment, in both forms', (count) => {
    const value = Uint8Array.from({ length: count }, (_, index) => (index * 31) & 255)
    for (let head = 0; head < 8; head++) {
      writer.reset(bytes)
      writer.writeBits(0, head)
      writeBytes(writer, value)
      expect(writer.bitLength).toBe(head + 8 * (count + (count < 128 ? 1 : 2)))
      const size = writer.finish()
      reader.reset(bytes, 0, size)
      reader.skipBits(head)
      expect(Array.from(readBytes(reader))).toEqual(Array.from(value))
      expect(reader.finish()).toBe(true)
      reader.reset(bytes, 0, size)
      reader.skipBits(head)
      const out = new Uint8Array(1100)
      expect(readBytesInto(reader, out, 7, 1000)).toBe(count)
      expect(Array.from(out.subarray(7, 7 + count))).toEqual(Array.from(value))
    }
  })

  test('refuses a count above the maximum, or above the remaining bytes', () => {
    expect(readFrom([3, 1, 2, 3], (from) => Array.from(readBytes(from, 2)))).toBeUndefined()
    expect(readFrom([4, 1, 2, 3], (from) => Array.from(readBytes(from)))).toBeUndefined()
    expect(readFrom([0xff, 0xff, 0xff, 0xff, 0x7f], (from) => readBytes(from, 2 ** 40))).toBeUndefined()
    expect(() => writeBytes(writer, new Uint8Array(3), 2)).toThrow(InvariantError)
    expect(() => readBytesInto(reader, new Uint8Array(3), 1, 3)).toThrow(InvariantError)
  })
})
