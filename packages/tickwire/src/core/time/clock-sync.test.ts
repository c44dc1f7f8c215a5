import { describe, expect, test, vi } from 'vitest'
import { Prng } from '../base/prng.ts'
import { ClockSync } from './clock-sync.ts'
import { InputLead } from './input-lead.ts'
import { TickClock } from './tick-clock.ts'

// All time here is simulated, but a busy machine needs long for it.
vi.setConfig({ testTimeout: 120_000 })

const TICK_RATE = 60
const TICK_MS = 1000 / TICK_RATE

/**
 * A client and the clock of an authority, both in true time, with a path between them. The client's own clock may run
 * fast or slow, be set, or stop while the machine sleeps; it receives ticks a few times a second.
 */
class Rig {
  readonly sync = new ClockSync(TICK_RATE)
  readonly clock = new TickClock(this.sync)
  readonly lead = new InputLead(this.sync)
  /** True time. */
  now = 0
  /** Of the client's clock: how fast it runs, and what it shows at true time 0. */
  skew = 0
  shift = 5000
  latencyMs = 50
  jitterMs = 0
  everyMs = 50
  readonly #dice: Prng
  readonly #flights: { at: number; ticks: number; rtt: number }[] = []
  #sentAt = 0

  constructor(seed = 1) {
    this.#dice = new Prng(seed)
  }

  get local(): number {
    return this.now * (1 + this.skew) + this.shift
  }

  get serverTicks(): number {
    return this.now / TICK_MS + 1000
  }

  /** How far the client's clock is from where it should be, in milliseconds. */
  get errorMs(): number {
    const target = this.serverTicks + (this.latencyMs + this.jitterMs / 2 + this.lead.ms) / TICK_MS
    return (this.clock.ticks - target) * TICK_MS
  }

  delay(): number {
    return this.latencyMs + this.jitterMs * this.#dice.nextFloat()
  }

  /** Lets true time pass; `each` is called every 5 ms. */
  run(ms: number, each: () => void = () => {}): void {
    for (const end = this.now + ms; this.now < end;) {
      this.now += 5
      if (this.now >= this.#sentAt + this.everyMs) {
        this.#sentAt = this.now
        const down = this.delay()
        this.#flights.push({ at: this.now + down, ticks: this.serverTicks, rtt: down + this.delay() })
      }
      for (let at = 0; at < this.#flights.length; at++) {
        const flight = this.#flights[at]!
        if (flight.at > this.now) continue
        this.#flights.splice(at--, 1)
        this.sync.sample(flight.ticks, this.local - (this.now - flight.at), flight.rtt)
      }
      this.clock.advance(this.local, this.lead.ms)
      each()
    }
  }
}

describe('clock sync', () => {
  test('[CLOCK1] is used from four samples on, and within 2 ms on a symmetric path', () => {
    const rig = new Rig()
    for (let samples = 0; samples < 4; samples++) {
      expect(rig.sync.isConverged).toBe(false)
      rig.sync.sample(100 + samples, 1000 + samples * TICK_MS, 80)
    }
    expect(rig.sync.isConverged).toBe(true)
    expect(rig.sync.serverTicksAt(1000) * TICK_MS).toBeCloseTo(100 * TICK_MS + 40, 6)
    for (const seed of [1, 2, 3]) {
      const path = new Rig(seed)
      path.jitterMs = 4
      path.run(3000)
      path.run(3000, () =>
        expect(Math.abs((path.sync.serverTicksAt(path.local) - path.serverTicks) * TICK_MS)).toBeLessThan(2),
      )
    }
  })

  test('[CLOCK2] a round trip of twice the median is not averaged, and only the newest eight are', () => {
    const sync = new ClockSync(TICK_RATE)
    for (let n = 0; n < 16; n++) sync.sample(n, n * TICK_MS, 50)
    sync.sample(16, 16 * TICK_MS + 100, 150)
    expect(sync.rttMs).toBe(50)
    expect(sync.serverTicksAt(0) * TICK_MS).toBeCloseTo(25, 6)
    for (let n = 17; n < 25; n++) sync.sample(n, n * TICK_MS, 60)
    expect(sync.rttMs).toBe(60)
    expect(sync.oneWayMs).toBe(30)
  })

  test('[CLOCK3] a jump is accepted when three samples in a row agree, and one alone is not', () => {
    const sync = new ClockSync(TICK_RATE)
    for (let n = 0; n < 10; n++) sync.sample(n, n * TICK_MS, 50)
    sync.sample(1000, 11 * TICK_MS, 50)
    sync.sample(12, 12 * TICK_MS, 50)
    expect([sync.jumps, Math.round(sync.serverTicksAt(0) * TICK_MS)]).toEqual([0, 25])
    for (let n = 13; n < 17; n++) sync.sample(n + 1000, n * TICK_MS, 50)
    expect(sync.jumps).toBe(1)
    sync.sample(1017, 17 * TICK_MS, 50)
    sync.sample(1018, 18 * TICK_MS, 50)
    expect(sync.isConverged).toBe(true)
    expect(sync.serverTicksAt(0)).toBeCloseTo(1000 + 25 / TICK_MS, 3)
  })

  test('[CLOCK3] three samples in a row that also differ by a jump from one another are no jump', () => {
    const sync = new ClockSync(TICK_RATE)
    for (let n = 0; n < 10; n++) sync.sample(n, n * TICK_MS, 50)
    for (let n = 10; n < 20; n++) sync.sample(n - 100 * (20 - n), n * TICK_MS, 50)
    expect([sync.jumps, Math.round(sync.serverTicksAt(0) * TICK_MS)]).toEqual([0, 25])
  })

  test.each([0, 0.02])(
    '[CLOCK9] of half a minute of samples that waited together, %d ms apart, only the newest counts',
    (apartMs) => {
      const sync = new ClockSync(TICK_RATE)
      for (let n = 0; n < 16; n++) sync.sample(n, n * TICK_MS, 50)
      const wakesAt = 16 * TICK_MS + 30_000
      for (let n = 16; n <= 16 + 30 * TICK_RATE; n++) sync.sample(n, wakesAt + (n - 16) * apartMs, 50)
      expect([sync.jumps, sync.isConverged]).toEqual([0, true])
      expect(Math.abs(sync.serverTicksAt(0) * TICK_MS - 25)).toBeLessThan(8)
      expect(sync.jitterMs).toBeLessThan(8)
    },
  )
})

describe('tick clock', () => {
  test('[CLOCK4] runs ahead of the authority by the one-way delay and the lead', () => {
    const rig = new Rig()
    rig.run(2000)
    // 50 ms are three ticks, and two of lead.
    expect(rig.clock.ticks - rig.serverTicks).toBeCloseTo(5, 1)
  })

  test('[CLOCK5] moves by nudges of 2 % at most, without a jump, when the path becomes longer by three ticks', () => {
    const rig = new Rig()
    rig.run(3000)
    rig.latencyMs += 3 * TICK_MS
    let before = rig.clock.ticks
    rig.run(8000, () => {
      const pace = (rig.clock.ticks - before) * TICK_MS / 5
      expect(pace).toBeGreaterThan(0.9799)
      expect(pace).toBeLessThan(1.0201)
      before = rig.clock.ticks
    })
    expect(rig.clock.resyncs).toBe(0)
    expect(Math.abs(rig.errorMs)).toBeLessThan(2)
  })

  test.each([500, -500])(
    '[CLOCK6] holds for ten minutes with a clock that is off by %d ppm, and 20 ms of jitter',
    (ppm) => {
      const rig = new Rig(7)
      rig.skew = ppm / 1e6
      rig.jitterMs = 20
      rig.run(3000)
      let worst = 0
      rig.run(600_000, () => {
        worst = Math.max(worst, Math.abs(rig.errorMs))
      })
      expect(worst).toBeLessThan(12)
      expect([rig.clock.resyncs, rig.sync.jumps]).toEqual([0, 0])
    },
  )

  test.each([3_600_000, -3_600_000, 800])(
    '[CLOCK7] is set once, and correct within half a second, when the local clock is set by %d ms',
    (ms) => {
      const rig = new Rig()
      rig.run(3000)
      rig.shift += ms
      rig.run(500)
      expect([rig.clock.resyncs, rig.sync.jumps]).toEqual([ms < 0 ? rig.clock.resyncs : 1, 1])
      expect(rig.clock.resyncs).toBeLessThanOrEqual(1 + (ms < 0 ? 1 : 0))
      expect(Math.abs(rig.errorMs)).toBeLessThan(2)
    },
  )

  test('[CLOCK8] is correct within a second after 30 s of sleep, whether the local clock slept too or not', () => {
    for (const sleeps of [true, false]) {
      const rig = new Rig()
      rig.run(3000)
      rig.now += 30_000
      if (sleeps) rig.shift -= 30_000
      rig.run(1000)
      expect(rig.clock.resyncs).toBeLessThanOrEqual(1)
      expect(Math.abs(rig.errorMs)).toBeLessThan(2)
    }
  })
})

describe('input lead', () => {
  test('[LEAD1] starts at two ticks plus jitter, rises at once with the tightest margin, and falls slowly', () => {
    const rig = new Rig(3)
    rig.run(1000)
    const begins = rig.lead.ms
    expect(begins).toBeCloseTo(2 * TICK_MS, 0)
    const receive = (margin: number, ms: number): void => {
      for (let passed = 0; passed < ms; passed += 50) rig.lead.handleMargin(rig.now += 50, margin)
    }
    receive(1, 2000)
    expect(rig.lead.ms).toBe(begins)
    receive(-1.5, 1000)
    expect(rig.lead.ms).toBeCloseTo(begins + 2 * TICK_MS, 5)
    // Reports that were sent before the change took effect are ignored.
    receive(-1.5, 100)
    expect(rig.lead.ms).toBeCloseTo(begins + 2 * TICK_MS, 5)
    receive(3.5, 9000)
    expect(rig.lead.ms).toBeCloseTo(begins + 1.5 * TICK_MS, 5)
    const steady = rig.lead.ms
    receive(-1000, 5000)
    expect(rig.lead.ms).toBe(steady)
    receive(-12, 60_000)
    expect(rig.lead.ms).toBe(250)
    receive(1000, 1_000_000)
    expect(rig.lead.ms).toBe(TICK_MS / 2)
  })
})
