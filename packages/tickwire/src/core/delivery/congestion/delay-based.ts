/**
 * Keeps the path's queue near 25 ms: the rate rises while the queue is shorter, and falls when it is longer or after
 * loss.
 *
 * Once per round trip it evaluates the smallest queueing delay of that round (a single late packet is jitter, a round
 * without a fast packet is a queue) and the losses. It doubles the rate until the first sign of a queue. Then it
 * changes the rate in proportion to the distance of the queue from its target.
 *
 * Invariants: the rate stays within its bounds (CC1). It rises only while at least half of it is in use (CC6): a rate
 * that was never used is not trusted.
 *
 * It does not compete with senders that fill queues until they lose packets: it gives way to them.
 */

import type { Millis } from '../../base/time.ts'
import { MinRtt } from '../min-rtt.ts'
import { type CongestionController, type RateBounds, type RttSample, completeBounds } from './controller.ts'

const TARGET_QUEUE_MS = 25
/**
 * Once a queue has been seen, the maximum rise per round trip, in packets per second. Additive, so that flows converge.
 */
const RISE_PACKETS = 4
/** The maximum fall per round trip, as a fraction. */
const FALL = 0.2
/** A loss above this fraction of a round is a full buffer and not a bad radio link. */
const LOSS_BAD = 0.05
/** With fewer packets than this, the fraction of lost packets says nothing. */
const ROUND_PACKETS_MIN = 8
const LOSS_FALL = 0.7
const ROUND_MS_MIN = 20

/** Controls the rate by delay. */
export class DelayBasedController implements CongestionController {
  #bounds: RateBounds
  #minRtt: MinRtt = new MinRtt()
  #packetsPerSecond: number
  #isProbing: boolean = true
  #roundEndsAt: Millis = -Infinity
  #roundBeganAt: Millis = 0
  #roundQueueMs: number = Infinity
  #roundSentBytes: number = 0
  #roundAcked: number = 0
  #roundLost: number = 0

  constructor(bounds: Partial<RateBounds> = {}) {
    this.#bounds = completeBounds(bounds)
    this.#packetsPerSecond = this.#bounds.packetsPerSecondStart
  }

  get bytesPerSecond(): number {
    return this.#packetsPerSecond * this.#bounds.packetBytes
  }

  onSent(_now: Millis, bytes: number): void {
    this.#roundSentBytes += bytes
  }

  /** @hot */
  onRtt(now: Millis, rtt: RttSample): void {
    const rttMs = rtt.latestMs
    this.#minRtt.sample(now, rtt)
    const queueMs = this.#minRtt.queueMs[0]
    if (queueMs < this.#roundQueueMs) this.#roundQueueMs = queueMs
    if (now < this.#roundEndsAt) return
    if (this.#roundEndsAt !== -Infinity) this.#steer(now)
    this.#roundBeganAt = now
    this.#roundEndsAt = now + (rttMs > ROUND_MS_MIN ? rttMs : ROUND_MS_MIN)
    this.#roundQueueMs = Infinity
    this.#roundSentBytes = 0
    this.#roundAcked = 0
    this.#roundLost = 0
  }

  onAcked(): void {
    this.#roundAcked++
  }

  onLost(): void {
    this.#roundLost++
  }

  reset(): void {
    this.#minRtt.reset()
    this.#packetsPerSecond = this.#bounds.packetsPerSecondStart
    this.#isProbing = true
    this.#roundEndsAt = -Infinity
    this.#roundQueueMs = Infinity
    this.#roundSentBytes = 0
    this.#roundAcked = 0
    this.#roundLost = 0
  }

  #steer(now: Millis): void {
    const fates = this.#roundAcked + this.#roundLost
    const isLossy = fates >= ROUND_PACKETS_MIN && this.#roundLost > fates * LOSS_BAD
    const distance = (TARGET_QUEUE_MS - this.#roundQueueMs) / TARGET_QUEUE_MS
    const usableBytes = (this.bytesPerSecond * (now - this.#roundBeganAt)) / 1000
    const isInUse = this.#roundSentBytes * 2 >= usableBytes
    if (distance < 0.5 || isLossy) this.#isProbing = false
    const rate = this.#packetsPerSecond
    let next = rate
    if (isLossy) next = rate * LOSS_FALL
    else if (distance < 0) next = rate * (1 + FALL * (distance < -1 ? -1 : distance))
    else if (isInUse) next = this.#isProbing ? rate * 2 : rate + RISE_PACKETS * distance
    const { packetsPerSecondMin: min, packetsPerSecondMax: max } = this.#bounds
    this.#packetsPerSecond = next < min ? min : next > max ? max : next
  }
}
