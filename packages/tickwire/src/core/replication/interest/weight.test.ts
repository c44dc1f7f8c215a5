import { expect, test } from 'vitest'
import { authorityFactor, distanceFactor } from './weight.ts'

test('[INT9] factors: nearer is more, an own object is more, and no factor is ever zero', () => {
  const factors = [0, 1, 10, 60, 61, 600, 1e9, Infinity].map((distance) => distanceFactor(distance, 60))
  expect(factors[0]).toBe(1)
  expect(factors[3]).toBe(1 / 8)
  expect(factors).toEqual([...factors].sort((a, b) => b - a))
  expect(Math.min(...factors, distanceFactor(NaN, 60))).toBe(1 / 64)
  expect(distanceFactor(1000, Infinity)).toBe(1)
  expect(authorityFactor(true)).toBe(4)
  expect(authorityFactor(false)).toBe(1)
})

test('[INT9] staleness adds up: two objects that compete for one place are sent in proportion to weight', () => {
  const weights = [distanceFactor(0, 60) * 2, distanceFactor(60, 60)]
  const [sums, sent] = [[0, 0], [0, 0]]
  for (let round = 0; round < 1700; round++) {
    weights.forEach((weight, at) => { sums[at]! += weight })
    const first = sums[0]! >= sums[1]! ? 0 : 1
    sums[first] = 0
    sent[first]!++
  }
  expect(sent[1]).toBeGreaterThan(90)
  expect(sent[0]! / sent[1]!).toBeCloseTo(16, -0.5)
})
