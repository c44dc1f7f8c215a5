/**
 * What every congestion controller must do, on a made-up path: a queue that drains at a rate, behind a fixed round
 * trip.
 *
 * The senders are greedy: they send whenever their pacer is open. No connection, no wire: a controller is a function of
 * its inputs, and this suite gives it the inputs that a path would.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  CongestionController, RateBounds,
} from '../../packages/tickwire/src/core/delivery/congestion/controller.ts'
import { Pacer } from '../../packages/tickwire/src/core/delivery/pacer.ts'

const PACKET_BYTES = 1200
const BOUNDS: RateBounds = {
  packetsPerSecondMin: 10, packetsPerSecondStart: 60, packetsPerSecondMax: 500, packetBytes: PACKET_BYTES,
}

/** The path that all senders share. */
interface Path {
  bytesPerSecond: number
  /** Longer waits are drops. */
  queueMsMax: number
  rttMs: number
}

interface Fate {
  readonly at: number
  readonly rttMs: number
  readonly isLost: boolean
}

/** One greedy sender, and what reached the other side. */
class GreedySender {
  readonly controller: CongestionController
  deliveredBytes = 0
  readonly fates: Fate[] = []
  readonly #pacer = new Pacer()

  constructor(controller: CongestionController) {
    this.controller = controller
  }

  step(now: number, send: (sender: GreedySender) => void): void {
    while (this.fates.length > 0 && this.fates[0]!.at <= now) {
      const { rttMs, isLost } = this.fates.shift()!
      if (isLost) this.controller.onLost(now, PACKET_BYTES)
      else {
        this.controller.onRtt(now, { latestMs: rttMs })
        this.controller.onAcked(now, PACKET_BYTES)
        this.deliveredBytes += PACKET_BYTES
      }
    }
    while (now >= this.#pacer.opensAt) {
      this.#pacer.spend(now, PACKET_BYTES, this.controller.bytesPerSecond)
      this.controller.onSent(now, PACKET_BYTES)
      send(this)
    }
  }
}

/** Drives senders over one path, a millisecond at a time; the mean queue is in `queueMsMean`. */
class Bottleneck {
  readonly path: Path
  readonly senders: readonly GreedySender[]
  now = 0
  #busyUntil = 0
  #queueMsSum = 0
  #packets = 0

  constructor(path: Path, senders: readonly GreedySender[]) {
    this.path = path
    this.senders = senders
  }

  /** Lets `ms` pass; returns the bytes delivered to each meanwhile, and the mean queue. */
  drive(ms: number): { readonly bytes: number[]; readonly queueMsMean: number } {
    const before = this.senders.map((sender) => sender.deliveredBytes)
    this.#queueMsSum = 0
    this.#packets = 0
    for (const end = this.now + ms; this.now < end; this.now++) {
      // The order of the senders rotates.
      const turn = this.now % this.senders.length
      for (let index = 0; index < this.senders.length; index++) {
        this.senders[(index + turn) % this.senders.length]!.step(this.now, (sender) => this.#enqueue(sender))
      }
    }
    const bytes = this.senders.map((sender, index) => sender.deliveredBytes - before[index]!)
    return { bytes, queueMsMean: this.#queueMsSum / this.#packets }
  }

  #enqueue(sender: GreedySender): void {
    const { bytesPerSecond, queueMsMax, rttMs } = this.path
    const waitMs = Math.max(0, this.#busyUntil - this.now)
    this.#queueMsSum += waitMs
    this.#packets++
    if (waitMs > queueMsMax) {
      sender.fates.push({ at: this.now + waitMs + rttMs * 1.25, rttMs: 0, isLost: true })
    } else {
      this.#busyUntil = Math.max(this.#busyUntil, this.now) + (PACKET_BYTES * 1000) / bytesPerSecond
      const took = this.#busyUntil - this.now + rttMs
      sender.fates.push({ at: this.now + took, rttMs: took, isLost: false })
    }
    sender.fates.sort((a, b) => a.at - b.at)
  }
}

/** What a controller promises behind a full queue. */
export interface Expectations {
  /** Mean queue behind a bottleneck, at most. */
  readonly queueMsMean: number
  /** Part of the bottleneck's capacity that is used, at least. */
  readonly useMin: number
  /** Of two that share the path, the smaller share relative to the larger, at least. */
  readonly fairnessMin: number
}

/** Whatever a controller receives, and in whatever order, its rate stays between its bounds. */
function holdBounds(make: (bounds: Partial<RateBounds>) => CongestionController, min: number, max: number): void {
  const story = fc.array(
    fc.tuple(
      fc.constantFrom('sent', 'rtt', 'acked', 'lost', 'reset'),
      fc.double({ min: 0, max: 5000, noNaN: true }),
      fc.nat(3000),
    ),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(story, (events) => {
      const controller = make(BOUNDS)
      let now = 0
      for (const [kind, rttMs, waitMs] of events) {
        now += waitMs / 7
        if (kind === 'sent') controller.onSent(now, PACKET_BYTES)
        else if (kind === 'rtt') controller.onRtt(now, { latestMs: rttMs })
        else if (kind === 'acked') controller.onAcked(now, PACKET_BYTES)
        else if (kind === 'lost') controller.onLost(now, PACKET_BYTES)
        else controller.reset(now)
        expect(controller.bytesPerSecond).toBeGreaterThanOrEqual(min)
        expect(controller.bytesPerSecond).toBeLessThanOrEqual(max)
      }
    }),
    { seed: 4, numRuns: 200 },
  )
}

/** Runs the suite. */
export function congestionContract(
  name: string, make: (bounds: Partial<RateBounds>) => CongestionController, expected: Expectations,
): void {
  const max = BOUNDS.packetsPerSecondMax * PACKET_BYTES
  const min = BOUNDS.packetsPerSecondMin * PACKET_BYTES
  const narrow = (): Path => ({ bytesPerSecond: 200_000, queueMsMax: 400, rttMs: 40 })

  describe(`${name} as a congestion controller`, () => {
    test('[CC1] whatever its inputs, its rate stays between its bounds', () => {
      holdBounds(make, min, max)
    })

    test.each([10, 120, 700])(
      '[CC2] a path that nothing fills is used to the maximum, at a round trip of %d ms',
      (rttMs) => {
        const path = new Bottleneck({ bytesPerSecond: 10_000_000, queueMsMax: 200, rttMs }, [
          new GreedySender(make(BOUNDS)),
        ])
        path.drive(30_000)
        expect(path.senders[0]!.controller.bytesPerSecond).toBe(max)
      },
    )

    test('[CC5] behind a narrow queue it keeps the path in use and the queue short', () => {
      const path = new Bottleneck(narrow(), [new GreedySender(make(BOUNDS))])
      path.drive(10_000)
      const { bytes, queueMsMean } = path.drive(120_000)
      expect(bytes[0]! / 120 / 200_000).toBeGreaterThan(expected.useMin)
      expect(queueMsMean).toBeLessThan(expected.queueMsMean)
    })

    test('[CC5] two that share a narrow queue share it fairly enough', () => {
      const path = new Bottleneck(narrow(), [new GreedySender(make(BOUNDS)), new GreedySender(make(BOUNDS))])
      path.drive(20_000)
      const [a, b] = path.drive(180_000).bytes as [number, number]
      expect(Math.min(a, b) / Math.max(a, b)).toBeGreaterThan(expected.fairnessMin)
      expect((a + b) / 180 / 200_000).toBeGreaterThan(expected.useMin)
    })

    test('[CC7] when a path is wide again, it is used again', () => {
      const path = new Bottleneck(narrow(), [new GreedySender(make(BOUNDS))])
      path.drive(60_000)
      path.path.bytesPerSecond = 10_000_000
      path.drive(100_000)
      expect(path.senders[0]!.controller.bytesPerSecond).toBe(max)
    })

    test('[CC8] a new path is measured from scratch', () => {
      const controller = make(BOUNDS)
      for (let now = 0; now < 2000; now += 10) controller.onLost(now, PACKET_BYTES)
      controller.reset(2000)
      expect(controller.bytesPerSecond).toBe(BOUNDS.packetsPerSecondStart * PACKET_BYTES)
      controller.onRtt(2001, { latestMs: 900 })
      controller.onAcked(2001, PACKET_BYTES)
      expect(controller.bytesPerSecond).toBeGreaterThanOrEqual(BOUNDS.packetsPerSecondStart * PACKET_BYTES)
    })
  })
}
