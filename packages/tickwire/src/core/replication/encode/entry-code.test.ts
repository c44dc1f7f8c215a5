import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../bits/bit-reader.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import {
  KIND, NO_ENTRY, PLAIN_BITS_MAX, readAge, readKind, readHead, writeAge, writeGap, writeKind, writePlain,
} from './entry-code.ts'

const reader = (write: (out: BitWriter) => void): BitReader => {
  const out = new BitWriter(new Uint8Array(32))
  write(out)
  return new BitReader(out.bytes.slice(0, out.finish()))
}

describe('[REPL12] heads of entries are read back as they were written', () => {
  test.each([
    ['plain', writePlain, 1],
    ['not plain', writeGap, 0],
  ] as const)('steps that are %s', (_name, write, isPlain) => {
    const comesBack = (before: number, index: number): void => {
      let bits = 0
      const source = reader((out) => {
        write(out, index - before, index)
        bits = out.bitLength
      })
      expect(readHead(source, before)).toBe((index - before) * 2 + isPlain)
      expect(source.bitPosition).toBe(bits)
      expect(source.finish()).toBe(true)
      if (isPlain === 1) expect(bits).toBeLessThanOrEqual(PLAIN_BITS_MAX)
    }
    for (let gap = 1; gap < 600; gap++) comesBack(1000, 1000 + gap)
    fc.assert(
      fc.property(fc.integer({ min: -1, max: 65_534 }), fc.nat(65_535), (before, step) =>
        comesBack(before, Math.min(before + 1 + step, 65_535)),
      ),
      { numRuns: 2000, seed: 1 },
    )
    expect(
      readHead(
        reader(() => {}),
        5,
      ),
    ).toBe(NO_ENTRY)
  })

  test('a step past the last index, or in a longer encoding, is refused', () => {
    const read = (bits: number, count: number, before: number): readonly [number, boolean] => {
      const source = reader((out) => out.writeBits(bits, count))
      return [readHead(source, before), source.failed]
    }
    expect(read(0b1, 1, 65_535)).toEqual([NO_ENTRY, true])
    expect(read(0b01, 2, 65_534)).toEqual([NO_ENTRY, true])
    expect(read(0b0001_1, 5, 65_535)).toEqual([NO_ENTRY, true])
    expect(read(0xf_0000 | 278, 22, 0)).toEqual([NO_ENTRY, true])
    expect(read(0xf_0000 | 279, 22, 0)).toEqual([279 * 2 + 1, false])
    expect(read(0x10_0000 | 277, 24, 0)).toEqual([NO_ENTRY, true])
    expect(read(0x10_0000 | 278, 24, 0)).toEqual([278 * 2, false])
  })

  test('kinds and ages', () => {
    for (const kind of Object.values(KIND)) expect(readKind(reader((out) => writeKind(out, kind)))).toBe(kind)
    const none = reader((out) => out.writeBits(0, 6))
    readKind(none)
    expect(none.failed).toBe(true)
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 2 ** 40 })),
        fc.boolean(),
        (age, isRested) => {
          const source = reader((out) => writeAge(out, age, isRested))
          expect(readAge(source)).toBe(age)
          if (age > 1) expect(source.readBits(1)).toBe(isRested ? 1 : 0)
          expect(source.finish()).toBe(true)
        },
      ),
      { numRuns: 2000, seed: 1 },
    )
  })
})
