import { expect, test } from 'vitest'
import { DelayBasedController } from './delay-based.ts'

/** A path of 50 ms on which `bytes` go out in each of `rounds` round trips. */
function live(controller: DelayBasedController, rounds: number, bytes: number, from: number = 0): void {
  for (let round = 0; round < rounds; round++) {
    controller.onSent(from + round * 50, bytes)
    controller.onRtt(from + round * 50 + 50, { latestMs: 50 })
    controller.onAcked()
  }
}

test('[CC6] an unused rate does not rise; a used one doubles until a queue is seen', () => {
  const idle = new DelayBasedController({ packetsPerSecondStart: 60 })
  live(idle, 100, 100)
  expect(idle.bytesPerSecond).toBe(60 * 1200)
  const busy = new DelayBasedController({ packetsPerSecondStart: 60, packetsPerSecondMax: 480 })
  live(busy, 20, 1e6)
  expect(busy.bytesPerSecond).toBe(480 * 1200)
})

test('[CC6] after loss, the rate falls by 30 %, once per round trip', () => {
  const controller = new DelayBasedController({ packetsPerSecondStart: 100 })
  live(controller, 2, 0)
  for (let packet = 0; packet < 20; packet++) controller.onLost()
  live(controller, 1, 0, 100)
  expect(controller.bytesPerSecond).toBeCloseTo(70 * 1200, 6)
  live(controller, 5, 0, 150)
  expect(controller.bytesPerSecond).toBeCloseTo(70 * 1200, 6)
})
