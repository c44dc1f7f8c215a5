import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { differenceBits, foldDifference, readDifference, unfoldDifference, writeDifference } from './difference.ts'

const SEED = 1
const widths = fc.integer({ min: 0, max: 32 })

function bitsOf(folded: number, width: number): string {
  const writer = new BitWriter(new Uint8Array(8))
  writeDifference(writer, folded, width)
  writer.finish()
  return Array.from(writer.bytes, (byte) => byte.toString(2).padStart(8, '0')).join('').slice(0, writer.bitLength)
}

test('[CODEC6] a difference wraps, both ways', () => {
  fc.assert(fc.property(fc.oneof(fc.nat(300), fc.nat(2 ** 30 - 1)), fc.nat(), fc.nat(), (max, a, b) => {
    const [value, base] = [a % (max + 1), b % (max + 1)]
    const folded = foldDifference(value, base, max)
    expect(folded >>> 0).toBeLessThanOrEqual(max)
    expect(unfoldDifference(folded, base, max)).toBe(value)
  }), { seed: SEED, numRuns: 2000 })
  expect(foldDifference(0, 4095, 4095)).toBe(2)
  expect(foldDifference(4095, 0, 4095)).toBe(1)
})

test('[CODEC6] words of 32 bits wrap where int32 does', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), fc.constantFrom(-1, 0x7fff_ffff, 0x4000_0000), (value, base, max) => {
      expect(unfoldDifference(foldDifference(value, base, max), base, max)).toBe(value)
    }),
    { seed: SEED },
  )
})

test('[CODEC6] sizes: a third of the bits, 2 more, 4 more, all', () => {
  expect(bitsOf(0, 18)).toBe('0' + '000000')
  expect(bitsOf(63, 18)).toBe('0' + '111111')
  expect(bitsOf(64, 18)).toBe('10' + '00000000')
  expect(bitsOf(64 + 256, 18)).toBe('110' + '0000000000')
  expect(bitsOf(64 + 256 + 1024, 18)).toBe('111' + '000000010101000000')
  expect(bitsOf(5, 3)).toBe('101')
  expect(bitsOf(0, 0)).toBe('')
})

test('[CODEC6] a difference is read back, and a second encoding is refused', () => {
  fc.assert(fc.property(widths, fc.nat(2 ** 32 - 1), fc.nat(31), (width, number, keep) => {
    const folded = (width === 0 ? 0 : number >>> (32 - width)) >>> (keep % Math.max(1, width)) | 0
    const writer = new BitWriter(new Uint8Array(8))
    writeDifference(writer, folded, width)
    writer.finish()
    const reader = new BitReader(writer.bytes)
    expect(writer.bitLength).toBe(differenceBits(folded, width))
    expect(readDifference(reader, width) | 0).toBe(folded)
    expect(reader.bitPosition).toBe(writer.bitLength)
  }), { seed: SEED, numRuns: 2000 })
  const long = new BitWriter(new Uint8Array(8))
  long.writeBits(0b111, 3)
  long.writeBits(64 + 256 + 1023, 18)
  long.finish()
  const reader = new BitReader(long.bytes)
  readDifference(reader, 18)
  expect(reader.failed).toBe(true)
})
