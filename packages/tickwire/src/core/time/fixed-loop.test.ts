import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CATCH_UP_TICKS_MAX } from '../base/limits.ts'
import { FixedLoop } from './fixed-loop.ts'

describe('fixed loop', () => {
  test('[TIME1] uneven calls give exactly floor(elapsed x rate) ticks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 128 }),
        fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { maxLength: 200 }),
        fc.nat(1e6),
        (tickRate, gaps, start) => {
          const loop = new FixedLoop(tickRate)
          let now = start
          let ticks = loop.due(now)
          for (const gap of gaps) ticks += loop.due((now += gap))
          const exact = ((now - start) * tickRate) / 1000
          expect(ticks + loop.skippedTicks).toBeGreaterThanOrEqual(Math.floor(exact - 1e-6))
          expect(ticks + loop.skippedTicks).toBeLessThanOrEqual(Math.floor(exact + 1e-6))
        },
      ),
    )
  })

  test('[TIME1] a tick is due at the moment nextAt names, and not before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (tickRate, start) => {
          const loop = new FixedLoop(tickRate)
          expect(loop.due(start)).toBe(0)
          for (let tick = 0; tick < 20; tick++) {
            const at = loop.nextAt()
            expect(loop.due(at - 0.01)).toBe(0)
            expect(loop.due(at)).toBe(1)
          }
        },
      ),
    )
  })

  test('[TIME2] a host that slept runs a few ticks and counts the rest as skipped', () => {
    const loop = new FixedLoop(60)
    loop.due(0)
    expect(loop.due(30_000)).toBe(CATCH_UP_TICKS_MAX)
    expect(loop.skippedTicks).toBe(1800 - CATCH_UP_TICKS_MAX)
    expect(loop.due(30_000)).toBe(0)
    expect(loop.due(30_017)).toBe(1)
  })

  test('[TIME3] alpha says how far the current tick has gone, from 0 to just below 1', () => {
    const loop = new FixedLoop(50)
    expect(loop.alpha(5)).toBe(0)
    loop.due(100)
    expect(loop.alpha(110)).toBeCloseTo(0.5)
    expect(loop.alpha(119.9999)).toBeLessThan(1)
    expect(loop.alpha(500)).toBeLessThan(1)
    loop.due(120)
    expect(loop.alpha(120)).toBeCloseTo(0)
  })

  test('[TIME2] a clock that goes back runs nothing twice', () => {
    const loop = new FixedLoop(60)
    loop.due(1000)
    const ran = loop.due(1100)
    expect(loop.due(1050)).toBe(0)
    expect(loop.due(1100)).toBe(0)
    expect(ran).toBe(6)
  })
})
