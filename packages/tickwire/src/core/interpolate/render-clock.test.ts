import { describe, expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { RenderClock, type RenderClockOptions } from './render-clock.ts'

interface Weather {
  readonly tickRate?: number
  /** Ticks between sends. */
  readonly every?: number
  readonly oneWayMs?: number
  readonly jitterMs?: number
  readonly lossPercent?: number
  /** How much faster the client's clock runs than the server's, in parts per million. */
  readonly ppm?: number
  readonly drawMs?: number
  /** Nothing arrives between these times. */
  readonly outage?: readonly [from: number, to: number]
}

/** Runs a clock through a match. Calls `onDraw` for every draw, with the local time and the server's time in ticks. */
function play(
  clock: RenderClock,
  ms: number,
  weather: Weather,
  onDraw: (now: number, serverTick: number) => void = () => {},
): void {
  const {
    tickRate = 128,
    every = 1,
    oneWayMs = 40,
    jitterMs = 0,
    lossPercent = 0,
    ppm = 0,
    drawMs = 1000 / 144,
    outage = [0, 0],
  } = weather
  const dice = new Prng(5)
  const local = (serverMs: number): number => 5000 + serverMs * (1 + ppm / 1e6)
  const arrivals: [at: number, tick: number][] = []
  for (let tick = 0; tick * 1000 / tickRate < ms; tick += every) {
    const at = tick * 1000 / tickRate + oneWayMs + dice.nextInt(0, 1000) / 1000 * jitterMs
    const isLost = dice.nextInt(0, 99) < lossPercent || (at >= outage[0] && at < outage[1])
    if (!isLost) arrivals.push([at, tick])
  }
  arrivals.sort(([a], [b]) => a - b)
  let next = 0
  for (let at = 0; at < ms; at += drawMs) {
    for (; next < arrivals.length && arrivals[next]![0] <= at; next++)
      clock.note(local(arrivals[next]![0]), arrivals[next]![1])
    clock.advance(local(at))
    onDraw(local(at), at * tickRate / 1000)
  }
}

const arena = (options: Partial<RenderClockOptions> = {}, tickRate: number = 128): RenderClock =>
  new RenderClock(tickRate, { delayMs: 20, ...options })

describe('the render tick', () => {
  test('[MOMENT1] is the server time, minus the one-way delay, minus the interpolation delay', () => {
    const clock = arena({ delayMsMin: 20, delayMsMax: 20 })
    play(clock, 3000, { oneWayMs: 70 }, (now, serverTick) => {
      if (now < 5200) return
      const lagMs = (serverTick - clock.renderTick) * 1000 / 128
      expect(lagMs).toBeGreaterThan(89.9)
      expect(lagMs).toBeLessThan(90.1)
      expect(clock.delayMs).toBeCloseTo(20, 1)
    })
  })

  test('[MOMENT2] never goes back, and runs within its rate limits, through jitter, loss and skew', () => {
    for (const ppm of [-500, 0, 500]) {
      const clock = arena()
      let [last, lastNow] = [-1, 0]
      play(clock, 60_000, { jitterMs: 40, lossPercent: 10, ppm }, (now) => {
        const { renderTick } = clock
        // Before the match's first tick there is nothing to draw but tick 0.
        if (last > 0) {
          const ticks = (now - lastNow) * 128 / 1000
          expect(renderTick).toBeGreaterThanOrEqual(last)
          expect(Math.abs(renderTick - last - ticks)).toBeLessThan(ticks * 0.0501 + 1 / 256)
        }
        last = renderTick
        lastNow = now
      })
      expect([clock.resyncs, clock.clockSteps]).toEqual([0, 0])
    }
  })

  test('[MOMENT3] lies on a grid that an input can carry', () => {
    const clock = arena()
    play(clock, 1000, { jitterMs: 5 }, () => expect(clock.renderTick * 256).toBe(Math.round(clock.renderTick * 256)))
  })

  test('[MOMENT6] is set once when it was far off: after half a minute of sleep, or a clock change', () => {
    const clock = arena()
    const dt = 1000 / 128
    for (let tick = 0; tick < 500; tick++) {
      clock.note(tick * dt, tick)
      clock.advance(tick * dt)
    }
    const asleep = 30_000
    clock.advance(499 * dt + asleep)
    for (let tick = 500 + 3840; tick < 4400; tick++) {
      clock.note(tick * dt, tick)
      clock.advance(tick * dt)
    }
    expect((4399 - clock.renderTick) * dt).toBeLessThan(100)
    // The server's clock is as it was; ours is suddenly a minute behind, then a minute ahead.
    for (const [step, from] of [[-60_000, 4400], [60_000, 4600]] as const) {
      const before = clock.renderTick
      for (let tick = from; tick < from + 200; tick++) {
        const shifted = tick * dt + (from === 4400 ? step : 0)
        clock.note(shifted, tick)
        clock.advance(shifted)
        expect(clock.renderTick).toBeGreaterThanOrEqual(before)
      }
      expect((from + 199 - clock.renderTick) * dt).toBeLessThan(100)
    }
    expect(clock.clockSteps).toBe(2)
  })

  test('[MOMENT6] there is none before the first tick is received', () => {
    const clock = arena()
    clock.advance(100)
    expect([clock.renderTick, clock.newest]).toEqual([-1, -1])
  })
})

describe('the interpolation delay', () => {
  test('[MOMENT4] is short on a quiet link, grows with jitter, and stays within its bounds', () => {
    const delays = [0, 10, 30, 60, 300].map((jitterMs) => {
      const clock = arena()
      play(clock, 10_000, { jitterMs, lossPercent: 1 })
      return clock.targetDelayMs
    })
    const [quiet, , , , wild] = delays
    expect(quiet).toBeGreaterThanOrEqual(1000 / 128)
    expect(quiet).toBeLessThan(20)
    expect(delays).toEqual(delays.toSorted((a, b) => a - b))
    expect(wild).toBe(100)
  })

  test('[MOMENT4] covers the gap between sends: nearly every draw has a row after its moment', () => {
    for (const weather of [
      { every: 1, jitterMs: 15, lossPercent: 2 },
      { every: 6, jitterMs: 20 },
      { every: 4, jitterMs: 0, lossPercent: 5 },
    ]) {
      const clock = new RenderClock(128, { delayMs: 100, delayMsMax: 200 })
      let [draws, dry] = [0, 0]
      play(clock, 20_000, weather, (now) => {
        if (now < 7000) return
        draws++
        if (clock.renderTick > clock.newest) dry++
      })
      expect(dry / draws, JSON.stringify(weather)).toBeLessThan(0.05)
    }
  })

  test('[MOMENT5] does not grow in one outage', () => {
    const clock = arena()
    play(clock, 4000, { jitterMs: 4 })
    const before = clock.targetDelayMs
    const other = arena()
    play(other, 8000, { jitterMs: 4, outage: [4000, 6000] })
    expect(other.targetDelayMs).toBeLessThan(before + 2)
  })

  test('[MOMENT5] does not grow in many outages', () => {
    const clock = arena()
    let tick = 0
    for (let count = 0; count < 400; count++) {
      tick += count % 10 === 0 ? 128 : 1
      clock.note(tick * 1000 / 128, tick)
    }
    expect(clock.targetDelayMs).toBeLessThan(20)
  })

  test('[MOMENT4] contradictory options are refused', () => {
    expect(() => arena({ delayMsMax: 10 })).toThrow('delayMs')
    expect(() => arena({ delayMsMin: 30 })).toThrow('delayMs')
    expect(() => arena({ bend: 1 })).toThrow('bend')
  })
})
