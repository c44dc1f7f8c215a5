import { expect, test } from 'vitest'
import { OriginTally } from './origin-tally.ts'

test('[ORIGIN8] S11: a count by origin also counts by /64, /56 and /48, and can be taken back', () => {
  const tally = new OriginTally(2, true)
  const take = (count: number, from: (index: number) => string): number =>
    Array.from({ length: count }, (_, index) => tally.take(from(index))).filter(Boolean).length
  expect(take(5, () => '203.0.113.7')).toBe(2)
  expect(take(5, () => '2001:db8:1:1::7')).toBe(2)
  expect(take(256, (index) => `2001:db8:1:${index.toString(16)}::7`)).toBe(6)
  expect(take(65_536, (index) => `2001:db8:1:${index.toString(16)}::7`)).toBe(24)
  expect(tally.total).toBe(34)
  for (let left = tally.countOf('2001:db8:1:1::7'); left > 0; left--) tally.release('2001:db8:1:1::7')
  expect([tally.total, tally.take('2001:db8:1:1::7')]).toEqual([32, true])
})
