import { expect, test } from 'vitest'
import { CatchUpPace } from './catch-up-pace.ts'

test('[REJOIN12] slow steps take 80 percent of the time, and fast ones at most 30 ticks a draw', () => {
  for (const stepMs of [0.1, 0.5, 2]) {
    const pace = new CatchUpPace()
    let [now, ticks, busyMs] = [0, 0, 0]
    while (now < 1000) {
      now = Math.max(now, pace.restUntil)
      pace.note(30, now, now + 30 * stepMs, true)
      now += 30 * stepMs
      busyMs += 30 * stepMs
      ticks += 30
    }
    expect(busyMs / now, `${stepMs} ms a step`).toBeLessThanOrEqual(0.82)
    expect(ticks / now * 1000, `${stepMs} ms a step`).toBeLessThanOrEqual(30 * 61)
  }
})

test('[REJOIN12] a client that is not behind never rests', () => {
  const pace = new CatchUpPace()
  pace.note(30, 0, 50, false)
  pace.note(1, 50, 60, true)
  expect(pace.restUntil).toBe(-Infinity)
})
