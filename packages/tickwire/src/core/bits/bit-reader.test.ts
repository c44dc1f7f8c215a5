import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { BitReader } from './bit-reader.ts'

const CHECKS = { seed: 22, numRuns: 500 }

/** `count` bits from bit `from` as a number, bit by bit. */
function slowRead(bytes: Uint8Array, from: number, count: number): number {
  let value = 0
  for (let bit = from; bit < from + count; bit++) value = value * 2 + ((bytes[bit >> 3]! >> (7 - (bit & 7))) & 1)
  return value
}

const range = fc.uint8Array({ maxLength: 24 }).chain((bytes) => fc.nat(bytes.length * 8)
  .chain((offset) => fc.nat(bytes.length * 8 - offset).map((count) => ({ bytes, offset, count }))))

describe('[BITS5] a range of bits', () => {
  test('is the same, read by whole bytes or by eight bits at a time', () => {
    fc.assert(fc.property(range, fc.nat(24), fc.nat(3), ({ bytes, offset, count }, length, at) => {
      const [slow, fast] = [new BitReader(bytes), new BitReader(bytes)]
      slow.resetBits(bytes, offset, count)
      fast.resetBits(bytes, offset, count)
      const out = new Uint8Array(32)
      fast.readBytes(out, at, length)
      expect(fast.failed).toBe(length * 8 > count)
      if (fast.failed) return
      for (let index = 0; index < 32; index++) {
        expect(out[index]).toBe(index >= at && index < at + length ? slow.readBits(8) : 0)
      }
      expect(fast.bitPosition).toBe(slow.bitPosition)
    }), CHECKS)
  })

  test('is read exactly, peeked without moving, and nothing past it', () => {
    fc.assert(
      fc.property(
        range,
        fc.array(fc.integer({ min: 0, max: 32 }), { maxLength: 20 }),
        ({ bytes, offset, count }, widths) => {
          const reader = new BitReader(bytes)
          reader.resetBits(bytes, offset, count)
          let at = offset
          for (const width of widths) {
            expect(reader.bitPosition).toBe(at)
            expect(reader.bitsLeft).toBe(offset + count - at)
            const there = Math.min(width, offset + count - at)
            expect(reader.peekBits(width)).toBe(slowRead(bytes, at, there) * 2 ** (width - there))
            expect(reader.failed).toBe(false)
            const isPast = at + width > offset + count
            expect(reader.readBits(width)).toBe(isPast ? 0 : slowRead(bytes, at, width))
            expect(reader.failed).toBe(isPast)
            if (isPast) break
            at += width
          }
          if (!reader.failed) return
          expect(reader.bitsLeft).toBe(0)
          for (const width of widths) expect(reader.readBits(width)).toBe(0)
          for (const width of widths) expect(reader.peekBits(width)).toBe(0)
          expect(reader.finish()).toBe(false)
        },
      ),
      CHECKS,
    )
  })

  test('skipping past it fails, skipping to its end does not', () => {
    const reader = new BitReader(Uint8Array.of(1, 2))
    reader.skipBits(16)
    expect(reader.failed).toBe(false)
    reader.skipBits(1)
    expect(reader.failed).toBe(true)
  })

  test('a second reader may start at the position of a first', () => {
    const bytes = Uint8Array.of(0xab, 0xcd, 0xef)
    const reader = new BitReader(bytes)
    reader.reset(bytes, 1)
    reader.skipBits(4)
    const other = new BitReader(bytes)
    other.resetBits(bytes, reader.bitPosition, 8)
    expect(other.readBits(8)).toBe(0xde)
  })

  test('a reader that a decoder has refused stays refused until reset', () => {
    const bytes = Uint8Array.of(0xff, 0xff)
    const reader = new BitReader(bytes)
    reader.fail()
    expect(reader.readBits(1)).toBe(0)
    expect(reader.failed).toBe(true)
    reader.reset(bytes)
    expect(reader.readBits(1)).toBe(1)
  })

  test('a range outside its bytes is a bug of the caller', () => {
    const reader = new BitReader(new Uint8Array(4))
    expect(() => reader.reset(new Uint8Array(4), 3, 2)).toThrow(InvariantError)
    expect(() => reader.resetBits(new Uint8Array(4), 30, 3)).toThrow(InvariantError)
  })
})

describe('[BITS6] the remaining bits', () => {
  test('are accepted as the padding of the last byte', () => {
    const reader = new BitReader(Uint8Array.of(0xff, 0x80))
    reader.skipBits(9)
    expect(reader.finish()).toBe(true)
  })

  test.each([
    ['not all zero', Uint8Array.of(0xff, 0x81), 9],
    ['a whole byte', Uint8Array.of(0xff, 0x00), 8],
    ['more than a byte', Uint8Array.of(0xff, 0x00), 7],
  ])('are refused when they are %s', (_, bytes, read) => {
    const reader = new BitReader(bytes)
    reader.skipBits(read)
    expect(reader.finish()).toBe(false)
    expect(reader.failed).toBe(true)
  })
})

test('[BITS2] 32 bits are read back as an unsigned integer', () => {
  const reader = new BitReader(new Uint8Array(9).fill(255))
  expect(reader.readBits(32)).toBe(2 ** 32 - 1)
  reader.skipBits(5)
  expect(reader.readBits(32)).toBe(2 ** 32 - 1)
})
