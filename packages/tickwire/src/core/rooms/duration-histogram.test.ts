import { expect, test } from 'vitest'
import { DurationHistogram } from './duration-histogram.ts'

test('[OPS1] percentiles of durations lie within an eighth of the truth, from a microsecond to an hour', () => {
  const histogram = new DurationHistogram()
  expect([histogram.percentileMs(0.99), histogram.count]).toEqual([0, 0])
  const all: number[] = []
  for (let index = 1; index <= 10_000; index++) {
    const ms = index * index / 1000
    all.push(ms)
    histogram.record(ms)
  }
  for (const share of [0.1, 0.5, 0.9, 0.99, 0.999]) {
    const truth = all[Math.ceil(all.length * share) - 1]!
    const measured = histogram.percentileMs(share)
    expect(measured / truth).toBeGreaterThanOrEqual(0.999)
    expect(measured / truth).toBeLessThanOrEqual(1.126)
  }
  expect([histogram.count, histogram.maxMs]).toEqual([10_000, 100_000])
  histogram.reset()
  for (const odd of [0, -1, 1e12, 0.0001]) histogram.record(odd)
  expect(histogram.count).toBe(4)
})
