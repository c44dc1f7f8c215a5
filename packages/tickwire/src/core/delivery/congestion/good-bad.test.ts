import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../base/assert.ts'
import { Prng } from '../../base/prng.ts'
import { FixedController } from './fixed.ts'
import { GoodBadController } from './good-bad.ts'

/** Tells of a round trip every 50 ms from `from` to `to`. */
function live(controller: GoodBadController, from: number, to: number, rttMs: number): void {
  for (let now = from; now < to; now += 50) {
    controller.onRtt(now, { latestMs: rttMs })
    controller.onAcked(now)
  }
}

describe('good and bad', () => {
  test('[CC1] the budget is packets a second times the bytes of a packet', () => {
    const controller = new GoodBadController({ packetsPerSecondStart: 60, packetBytes: 1350 })
    expect(controller.bytesPerSecond).toBe(60 * 1350)
  })

  test.each([5, 300, 900])(
    '[CC2] a steady round trip of %d ms rises to the maximum rate: a long path is not a full one',
    (rttMs) => {
      const controller = new GoodBadController({ packetsPerSecondStart: 60, packetsPerSecondMax: 480 })
      const rates: number[] = []
      for (let second = 0; second < 5; second++) {
        rates.push(controller.bytesPerSecond / 1200)
        live(controller, second * 1000, second * 1000 + 1000, rttMs)
      }
      expect(rates[0]).toBe(60)
      expect([...rates].sort((a, b) => a - b)).toEqual(rates)
      expect(controller.bytesPerSecond / 1200).toBe(480)
    },
  )

  test('[CC3] one round trip 250 ms above the minimum is enough, in the call that reports it', () => {
    const controller = new GoodBadController()
    live(controller, 0, 2000, 80)
    controller.onRtt(2000, { latestMs: 80 + 249 })
    expect(controller.mode).toBe('good')
    controller.onRtt(2010, { latestMs: 80 + 250 })
    expect(controller.mode).toBe('bad')
    expect(controller.bytesPerSecond).toBe(20 * 1200)
  })

  test('[CC3] a standing queue of 100 ms is bad, a single late packet is not', () => {
    const controller = new GoodBadController()
    live(controller, 0, 2000, 80)
    live(controller, 2000, 2050, 250)
    expect(controller.mode).toBe('good')
    live(controller, 2050, 4000, 190)
    expect(controller.mode).toBe('bad')
  })

  test('[CC3] a sixth lost is bad at once, a tenth is not', () => {
    for (const [every, mode] of [[10, 'good'], [6, 'bad']] as const) {
      const controller = new GoodBadController()
      for (let packet = 1; packet < 80; packet++) {
        if (packet % every === 0) controller.onLost(packet * 20)
        else controller.onAcked(packet * 20)
      }
      expect(controller.mode).toBe(mode)
    }
  })

  test('[CC3] random loss of a twentieth does not make a path bad', () => {
    for (const packetsPerSecond of [20, 60, 128]) {
      let bad = 0
      for (let seed = 1; seed <= 20; seed++) {
        const controller = new GoodBadController()
        const prng = new Prng(seed)
        for (let packet = 0; packet < 60 * packetsPerSecond; packet++) {
          const now = (packet * 1000) / packetsPerSecond
          if (prng.nextFloat() < 0.05) controller.onLost(now)
          else controller.onAcked(now)
          if (controller.mode === 'bad') bad++
        }
      }
      expect(bad / (20 * 60 * packetsPerSecond), `${packetsPerSecond} packets a second`).toBeLessThan(0.01)
    }
  })

  test('[CC4] a path that became longer is GOOD again after seconds; a draining queue does not count as longer', () => {
    const controller = new GoodBadController()
    const play = (fromMs: number, toMs: number, rttMs: number): number => {
      let badMs = 0
      for (let now = fromMs; now < toMs; now += 16) {
        controller.onRtt(now, { latestMs: rttMs + (now % 7) })
        controller.onAcked(now)
        if (controller.mode === 'bad') badMs += 16
      }
      return badMs
    }
    play(0, 10_000, 60)
    const badMs = play(10_000, 40_000, 240)
    expect(badMs).toBeGreaterThan(5000)
    expect(badMs).toBeLessThan(7500)
    play(40_000, 43_000, 600)
    expect(controller.mode, 'three seconds of a full queue').toBe('bad')
    play(43_000, 60_000, 240)
    expect(controller.mode).toBe('good')
    play(60_000, 61_000, 380)
    expect(controller.mode, 'it still knows what is short').toBe('bad')
  })

  /**
   * Sends at its rate, a window of 50 ms at a time, over a path that loses by `lossOf(packets a second)`; the mean rate
   * of the last half.
   */
  function play(
    controller: GoodBadController,
    seconds: number,
    lossOf: (packetsPerSecond: number) => number,
    seed: number,
  ): number {
    const prng = new Prng(seed)
    let [sum, samples] = [0, 0]
    for (let now = 0; now < seconds * 1000; now += 50) {
      const rate = controller.bytesPerSecond / 1200
      for (let packet = 0; packet < rate / 20; packet++) {
        if (prng.nextFloat() < lossOf(rate)) controller.onLost(now)
        else {
          controller.onRtt(now, { latestMs: 60 })
          controller.onAcked(now)
        }
      }
      if (now < seconds * 500) continue
      sum += rate
      samples++
    }
    return sum / samples
  }

  test.each([0.05, 0.15, 0.25, 0.4])('[CC9] loss that is independent of the rate does not lower it: %d', (loss) => {
    for (let seed = 1; seed <= 5; seed++)
      expect(play(new GoodBadController(), 120, () => loss, seed)).toBeGreaterThan(500)
  })

  test('[CC9] loss that is caused by the rate lowers it: a path that drops all above 100 packets a second', () => {
    for (const own of [0, 0.1]) {
      const lossOf = (rate: number): number => own + (1 - own) * Math.max(0, 1 - 100 / rate)
      expect(play(new GoodBadController(), 240, lossOf, 3)).toBeLessThan(140)
    }
  })

  test('[CC4] a path that alternates is trusted later and later: 1, 2, 4, ... 60 s', () => {
    const controller = new GoodBadController()
    live(controller, 0, 2000, 50)
    const waits: number[] = []
    let now = 2000
    for (let flap = 0; flap < 8; flap++) {
      controller.onRtt(now, { latestMs: 400 })
      const badAt = now
      while (controller.mode === 'bad') {
        now += 10
        // Just fast enough to be no spike; slow samples are gone from the smoothed queue in half a second.
        controller.onRtt(now, { latestMs: 50 })
      }
      waits.push(Math.round((now - badAt) / 1000))
      now += 3000
      live(controller, now - 1000, now, 50)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  test('[CC4] a bad sample restarts the wait', () => {
    const controller = new GoodBadController()
    live(controller, 0, 1000, 50)
    for (const now of [1000, 1900, 2800]) controller.onRtt(now, { latestMs: 400 })
    for (let now = 2810; now < 3790; now += 10) controller.onRtt(now, { latestMs: 50 })
    expect(controller.mode).toBe('bad')
    for (let now = 3790; now < 4200; now += 10) controller.onRtt(now, { latestMs: 50 })
    expect(controller.mode).toBe('good')
  })

  test('[CC4] every 10 s without a bad sample halve the wait, down to 1 s', () => {
    const controller = new GoodBadController()
    live(controller, 0, 1000, 50)
    let now = 1000
    for (let flap = 0; flap < 4; flap++) {
      controller.onRtt(now, { latestMs: 400 })
      while (controller.mode === 'bad') controller.onRtt((now += 10), { latestMs: 50 })
    }
    expect(controller.waitMs).toBe(8000)
    const seen: number[] = []
    for (let ten = 0; ten < 4; ten++) {
      live(controller, now, now + 10_060, 50)
      now += 10_060
      seen.push(controller.waitMs)
    }
    expect(seen).toEqual([4000, 2000, 1000, 1000])
  })

  test.each([
    [{ packetsPerSecondMin: 0 }],
    [{ packetsPerSecondMin: 100, packetsPerSecondStart: 50 }],
    [{ packetsPerSecondStart: 2000 }],
    [{ packetsPerSecondMax: 1e9 }],
    [{ packetBytes: 0 }],
    [{ packetsPerSecondMin: Number.NaN }],
  ])('[CC1] impossible bounds are refused at once: %j', (bounds) => {
    expect(() => new GoodBadController(bounds)).toThrow(ConfigError)
  })

  test('[CC1] a fixed rate does not change', () => {
    expect(new FixedController(5000).bytesPerSecond).toBe(5000)
    expect(() => new FixedController(0)).toThrow(ConfigError)
  })
})
