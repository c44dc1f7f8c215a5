import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'
import { BitWriter } from './bit-writer.ts'

const CHECKS = { seed: 21, numRuns: 500 }
const UNTOUCHED = 0xa5

const field = fc.tuple(fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 32 }))

/** The bits of a byte range as text, bit by bit. */
function text(bytes: Uint8Array, bits: number = bytes.length * 8, from = 0): string {
  return Array.from(
    { length: bits },
    (_, index) => (bytes[(from + index) >> 3]! >> (7 - ((from + index) & 7))) & 1,
  ).join('')
}

function fieldText(value: number, width: number): string {
  return width === 0 ? '' : BigInt.asUintN(width, BigInt(value)).toString(2).padStart(width, '0')
}

test('[BITS1] fields of 3, 10 and 1 bits are the bits that bit-writer.ts draws', () => {
  const bytes = new Uint8Array(2)
  const writer = new BitWriter(bytes)
  writer.writeBits(0b101, 3)
  writer.writeBits(0x3ff, 10)
  writer.writeBits(0, 1)
  expect(writer.bitLength).toBe(14)
  expect(writer.finish()).toBe(2)
  expect(text(bytes)).toBe('1011111111111000')
})

test('[BITS2] of any value, signed or not, the low bits are written', () => {
  fc.assert(fc.property(fc.array(field, { maxLength: 60 }), (fields) => {
    const bytes = new Uint8Array(240).fill(UNTOUCHED)
    const writer = new BitWriter(bytes)
    for (const [value, width] of fields) writer.writeBits(value, width)
    const expected = fields.map(([value, width]) => fieldText(value, width)).join('')
    const used = writer.finish()
    expect(used).toBe(Math.ceil(expected.length / 8))
    expect(text(bytes, writer.bitLength)).toBe(expected)
  }), CHECKS)
})

describe('[BITS4] a write past the end', () => {
  test('writes nothing, and no later write does', () => {
    const bytes = new Uint8Array(2)
    const writer = new BitWriter(bytes)
    writer.writeBits(0x1ff, 9)
    expect(writer.bitsLeft).toBe(7)
    writer.writeBits(0xff, 8)
    expect(writer.failed).toBe(true)
    expect(writer.bitLength).toBe(9)
    expect(writer.bitsLeft).toBe(0)
    writer.writeBits(1, 1)
    writer.copyBits(bytes, 0, 1)
    expect(writer.bitLength).toBe(9)
    writer.finish()
    expect(text(bytes)).toBe('1111111110000000')
  })

  test('changes no byte outside the window, wherever it lies in the buffer', () => {
    const windows = fc.record({ base: fc.nat(7), offset: fc.nat(9), length: fc.nat(21), after: fc.nat(9) })
    fc.assert(fc.property(windows, fc.array(field, { maxLength: 40 }), ({ base, offset, length, after }, fields) => {
      const buffer = new Uint8Array(base + offset + length + after).fill(UNTOUCHED)
      const writer = new BitWriter(new Uint8Array(0))
      writer.reset(buffer.subarray(base), offset, length)
      let expected = ''
      for (const [value, width] of fields) {
        const bits = fieldText(value, width)
        if (!writer.failed && expected.length + width <= length * 8) expected += bits
        writer.writeBits(value, width)
      }
      writer.finish()
      expect(text(buffer, expected.length, (base + offset) * 8)).toBe(expected)
      expect(buffer.subarray(0, base + offset).every((byte) => byte === UNTOUCHED)).toBe(true)
      expect(buffer.subarray(base + offset + length).every((byte) => byte === UNTOUCHED)).toBe(true)
    }), CHECKS)
  })

  test('a window outside its bytes is a bug of the caller', () => {
    const writer = new BitWriter(new Uint8Array(4))
    expect(() => writer.reset(new Uint8Array(4), 2, 3)).toThrow(InvariantError)
    expect(() => writer.reset(new Uint8Array(4), 5)).toThrow(InvariantError)
    expect(() => writer.copyBits(new Uint8Array(1), 1, 8)).toThrow(InvariantError)
    expect(() => writer.rewind(1)).toThrow(InvariantError)
  })
})

describe('[BITS7] the same bits as from single-bit writes', () => {
  test('for copies of any alignment and length', () => {
    const source = Uint8Array.from({ length: 40 }, (_, index) => (index * 151 + 17) & 255)
    const copy = fc.nat(320).chain((from) => fc.tuple(fc.constant(from), fc.nat(320 - from)))
    fc.assert(fc.property(fc.array(fc.tuple(field, copy), { maxLength: 8 }), (steps) => {
      const bytes = new Uint8Array(400)
      const writer = new BitWriter(bytes)
      let expected = ''
      for (const [[value, width], [from, count]] of steps) {
        writer.writeBits(value, width)
        writer.copyBits(source, from, count)
        expected += fieldText(value, width) + text(source, count, from)
      }
      writer.finish()
      expect(writer.failed).toBe(false)
      expect(text(bytes, writer.bitLength)).toBe(expected)
    }), CHECKS)
  })

  test('for copies of bits of words, from any place', () => {
    const bytesOfWords = Uint8Array.from({ length: 52 }, (_, index) => (index * 151 + 17) & 255)
    const view = new DataView(bytesOfWords.buffer)
    const words = Int32Array.from({ length: 13 }, (_, index) => view.getInt32(index * 4))
    // One word before the copied words, and two after them.
    const copy = fc.integer({ min: 32, max: 352 }).chain((at) => fc.tuple(fc.constant(at), fc.nat(352 - at)))
    fc.assert(fc.property(fc.array(fc.tuple(field, copy), { maxLength: 8 }), (steps) => {
      const bytes = new Uint8Array(800)
      const writer = new BitWriter(bytes)
      let expected = ''
      for (const [[value, width], [at, count]] of steps) {
        writer.writeBits(value, width)
        writer.copyWordBits(words, at, count)
        expected += fieldText(value, width) + text(bytesOfWords, count, at)
        if (width === 0 || width === 32) continue
        writer.copyWordBitsAfter(value, width, words, at, count)
        expected += fieldText(value, width) + text(bytesOfWords, count, at)
      }
      writer.finish()
      expect(writer.failed).toBe(false)
      expect(text(bytes, writer.bitLength)).toBe(expected)
    }), CHECKS)
  })

  test('for copies of bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.uint8Array({ maxLength: 30 }), field), { maxLength: 6 }), (steps) => {
        const writer = new BitWriter(new Uint8Array(700))
        writer.reset(writer.bytes, 5)
        let expected = ''
        for (const [zeros, bytes, [value, width]] of steps) {
          for (let byte = 0; byte < zeros; byte++) writer.writeBits(0xa5, 8)
          writer.copyBytes(bytes)
          writer.writeBits(value, width)
          const filler = -width & 7
          writer.writeBits(0, filler)
          expected +=
            fieldText(0xa5, 8).repeat(zeros)
            + text(bytes, bytes.length * 8)
            + fieldText(value, width)
            + '0'.repeat(filler)
        }
        writer.finish()
        expect(writer.failed).toBe(false)
        expect(text(writer.bytes, writer.bitLength, 40)).toBe(expected)
      }),
      CHECKS,
    )
    const small = new BitWriter(new Uint8Array(4))
    small.writeBits(1, 8)
    small.copyBytes(new Uint8Array(4))
    expect([small.failed, small.bitLength]).toEqual([true, 8])
  })

  test('what was written is taken as words, from any byte on', () => {
    fc.assert(fc.property(fc.array(field, { maxLength: 20 }), fc.nat(9), (fields, from) => {
      const writer = new BitWriter(new Uint8Array(120))
      writer.reset(writer.bytes, 3)
      for (const [value, width] of fields) writer.writeBits(value, width)
      if (from * 8 > writer.bitLength) return
      const words = new Int32Array(40)
      writer.takeWords(words, 1, from)
      const again = new BitWriter(new Uint8Array(120))
      again.copyWordBits(words, 32, writer.bitLength - from * 8)
      again.finish()
      expect(text(again.bytes, again.bitLength)).toBe(text(writer.bytes, writer.bitLength - from * 8, 24 + from * 8))
    }), CHECKS)
  })

  test('a copy that does not fit copies nothing', () => {
    const late = new BitWriter(new Uint8Array(8))
    late.writeBits(1, 1)
    late.copyWordBits(new Int32Array(5), 32, 64)
    expect([late.failed, late.bitLength]).toEqual([true, 1])
    late.rewind(1)
    late.copyWordBitsAfter(3, 2, new Int32Array(5), 32, 62)
    expect([late.failed, late.bitLength]).toEqual([true, 1])
    late.rewind(1)
    late.copyWordBitsAfter(3, 2, new Int32Array(5), 32, 61)
    expect([late.failed, late.bitLength, late.bytes[0]]).toEqual([false, 64, 0xe0])

    const bytes = new Uint8Array(8)
    const writer = new BitWriter(bytes)
    writer.writeBits(1, 1)
    writer.copyBits(new Uint8Array(8).fill(255), 0, 64)
    expect(writer.failed).toBe(true)
    expect(writer.bitLength).toBe(1)
  })

  test('for rewinding, finishing and writing on, in any order', () => {
    const step = fc.oneof(
      field.map(([value, width]) => ({ kind: 'write' as const, value, width })),
      fc.nat(100).map((percent) => ({ kind: 'rewind' as const, percent })),
      fc.constant({ kind: 'finish' as const }),
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (steps, size) => {
      const bytes = new Uint8Array(size).fill(UNTOUCHED)
      const writer = new BitWriter(bytes)
      let expected = ''
      let failed = false
      for (const one of steps) {
        if (one.kind === 'write') {
          const bits = fieldText(one.value, one.width)
          if (!failed && expected.length + bits.length > size * 8) failed = true
          if (!failed) expected += bits
          writer.writeBits(one.value, one.width)
        } else if (one.kind === 'rewind') {
          const target = Math.floor((expected.length * one.percent) / 100)
          expected = expected.slice(0, target)
          failed = false
          writer.rewind(target)
        } else {
          const used = writer.finish()
          expect(text(bytes, used * 8)).toBe(expected.padEnd(used * 8, '0'))
        }
        expect(writer.failed).toBe(failed)
        expect(writer.bitLength).toBe(expected.length)
        expect(writer.bitsLeft).toBe(failed ? 0 : size * 8 - expected.length)
      }
      writer.finish()
      expect(text(bytes, expected.length)).toBe(expected)
    }), CHECKS)
  })
})

test('[BITS6] finish pads with zeros, whatever the byte contained before', () => {
  const bytes = new Uint8Array(5).fill(0xff)
  const writer = new BitWriter(bytes)
  writer.writeBits(0x1_ffff, 17)
  expect(writer.finish()).toBe(3)
  expect(text(bytes.subarray(0, 3))).toBe('1'.repeat(17) + '0'.repeat(7))
  const reader = new BitReader(bytes)
  reader.reset(bytes, 0, 3)
  reader.skipBits(17)
  expect(reader.finish()).toBe(true)
})
