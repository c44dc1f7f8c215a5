import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { KIND, NO_GAP, readAge, readGap, readKind, writeAge, writeGap, writeKind } from './entry-code.ts'

const reader = (write: (out: BitWriter) => void): BitReader => {
  const out = new BitWriter(new Uint8Array(32))
  write(out)
  return new BitReader(out.bytes.slice(0, out.finish()))
}

describe('[REPL12] heads of entries come back as they were written', () => {
  test('gaps', () => {
    fc.assert(fc.property(fc.integer({ min: -1, max: 65_534 }), fc.nat(65_535), (before, step) => {
      const index = Math.min(before + 1 + step, 65_535)
      const source = reader((out) => writeGap(out, index - before, index))
      expect(readGap(source, before)).toBe(index - before)
      expect(source.finish()).toBe(true)
    }), { numRuns: 2000, seed: 1 })
    expect(readGap(reader(() => {}), 5)).toBe(NO_GAP)
  })

  test('a gap past the last index, or spelt at length, is nonsense', () => {
    const past = reader((out) => out.writeBits(1, 1))
    expect([readGap(past, 65_535), past.failed]).toEqual([NO_GAP, true])
    const long = reader((out) => out.writeBits(0x1_0000 | 277, 21))
    expect([readGap(long, 0), long.failed]).toEqual([NO_GAP, true])
    const least = reader((out) => out.writeBits(0x1_0000 | 278, 21))
    expect([readGap(least, 0), least.failed]).toEqual([278, false])
  })

  test('kinds and ages', () => {
    for (const kind of Object.values(KIND)) expect(readKind(reader((out) => writeKind(out, kind)))).toBe(kind)
    const none = reader((out) => out.writeBits(0, 6))
    readKind(none)
    expect(none.failed).toBe(true)
    fc.assert(fc.property(fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 2 ** 40 })), fc.boolean(), (age, isRested) => {
      const source = reader((out) => writeAge(out, age, isRested))
      expect(readAge(source)).toBe(age)
      if (age > 1) expect(source.readBits(1)).toBe(isRested ? 1 : 0)
      expect(source.finish()).toBe(true)
    }), { numRuns: 2000, seed: 1 })
  })
})
