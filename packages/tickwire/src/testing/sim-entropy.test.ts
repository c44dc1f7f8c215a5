import { expect, test } from 'vitest'
import { Dice } from './sim-entropy.ts'

test('the same seed gives the same bytes, another seed others', () => {
  const bytesOf = (seed: number): Uint8Array => {
    const bytes = new Uint8Array(64)
    new Dice(seed).fill(bytes)
    return bytes
  }
  expect(bytesOf(7)).toEqual(bytesOf(7))
  expect(bytesOf(7)).not.toEqual(bytesOf(8))
  expect(new Set(bytesOf(7)).size).toBeGreaterThan(40)
})

test('chance is true as often as given, and 0 and 1 are never and always', () => {
  const dice = new Dice(1)
  const hits = (probability: number): number =>
    Array.from({ length: 10_000 }, () => dice.chance(probability)).filter(Boolean).length
  expect(hits(0)).toBe(0)
  expect(hits(1)).toBe(10_000)
  expect(hits(0.3)).toBeGreaterThan(2800)
  expect(hits(0.3)).toBeLessThan(3200)
})
