/**
 * Estimates the current time of the authority, in its ticks.
 *
 * It takes samples: the tick at which the authority sent a packet ("812.4"), the local time at which it arrived, and
 * the round-trip time. A sample gives an offset, sent + rtt / 2 - received. The estimate is the mean of the newest
 * eight of sixteen samples whose round trip is at most twice the median. A sample that is off by more than `jumpMs` is
 * ignored, until three in a row agree: then a clock was set or a machine slept, and the estimate starts over.
 *
 * Of samples that arrive at the same moment only the newest counts: the others waited in a queue, here or on the way,
 * so their offsets include the waiting time. A machine that slept finds thousands of them.
 *
 *   server   ---- tick 812.4 --------.---- 814.9 now
 *                          \  rtt / 2
 *   here     -----------------> received ---- now
 *
 * It is independent of the session: connections measure round trips and do not know ticks. It reads no clock itself,
 * and does not decide how far ahead to play: `input-lead.ts` and `tick-clock.ts` do.
 */

import type { Millis } from '../base/time.ts'

/** Samples kept, and how many of the newest valid ones are averaged. */
const SAMPLES = 16
const AVERAGED = 8
/** The estimate is usable from this many samples on. */
export const CONVERGED_SAMPLES = 4
/** A round trip longer than this many medians is an outlier. */
const OUTLIER_RTT = 2
/** This many samples in a row that agree on a jump are believed. */
const JUMP_SAMPLES = 3
/** An error above this is not jitter. */
export const RESYNC_MS = 250
/** Samples that arrive within this time of one another waited in a queue: they are never sent so close together. */
const MOMENT_MS = 5

/** Indexes of the estimate: doubles in fields would be allocated at every sample. */
const OFFSET = 0
const RTT = 1
const JITTER = 2

/** Indexes of the current moment: when it began, its newest offset; and the newest offset of the moment before. */
const BEGAN_AT = 0
const NEWEST = 1
const BEFORE = 2

export class ClockSync {
  readonly tickMs: number
  /** How often the estimate started over because a clock had jumped. */
  jumps = 0
  /** A sample with a larger error is not believed at once. */
  readonly jumpMs: number
  readonly #offsets = new Float64Array(SAMPLES)
  readonly #rtts = new Float64Array(SAMPLES)
  readonly #sorted = new Float64Array(SAMPLES)
  readonly #estimate = new Float64Array(3)
  readonly #moment = new Float64Array([-Infinity, 0, 0])
  #count = 0
  /** Consecutive moments that were off by a jump, and the count before the current moment. */
  #strange = 0
  #strangeBefore = 0

  constructor(tickRate: number, jumpMs: number = RESYNC_MS) {
    this.tickMs = 1000 / tickRate
    this.jumpMs = jumpMs
  }

  /** Whether the estimate is usable. */
  get isConverged(): boolean {
    return this.#count >= CONVERGED_SAMPLES
  }

  /** The smoothed round trip. */
  get rttMs(): number {
    return this.#estimate[RTT]
  }

  /** The one-way delay: half the round trip, because it is impossible to measure which direction takes longer. */
  get oneWayMs(): number {
    return this.#estimate[RTT] / 2
  }

  /** The mean distance of the samples from the estimate. */
  get jitterMs(): number {
    return this.#estimate[JITTER]
  }

  /** Adds a sample: the authority was at `serverTicks` when it sent what arrived at `receivedAt`. @hot */
  sample(serverTicks: number, receivedAt: Millis, rttMs: number): void {
    const offset = serverTicks * this.tickMs + rttMs / 2 - receivedAt
    if (!this.#isNews(offset, receivedAt)) return
    if (this.isConverged && Math.abs(offset - this.#estimate[OFFSET]) > this.jumpMs) {
      if (!this.#isBelieved(offset)) return
      this.jumps++
      this.#count = 0
    }
    this.#strange = 0
    const at = this.#count++ % SAMPLES
    this.#offsets[at] = offset
    this.#rtts[at] = rttMs
    this.#average()
  }

  /** Whether a sample is the newest of its moment. If so, it replaces the previous sample of that moment. */
  #isNews(offset: number, receivedAt: Millis): boolean {
    const moment = this.#moment
    const sinceMs = receivedAt - moment[BEGAN_AT]
    if (sinceMs >= 0 && sinceMs < MOMENT_MS) {
      if (offset <= moment[NEWEST]) return false
      if (this.#strange === 0 && this.#count > 0) this.#count--
    } else {
      moment[BEGAN_AT] = receivedAt
      moment[BEFORE] = moment[NEWEST]
      this.#strangeBefore = this.#strange
    }
    moment[NEWEST] = offset
    return true
  }

  /** Whether enough moments in a row agree on this jump. */
  #isBelieved(offset: number): boolean {
    const isSame = this.#strangeBefore > 0 && Math.abs(offset - this.#moment[BEFORE]) <= this.jumpMs
    this.#strange = isSame ? this.#strangeBefore + 1 : 1
    return this.#strange >= JUMP_SAMPLES
  }

  /** The tick that the authority is at now, with its fraction. @hot */
  serverTicksAt(now: Millis): number {
    return (now + this.#estimate[OFFSET]) / this.tickMs
  }

  /** Computes the mean of the newest valid samples, and their distance from it. */
  #average(): void {
    const kept = Math.min(this.#count, SAMPLES)
    const rttMax = OUTLIER_RTT * this.#medianRtt(kept)
    let offset = 0
    let rtt = 0
    let used = 0
    for (let back = 0; back < kept && used < AVERAGED; back++) {
      const at = (this.#count - 1 - back) % SAMPLES
      if (this.#rtts[at] > rttMax) continue
      offset += this.#offsets[at]
      rtt += this.#rtts[at]
      used++
    }
    offset /= used
    let spread = 0
    for (let at = 0; at < kept; at++) spread += Math.abs(this.#offsets[at] - offset)
    this.#estimate[OFFSET] = offset
    this.#estimate[RTT] = rtt / used
    this.#estimate[JITTER] = spread / kept
  }

  #medianRtt(kept: number): number {
    const sorted = this.#sorted
    for (let count = 0; count < kept; count++) {
      let at = count
      const rtt = this.#rtts[count]
      for (; at > 0 && sorted[at - 1] > rtt; at--) sorted[at] = sorted[at - 1]
      sorted[at] = rtt
    }
    return sorted[kept >>> 1]
  }
}
