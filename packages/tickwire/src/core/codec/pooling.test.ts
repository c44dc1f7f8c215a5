import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prefixLengths } from '../bits/prefix-code.ts'
import { toShares } from './code-bank.ts'
import { cheapestWalk, roughCounts } from './pooling.ts'

test('[CODEC18] rough counts are powers of two, and their codes cost the bits of the counted symbols', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat({ max: 5000 }), fc.nat({ max: 3 }), fc.constant(0.01)), {
        minLength: 2,
        maxLength: 255,
      }),
      (counts) => {
        const rough = roughCounts(counts)
        expect(rough.every((each) => each === 0 || Number.isInteger(Math.log2(each)))).toBe(true)
        const bits = (lengths: ArrayLike<number>): number =>
          counts.reduce((sum, count, symbol) => sum + count * lengths[symbol]!, 0)
        const exact = bits(prefixLengths(toShares(counts)))
        expect(bits(prefixLengths(toShares(rough)))).toBeLessThanOrEqual(exact * 1.01 + 0.1)
      },
    ),
    { seed: 1, numRuns: 300 },
  )
})

test('[CODEC18] a walk over tables is the cheapest possible, changes included', () => {
  const places = fc.array(fc.array(fc.nat({ max: 30 }), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(places, fc.nat({ max: 20 }), (prices, changeBits) => {
      const costOf = (walk: readonly number[]): number =>
        walk.reduce(
          (sum, table, at) => sum + prices[at]![table]! + (at > 0 && walk[at - 1] !== table ? changeBits : 0),
          0,
        )
      const all = Array.from({ length: 3 ** prices.length }, (_, number) =>
        prices.map((_, at) => Math.floor(number / 3 ** at) % 3),
      )
      const walk = cheapestWalk(
        prices.map((each) => Float64Array.from(each)),
        changeBits,
      )
      expect(walk.length).toBe(prices.length)
      expect(costOf(walk)).toBe(Math.min(...all.map(costOf)))
    }),
    { seed: 1, numRuns: 200 },
  )
  expect(cheapestWalk([], 16)).toEqual([])
})
