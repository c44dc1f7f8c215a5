import { describe, expect, test } from 'vitest'
import { InboundLimit } from './inbound-limit.ts'

/** Counts the verdicts on `count` packets, `gapMs` apart. */
function flood(
  limit: InboundLimit,
  from: number,
  count: number,
  gapMs: number,
): Record<'ok' | 'flood' | 'flooding', number> {
  const tally = { ok: 0, flood: 0, flooding: 0 }
  for (let index = 0; index < count; index++) tally[limit.take(from + index * gapMs)]++
  return tally
}

describe('inbound limit', () => {
  test('[FLOOD1] three times the expected rate is accepted for any time; more is dropped to that', () => {
    expect(flood(new InboundLimit(60), 0, 10_000, 1000 / 180)).toEqual({ ok: 10_000, flood: 0, flooding: 0 })
    const tally = flood(new InboundLimit(60), 0, 500 * 60, 1000 / 500)
    expect(tally.flooding).toBe(0)
    // 60 seconds, and the second's worth that may come at once.
    expect(tally.ok).toBeGreaterThanOrEqual(180 * 61 - 2)
    expect(tally.ok).toBeLessThanOrEqual(180 * 61 + 1)
  })

  test("[FLOOD1] a second's worth may arrive at once, again and again", () => {
    const limit = new InboundLimit(60)
    // One fewer: thirds do not add up to a whole.
    for (let second = 0; second < 20; second++) {
      expect(flood(limit, second * 1000, 179, 0)).toEqual({ ok: 179, flood: 0, flooding: 0 })
    }
    flood(limit, 19_000, 1, 0)
    expect(limit.take(19_000)).toBe('flood')
    expect(limit.take(19_012)).toBe('ok')
  })

  test('[FLOOD2] above ten times the expected rate the connection is closed', () => {
    expect(flood(new InboundLimit(60), 0, 600 * 60, 1000 / 600).flooding).toBe(0)
    const tally = flood(new InboundLimit(60), 0, 1000, 0)
    expect(tally.ok).toBeLessThanOrEqual(180)
    expect(tally.flooding).toBeGreaterThanOrEqual(400)
    expect(tally.flooding).toBeLessThan(403)
  })

  test('[FLOOD1] without an expected rate nothing is counted', () => {
    expect(flood(new InboundLimit(Infinity), 0, 100_000, 0).ok).toBe(100_000)
  })
})
