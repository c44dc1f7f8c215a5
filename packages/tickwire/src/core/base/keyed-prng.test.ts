import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { avalanche, battery, SCORE_MAX, type Words } from '../../../../../test/reference/prng-battery.ts'
import { referenceKeyed } from '../../../../../test/reference/prng-reference.ts'
import { KeyedPrng, philox } from './keyed-prng.ts'

interface Vectors {
  keyed: { cases: { seed: number; tick: number; object: number; words: string }[] }
}
const vectors = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/prng.json', import.meta.url), 'utf8'),
) as Vectors
const hex = (word: number): string => word.toString(16).padStart(8, '0')
const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const word = fc.integer({ min: 0, max: 0xffff_ffff })

describe('the words', () => {
  test('[RNG5] are the golden ones', () => {
    for (const { seed, tick, object, words } of vectors.keyed.cases) {
      const prng = new KeyedPrng(seed).at(tick, object)
      expect(Array.from({ length: 16 }, () => hex(prng.nextU32())).join(' ')).toBe(words)
    }
  })
  test('[RNG5] are those published by the authors of Philox', () => {
    const out = new Uint32Array(4)
    philox(0, new Int32Array(3), new Int32Array(2), out)
    expect(Array.from(out, hex)).toEqual(['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8'])
    philox(-1, Int32Array.of(-1, -1, -1), Int32Array.of(-1, -1), out)
    expect(Array.from(out, hex)).toEqual(['408f276d', '41c83b0e', 'a20bc7c6', '6d5451fd'])
    philox(0x243f6a88, Int32Array.of(0x85a308d3, 0x13198a2e, 0x03707344), Int32Array.of(0xa4093822, 0x299f31d0), out)
    expect(Array.from(out, hex)).toEqual(['d16cfe09', '94fdcceb', '5001e420', '24126ea1'])
  })
  test('[RNG5] equal the slow twin at any place', () => {
    fc.assert(
      fc.property(whole, whole, word, word, (seed, tick, object, ordinal) => {
        const prng = new KeyedPrng(seed).at(tick, object, ordinal)
        expect(prng.nextU32()).toBe(referenceKeyed(seed, tick, object, ordinal))
      }),
      { seed: 1, numRuns: 1000 },
    )
  })
  test('[RNG5] do not depend on other draws, their objects or their order', () => {
    const alone = new KeyedPrng(3)
    const busy = new KeyedPrng(3)
    for (let object = 1; object <= 24; object++) {
      const mine = Array.from({ length: 3 }, (_, i) => alone.at(100, object, i * 2).nextFloat())
      for (let other = 24; other > 0; other--) busy.at(100, other).nextGaussian()
      busy.at(100, object)
      expect([busy.nextFloat(), busy.nextFloat(), busy.nextFloat()]).toEqual(mine)
    }
  })
  test('[RNG5] drawing continues from a remembered ordinal', () => {
    const prng = new KeyedPrng(3).at(7, 8)
    const words = Array.from({ length: 11 }, () => prng.nextU32())
    prng.at(7, 8)
    const first = Array.from({ length: 5 }, () => prng.nextU32())
    const { ordinal } = prng
    prng.at(9, 9).nextU32()
    prng.at(7, 8, ordinal)
    expect([...first, ...Array.from({ length: 6 }, () => prng.nextU32())]).toEqual(words)
  })
})

describe('quality', () => {
  const prng = new KeyedPrng(7)
  const along: Record<string, (i: number) => number> = {
    ordinal: () => prng.nextU32(),
    tick: (i) => prng.at(i, 3).nextU32(),
    object: (i) => prng.at(9, i).nextU32(),
    'one of 24 objects after the other, tick after tick': (i) => prng.at(Math.floor(i / 24), 1 + (i % 24)).nextU32(),
  }
  for (const [axis, at] of Object.entries(along)) {
    test(`[RNG6] neighbours are unrelated: ${axis}`, () => {
      prng.reseed(7)
      let i = 0
      const next: Words = () => at(i++)
      const scores = battery(next)
      for (const [name, score] of Object.entries(scores)) expect(Math.abs(score), name).toBeLessThan(SCORE_MAX)
    })
  }
  test('[RNG6] each bit of seed, tick, object and block flips each bit of the word half of the time', () => {
    const out = new Uint32Array(4)
    const words = (sample: number): Int32Array =>
      Int32Array.from({ length: 6 }, (_, i) => Math.imul(sample * 6 + i, 0x9e3779b9))
    const first = (w: Int32Array): number => {
      philox(w[0]!, w.subarray(1, 4), w.subarray(4), out)
      return out[0]!
    }
    const score = avalanche(192, 600, (sample, bit) => {
      const before = words(sample)
      const after = before.slice()
      after[bit >> 5]! ^= 1 << (bit & 31)
      return first(before) ^ first(after)
    })
    expect(score).toBeLessThan(SCORE_MAX)
  })
})
