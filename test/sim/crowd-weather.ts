/**
 * The weather of a crowd: always 30 percent loss and a fifth of a second of jitter, and other faults by chance.
 */

import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'

export function drawCrowdWeather(seed: number): NetWeather {
  const dice = new Dice(seed ^ 0x3ea7)
  const [latency, bursts, duplication, reordering, partitions, line, mtu, skew, pauses] = Array.from(
    { length: 9 },
    () => dice.fraction(),
  )
  const often = (from: number, to: number): number => Math.round(from + (to - from) * dice.fraction())
  return {
    latency: { ms: Math.round(5 + 115 * latency!) },
    jitter: { ms: 200 },
    loss: { rate: 0.3 },
    ...(bursts! < 0.3 && { bursts: { everyMs: often(500, 3000), lastsMs: often(50, 500), rate: 0.95 } }),
    ...(duplication! < 0.3 && { duplication: { rate: 0.2, copies: 2, lateMs: often(0, 1500) } }),
    ...(reordering! < 0.3 && { reordering: { rate: 0.2, distance: 1 + often(0, 40), holdMs: often(50, 1500) } }),
    ...(partitions! < 0.3 && { partitions: { everyMs: often(2000, 8000), lastsMs: often(200, 2000) } }),
    ...(line! < 0.3 && { line: { bps: often(100_000, 600_000), queueMs: often(50, 500) } }),
    ...(mtu! < 0.1 && { mtu: { bytes: often(600, 1100), everyMs: 1000, lastsMs: 1500 } }),
    ...(skew! < 0.2 && { skew: { ppm: 300 } }),
    ...(pauses! < 0.2 && { pauses: { everyMs: 2000, lastsMs: often(20, 400) } }),
  }
}
