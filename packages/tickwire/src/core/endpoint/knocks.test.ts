import { expect, test } from 'vitest'
import { CHALLENGES_PER_SECOND, KNOCK_MS_MAX, KNOCK_MS_MIN } from '../base/limits.ts'
import { Knocks } from './knocks.ts'

const entropy = { fill: (bytes: Uint8Array): void => void bytes.fill(0x5a) }

/** As many strangers at once as are answered. */
function flood(knocks: Knocks, now: number): void {
  for (let index = 0; index < CHALLENGES_PER_SECOND; index++) knocks.take(now, `${now}:${index}`)
}

test('[SEC13] a thousand requests a second are answered at once, and so are all once the flood is over', () => {
  const knocks = new Knocks(entropy)
  for (let index = 0; index < CHALLENGES_PER_SECOND; index++) expect(knocks.take(5, `a${index}`)).toBe(true)
  expect(knocks.take(5, 'late')).toBe(false)
  expect(knocks.take(7, 'later')).toBe(true)
})

test('[SEC13] above that rate, a client that repeats within two seconds is answered, at most ten a second', () => {
  const knocks = new Knocks(entropy)
  const isAnswered = (now: number, address: string): boolean => {
    flood(knocks, now)
    return knocks.take(now, address)
  }
  expect(isAnswered(5, 'b')).toBe(false)
  expect(isAnswered(5 + KNOCK_MS_MIN - 1, 'b'), 'too soon').toBe(false)
  expect(isAnswered(225, 'd'), 'another address').toBe(false)
  expect(isAnswered(225, 'b')).toBe(true)
  expect(isAnswered(225, 'b'), 'at once again').toBe(false)
  expect(isAnswered(225 + KNOCK_MS_MAX + 1, 'b'), 'long ago').toBe(false)
})

test('[SEC13] at 50,000 new addresses a second 1000 are answered; honest clients get in within four tries', () => {
  const knocks = new Knocks(entropy)
  const tries: number[] = []
  let strangers = 0
  let honest = 0
  for (let now = 0, index = 0; now < 20_000; now++) {
    for (let each = 0; each < 50; each++, index++)
      if (knocks.take(now, `9.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}:9`)) strangers++
    if (now % 225 !== 0) continue
    tries[honest] = (tries[honest] ?? 0) + 1
    if (knocks.take(now, `1.2.3.4:${honest}`)) honest++
  }
  expect(strangers).toBeLessThanOrEqual(22 * CHALLENGES_PER_SECOND)
  expect(Math.max(...tries), tries.join()).toBeLessThanOrEqual(4)
  expect(honest).toBeGreaterThan(30)
})
