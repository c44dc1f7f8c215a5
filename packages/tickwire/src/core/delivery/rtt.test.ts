import { describe, expect, test } from 'vitest'
import { RttEstimator } from './rtt.ts'

function after(...samples: number[]): RttEstimator {
  const rtt = new RttEstimator()
  for (const sample of samples) rtt.sample(sample)
  return rtt
}

describe('round trip', () => {
  test.each([
    [[100], 100, 50, 300],
    [[100, 200], 112.5, 62.5, 362.5],
    [[100, 200, 50], 104.6875, 62.5, 354.6875],
  ])('[ACK9] samples %j smooth to %d +- %d, timeout %d', (samples, smoothed, spread, rto) => {
    expect(after(...samples)).toMatchObject({ smoothedMs: smoothed, spreadMs: spread, rtoMs: rto })
  })

  test('[ACK9] the timeout stays within 50 ms and 1 s, and is 1 s before the first sample', () => {
    expect(after().rtoMs).toBe(1000)
    expect(after(1).rtoMs).toBe(50)
    expect(after(0).rtoMs).toBe(50)
    expect(after(4000).rtoMs).toBe(1000)
  })

  test('[ACK9] a sample below zero counts as zero', () => {
    expect(after(-5).smoothedMs).toBe(0)
  })

  test("[ACK7] a packet is lost at the timeout plus the ack delay, or at 1.25 round trips if that is later", () => {
    expect(after(100).lostMs).toBe(400)
    expect(after(4000).lostMs).toBe(5100)
    expect(after(100).overtakenMs).toBe(125)
  })
})
