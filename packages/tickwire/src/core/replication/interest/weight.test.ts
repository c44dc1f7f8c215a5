import { expect, test } from 'vitest'
import { authorityFactor, distanceFactor } from './weight.ts'

test('[INT9] factors: nearer is more, one\'s own is more, and none is ever nothing', () => {
  const factors = [0, 1, 10, 60, 61, 600, 1e9, Infinity].map((distance) => distanceFactor(distance, 60))
  expect(factors[0]).toBe(1)
  expect(factors[3]).toBe(1 / 8)
  expect(factors).toEqual([...factors].sort((a, b) => b - a))
  expect(Math.min(...factors, distanceFactor(NaN, 60))).toBe(1 / 64)
  expect(distanceFactor(1000, Infinity)).toBe(1)
  expect(authorityFactor(true)).toBe(4)
  expect(authorityFactor(false)).toBe(1)
})

test('[INT9] staleness is the sum: of two that compete for one place each is told of in proportion to its weight', () => {
  const weights = [distanceFactor(0, 60) * 2, distanceFactor(60, 60)]
  const [sums, told] = [[0, 0], [0, 0]]
  for (let round = 0; round < 1700; round++) {
    weights.forEach((weight, at) => { sums[at]! += weight })
    const first = sums[0]! >= sums[1]! ? 0 : 1
    sums[first] = 0
    told[first]!++
  }
  expect(told[1]).toBeGreaterThan(90)
  expect(told[0]! / told[1]!).toBeCloseTo(16, -0.5)
})
