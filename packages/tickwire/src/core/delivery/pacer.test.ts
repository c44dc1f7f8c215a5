import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FixedController } from './congestion/fixed.ts'
import { MinRtt } from './min-rtt.ts'
import { Pacer } from './pacer.ts'
import { SendGate } from './send-gate.ts'

/** Sends packets of `bytes` as soon as the pacer is open, until `until`; when each went. */
function greedy(pacer: Pacer, from: number, until: number, bytes: number, bytesPerSecond: number): number[] {
  const sent: number[] = []
  for (let now = from; now <= until; now = Math.max(now, pacer.opensAt)) {
    pacer.spend(now, bytes, bytesPerSecond)
    sent.push(now)
  }
  return sent
}

describe('pacer', () => {
  test('[PACE1] after a silence two datagrams are sent at once, then each when the previous one is paid for', () => {
    expect(greedy(new Pacer(), 1000, 1350, 1200, 12_000)).toEqual([1000, 1000, 1100, 1200, 1300])
  })

  test('[PACE1] a silence saves up no more than that', () => {
    const pacer = new Pacer()
    pacer.spend(0, 1200, 12_000)
    expect(greedy(pacer, 1e6, 1e6, 1200, 12_000).length).toBe(2)
  })

  test('[PACE1] in any window of time: the rate, and two datagrams', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2400, max: 2_000_000 }),
        fc.array(fc.tuple(fc.integer({ min: 40, max: 1200 }), fc.nat(200)), { maxLength: 200 }),
        (rate, packets) => {
          const pacer = new Pacer()
          const sent: [number, number][] = []
          let now = 0
          for (const [bytes, pauseMs] of packets) {
            now = Math.max(now + (pauseMs > 150 ? pauseMs : 0), pacer.opensAt)
            pacer.spend(now, bytes, rate)
            sent.push([now, bytes])
          }
          for (let first = 0; first < sent.length; first += 7) {
            let sum = 0
            for (let last = first; last < sent.length; last++) {
              sum += sent[last]![1]
              expect(sum).toBeLessThanOrEqual(((sent[last]![0] - sent[first]![0]) * rate) / 1000 + 2400.001)
            }
          }
        },
      ),
      { seed: 5, numRuns: 100 },
    )
  })

  test('[PACE2] at the moment it returns it is open, at every rate and time: no timer spins', () => {
    const at = fc.double({ min: 0, max: 1e12, noNaN: true })
    const rate = fc.double({ min: 1200, max: 1e8, noNaN: true })
    fc.assert(
      fc.property(at, rate, fc.integer({ min: 1, max: 1500 }), (now, bytesPerSecond, bytes) => {
        const gate = new SendGate(new FixedController(bytesPerSecond))
        for (let packet = 0; packet < 4; packet++) gate.onSent(now, bytes)
        const { opensAt } = gate
        expect(gate.room(opensAt)).toBeGreaterThan(0)
        if (opensAt > now) expect(gate.room(now)).toBe(0)
      }),
      { seed: 6 },
    )
  })

  test('[PACE3] a closed gate lets one small packet a tick through, and delays the next large one for it', () => {
    const gate = new SendGate(new FixedController(1200), 50)
    for (let packet = 0; packet < 2; packet++) gate.onSent(0, 1200)
    expect(gate.room(19.9)).toBe(0)
    expect(gate.room(20)).toBe(256)
    gate.onSent(20, 100)
    expect(gate.room(39.9)).toBe(0)
    expect(gate.room(40)).toBe(256)
    gate.onUnused(40)
    expect(gate.opensAt).toBe(60)
  })

  test('[PACE4] debt is bounded: a second after the last packet the gate is open', () => {
    const gate = new SendGate(new FixedController(100))
    for (let now = 0; now < 1000; now += 20) gate.onSent(now, 1200)
    expect(gate.room(980 + 1000)).toBe(1200)
  })

  test('[CC8] the minimum round trip is that of the last 15 to 30 s', () => {
    const min = new MinRtt()
    const queueMs = (now: number, latestMs: number): number => {
      min.sample(now, { latestMs })
      return min.queueMs[0]!
    }
    expect(min.ms).toBe(Infinity)
    expect(queueMs(0, 50)).toBe(0)
    expect(queueMs(100, 80)).toBe(30)
    expect(queueMs(16_000, 80)).toBe(30)
    expect(queueMs(31_000, 80)).toBe(0)
    expect(queueMs(31_001, 60)).toBe(0)
    expect(queueMs(100_000, 90)).toBe(0)
    min.reset()
    expect(min.ms).toBe(Infinity)
  })
})
