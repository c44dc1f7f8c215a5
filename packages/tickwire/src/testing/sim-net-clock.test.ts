import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyedPrng } from '../core/base/keyed-prng.ts'
import { SkewedClock } from './sim-net-clock.ts'
import type { NetWeather } from './weather.ts'

function clockIn(weather: NetWeather, seed: number = 1, key: number = 16): SkewedClock {
  const clock = new SkewedClock(new KeyedPrng(seed), key)
  clock.setWeather(0, weather)
  return clock
}

describe('a node\'s clock', () => {
  test('[NET20] without weather it is true time', () => {
    const clock = clockIn({})
    for (const now of [0, 0.5, 17, 1e9]) {
      expect(clock.localAt(now)).toBe(now)
      expect(clock.trueAt(now)).toBe(now)
      expect(clock.wakeAt(now)).toBe(now)
      expect(clock.isAwake(now)).toBe(true)
    }
    expect(clock.trueAt(Infinity)).toBe(Infinity)
  })

  test('[NET20] skew: fast or slow by up to the given millionths, each node by its own', () => {
    const rates = Array.from(
      { length: 400 },
      (_, node) => clockIn({ skew: { ppm: 500 } }, 1, node * 16).localAt(1_000_000) - 1_000_000,
    )
    expect(Math.max(...rates)).toBeLessThanOrEqual(500)
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(-500)
    expect(Math.max(...rates)).toBeGreaterThan(450)
    expect(Math.min(...rates)).toBeLessThan(-450)
    expect(new Set(rates).size).toBe(400)
  })

  test('[NET20] jumps: only ahead, about as often as given, never further than given', () => {
    const clock = clockIn({ jumps: { everyMs: 1000, ms: 300 } })
    const leaps: number[] = []
    let before = 0
    for (let now = 0.25; now <= 1_000_000; now += 0.25) {
      const local = clock.localAt(now)
      leaps.push(local - before - 0.25)
      before = local
    }
    expect(leaps.reduce((least, leap) => Math.min(least, leap))).toBeGreaterThan(-1e-6)
    // Two jumps within a quarter of a millisecond are seen as one.
    expect(leaps.reduce((most, leap) => Math.max(most, leap))).toBeLessThan(600)
    expect(clock.tally.jumps).toBeGreaterThan(900)
    expect(clock.tally.jumps).toBeLessThan(1100)
    expect(leaps.filter((leap) => leap > 1e-6).length).toBeGreaterThan(850)
    // Uniform up to 300: the mean is half of it.
    expect((before - 1_000_000) / clock.tally.jumps).toBeGreaterThan(135)
    expect((before - 1_000_000) / clock.tally.jumps).toBeLessThan(165)
  })

  test('[NET20] sleeps: the clock stands still and the node does not run; pauses: the clock runs on', () => {
    const asleep = clockIn({ sleeps: { everyMs: 1000, lastsMs: 2000 } })
    const paused = clockIn({ pauses: { everyMs: 1000, lastsMs: 2000 } })
    let [sleptMs, pausedMs, before, backs, offs] = [0, 0, 0, 0, 0]
    for (let now = 1; now <= 300_000; now++) {
      const local = asleep.localAt(now)
      if (!asleep.isAwake(now)) sleptMs++
      if (local < before) backs++
      before = local
      if (!paused.isAwake(now)) pausedMs++
      if (paused.localAt(now) !== now) offs++
    }
    expect([backs, offs]).toEqual([0, 0])
    expect(Math.abs(300_000 - before - sleptMs)).toBeLessThan(asleep.tally.sleeps * 2)
    // A third of the time: 0.2313 x 2000 ms stopped after 1000 ms awake.
    for (const ms of [sleptMs, pausedMs]) {
      expect(ms / 300_000).toBeGreaterThan(0.25)
      expect(ms / 300_000).toBeLessThan(0.38)
    }
    expect(asleep.tally.sleeps).toBeGreaterThan(150)
    expect(paused.tally.pauses).toBeGreaterThan(150)
  })

  test('[NET21] a node that follows the clock wakes for every deadline, never spins, and sees no time go back', () => {
    const weather = fc.record(
      {
        skew: fc.record({ ppm: fc.constantFrom(0, 17.3, 500, 2000) }),
        jumps: fc.record({ everyMs: fc.constantFrom(50, 500), ms: fc.constantFrom(0.001, 10, 1000) }),
        sleeps: fc.record({ everyMs: fc.constantFrom(30, 400), lastsMs: fc.constantFrom(1, 100, 3000) }),
        pauses: fc.record({ everyMs: fc.constantFrom(30, 400), lastsMs: fc.constantFrom(1, 100, 3000) }),
        timers: fc.record({ ms: fc.constantFrom(0.1, 1, 3.22, 16, 1000) }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.nat(1e6),
        weather,
        fc.array(fc.double({ min: 0.01, max: 500, noNaN: true }), { minLength: 1, maxLength: 40 }),
        (seed, drawn, waits) => {
          const clock = clockIn(drawn as NetWeather, seed)
          let [now, local] = [0, clock.localAt(0)]
          for (const wait of waits) {
            const deadline = local + wait
            let looks = 0
            for (;;) {
              const wakeAt = clock.timerAt(clock.trueAt(deadline))
              if (wakeAt < now) return false
              now = wakeAt
              const shown = clock.localAt(now)
              if (shown < local || looks++ > 300) return false
              local = shown
              if (clock.isAwake(now) && local >= deadline) break
            }
          }
          return true
        },
      ),
      { seed: 1, numRuns: 500 },
    )
  })

  test('[NET20] a timer fires at a multiple of the grain, and not while the node is paused', () => {
    const clock = clockIn({ timers: { ms: 16 } })
    expect([clock.timerAt(1), clock.timerAt(16), clock.timerAt(16.1)]).toEqual([16, 16, 32])
    expect([clock.timerAt(-Infinity), clock.timerAt(Infinity)]).toEqual([0, Infinity])
    expect(clock.wakeAt(1)).toBe(1)
  })

  test('[NET20] a timer never fires early, whatever the grain', () => {
    for (const ms of [0.1, 1.07, 3.22, 5.83]) {
      const clock = clockIn({ timers: { ms } })
      for (let count = 1; count < 20_000; count++) {
        const at = count * ms * (1 + 2 ** -52)
        if (clock.timerAt(at) < at) expect.fail(`${at} ms, grain ${ms} ms`)
      }
    }
  })

  test('[NET21] a jump that brings a deadline closer is noticed', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const weather: NetWeather = { jumps: { everyMs: 500, ms: 5000 } }
      const [advised, scanned] = [clockIn(weather, seed), clockIn(weather, seed)]
      const deadline = 8000
      let now = 0
      while (advised.localAt(now) < deadline) now = advised.timerAt(advised.trueAt(deadline))
      let first = 0
      while (scanned.localAt(first) < deadline) first += 0.5
      expect(now).toBeLessThanOrEqual(first)
    }
  })

  test('[NET22] weather that ends leaves the clock where it is: nothing jumps back', () => {
    const clock = clockIn({ skew: { ppm: 500 }, jumps: { everyMs: 100, ms: 100 } })
    const before = clock.localAt(10_000)
    expect(before).toBeGreaterThan(11_000)
    clock.setWeather(10_000, {})
    expect(clock.localAt(10_000)).toBe(before)
    expect(clock.localAt(10_500)).toBe(before + 500)
    expect(clock.trueAt(before + 700)).toBe(10_700)
  })
})
