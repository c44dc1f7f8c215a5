import { expect, test } from 'vitest'
import { GuessLimit } from './guess-limit.ts'
import { ORIGIN_LIMITS } from './origin-limits.ts'

const entropy = { fill: (bytes: Uint8Array): void => void bytes.fill(0x5a) }

test('[ROOM16] an origin may guess ten passwords at once, then one in ten seconds, and other origins are free', () => {
  const limit = new GuessLimit(ORIGIN_LIMITS, entropy)
  const guesses = (now: number, ip = '203.0.113.7'): number =>
    Array.from({ length: 100 }, (_, index) => limit.mayGuess(now, `${ip}:${1000 + index}`)).filter(Boolean).length
  expect(guesses(0)).toBe(10)
  expect(guesses(9_900)).toBe(0)
  expect(guesses(20_000), 'refused guesses cost nothing').toBe(2)
  expect(guesses(20_000, '203.0.113.8')).toBe(10)
  expect(guesses(3_600_000), 'a bucket holds ten').toBe(10)
  expect(guesses(0, '192.168.1.2'), 'the local network is exempt').toBe(100)
})
