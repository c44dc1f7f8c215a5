/**
 * Two modes: in GOOD the rate climbs to its maximum, in BAD it drops to the conservative rate at once.
 *
 * ```
 *         a round trip 250 ms above the path's minimum, or a standing queue of 100 ms, or 15 % more lost than
 *         the path loses by itself
 *   GOOD ──────────────────────────────────────────────────────────────────────────────────────────▶ BAD
 *        ◀──────────────────────────────────────────────────────────────────────────────────────────
 *         nothing bad for a while: 1 s, twice as long after each relapse within 10 s, up to 60 s;
 *         half as long for every 10 s that stay GOOD
 * ```
 *
 * The criterion is the time spent in queues, not the round trip itself: a path to the other side of the world is as
 * good as a short one, and neither may be filled. A path that becomes longer looks full, until the conservative rate
 * shows that it is not. The same holds for loss: packets that are still lost at that rate are lost by a bad radio link
 * and not by our traffic, and do not hold the rate down.
 *
 * Invariants: the rate is packets per second times the bytes of a packet, within its bounds (CC1); BAD is the minimum
 * (CC3).
 *
 * It does not probe for capacity: GOOD means that there is no sign against the maximum.
 */

import type { Millis } from '../../base/time.ts'
import { MinRtt } from '../min-rtt.ts'
import { type CongestionController, type RateBounds, type RttSample, completeBounds } from './controller.ts'

/** One round trip this much above the minimum is a spike that no jitter explains. */
const SPIKE_MS = 250
/** Limit of the smoothed queueing time: players notice it, and only a full buffer causes it. */
const STANDING_QUEUE_MS = 100
/** A queue that lasts this long at the conservative rate is not caused by us: the path has become longer. */
const LONGER_PATH_MS = 5000
/** The fraction of packets lost in a window. Wireless paths lose a few percent without being full. */
const LOSS_BAD = 0.15
/**
 * A window of losses is at least this long, and long enough for this many packets. With fewer packets, 15 % are lost by
 * chance too often: on a path that loses 5 % anyway, windows of 32 called a twentieth of the time bad, and windows of
 * 64 next to none.
 */
const LOSS_WINDOW_MS = 500
const LOSS_WINDOW_PACKETS = 64
/** After a demotion, acks and losses belong to the previous rate for this long, and say nothing about the path. */
const STALE_FATES_MS = 1000
/** No playable path loses more than this by itself. */
const PATH_LOSS_MAX = 0.5
/** How fast the path's own loss is learnt in BAD and forgotten in GOOD, for each window. */
const PATH_LOSS_LEARNT = 1 / 2
const PATH_LOSS_FORGOTTEN = 1 / 8
const QUEUE_SMOOTHING = 1 / 8
const WAIT_MS_MIN = 1000
const WAIT_MS_MAX = 60_000
/** A relapse sooner than this doubles the wait; staying GOOD this long halves it. */
const RELAPSE_MS = 10_000
/** In GOOD the rate doubles in this time. */
const DOUBLING_MS = 1000

/** The mode a path is in. */
export type PathMode = 'good' | 'bad'

/** GOOD and BAD. */
export class GoodBadController implements CongestionController {
  #bounds: RateBounds
  #minRtt: MinRtt = new MinRtt()
  #mode: PathMode = 'good'
  #packetsPerSecond: number
  #queueMs: number = 0
  #acked: number = 0
  #lost: number = 0
  #windowBeganAt: Millis = -Infinity
  #isLossy: boolean = false
  /** The fraction that the path loses at any rate. */
  #pathLoss: number = 0
  #fatesFrom: Millis = -Infinity
  #waitMs: number = WAIT_MS_MIN
  /** In GOOD: the start, moved forward by every halving of the wait. In BAD: since when nothing bad was seen. */
  #goodSince: Millis = -Infinity
  #promotedAt: Millis = -Infinity
  /** In BAD: since when no round trip was short, and the shortest since then. */
  #longSince: Millis = Infinity
  #longMs: number = Infinity
  #climbedAt: Millis = -Infinity
  /** The time of the current call. A double passed from function to function would be boxed in each. */
  #clock: Float64Array = new Float64Array(1)

  constructor(bounds: Partial<RateBounds> = {}) {
    this.#bounds = completeBounds(bounds)
    this.#packetsPerSecond = this.#bounds.packetsPerSecondStart
  }

  get bytesPerSecond(): number {
    return this.#packetsPerSecond * this.#bounds.packetBytes
  }

  /** The mode that the path is in. */
  get mode(): PathMode {
    return this.#mode
  }

  /** How long there must be no bad sign before BAD becomes GOOD. */
  get waitMs(): number {
    return this.#waitMs
  }

  onSent(): void {}

  /** @hot */
  onRtt(now: Millis, rtt: RttSample): void {
    this.#minRtt.sample(now, rtt)
    const queueMs = this.#minRtt.queueMs[0]
    this.#queueMs += (queueMs - this.#queueMs) * QUEUE_SMOOTHING
    this.#clock[0] = now
    const isLonger = this.#mode === 'bad' && this.#isLonger(queueMs, rtt.latestMs)
    this.#judge(queueMs >= SPIKE_MS && !isLonger)
  }

  /** @hot */
  onAcked(now: Millis): void {
    this.#clock[0] = now
    if (now >= this.#fatesFrom) this.#acked++
    this.#judgeLoss()
    this.#judge(false)
  }

  /** @hot */
  onLost(now: Millis): void {
    this.#clock[0] = now
    if (now >= this.#fatesFrom) this.#lost++
    this.#judgeLoss()
    this.#judge(false)
  }

  reset(now: Millis): void {
    this.#minRtt.reset()
    this.#mode = 'good'
    this.#packetsPerSecond = this.#bounds.packetsPerSecondStart
    this.#queueMs = 0
    this.#acked = 0
    this.#lost = 0
    this.#windowBeganAt = now
    this.#isLossy = false
    this.#pathLoss = 0
    this.#fatesFrom = now
    this.#waitMs = WAIT_MS_MIN
    this.#goodSince = now
    this.#promotedAt = -Infinity
    this.#climbedAt = now
  }

  /**
   * Whether the path has become longer. At the conservative rate our own queue drains at once, so a delay that is still
   * there after seconds is not a queue.
   */
  #isLonger(queueMs: number, rttMs: number): boolean {
    const now = this.#clock[0]
    if (queueMs < STANDING_QUEUE_MS / 2) {
      this.#longSince = Infinity
      return false
    }
    if (this.#longSince === Infinity) {
      this.#longSince = now
      this.#longMs = rttMs
    }
    if (rttMs < this.#longMs) this.#longMs = rttMs
    if (now < this.#longSince + LONGER_PATH_MS) return false
    this.#minRtt.rebase(now, this.#longMs)
    this.#queueMs = 0
    this.#longSince = Infinity
    return true
  }

  /** Losses are evaluated for whole windows, and the result of a window stands until the next. */
  #judgeLoss(): void {
    const now = this.#clock[0]
    const fates = this.#acked + this.#lost
    if (fates < LOSS_WINDOW_PACKETS || now < this.#windowBeganAt + LOSS_WINDOW_MS) return
    const loss = this.#lost / fates
    if (this.#mode === 'bad') this.#pathLoss += (Math.min(loss, PATH_LOSS_MAX) - this.#pathLoss) * PATH_LOSS_LEARNT
    else if (loss < this.#pathLoss) this.#pathLoss += (loss - this.#pathLoss) * PATH_LOSS_FORGOTTEN
    this.#isLossy = loss >= this.#pathLoss + LOSS_BAD
    this.#acked = 0
    this.#lost = 0
    this.#windowBeganAt = now
  }

  #judge(isSpike: boolean): void {
    const now = this.#clock[0]
    const isBad = isSpike || this.#queueMs >= STANDING_QUEUE_MS || this.#isLossy
    if (this.#mode === 'good') {
      if (isBad) this.#demote()
      else this.#climb()
    } else if (isBad) {
      this.#goodSince = now
    } else if (now >= this.#goodSince + this.#waitMs) {
      this.#promote()
    }
  }

  #demote(): void {
    const now = this.#clock[0]
    if (now < this.#promotedAt + RELAPSE_MS) this.#waitMs = Math.min(WAIT_MS_MAX, this.#waitMs * 2)
    this.#mode = 'bad'
    this.#acked = 0
    this.#lost = 0
    this.#fatesFrom = now + STALE_FATES_MS
    this.#windowBeganAt = this.#fatesFrom
    this.#packetsPerSecond = this.#bounds.packetsPerSecondMin
    this.#goodSince = now
    this.#longSince = Infinity
  }

  #promote(): void {
    const now = this.#clock[0]
    this.#mode = 'good'
    this.#promotedAt = now
    this.#goodSince = now
    this.#climbedAt = now
  }

  #climb(): void {
    const now = this.#clock[0]
    if (now >= this.#goodSince + RELAPSE_MS) {
      this.#waitMs = Math.max(WAIT_MS_MIN, this.#waitMs / 2)
      this.#goodSince = now
    }
    // After a silence the rate continues from where it was: the pause counts as at most one doubling.
    const elapsedMs = Math.min(now - this.#climbedAt, DOUBLING_MS)
    this.#climbedAt = now
    const climbed = this.#packetsPerSecond * (1 + elapsedMs / DOUBLING_MS)
    this.#packetsPerSecond = Math.min(this.#bounds.packetsPerSecondMax, climbed)
  }
}
