/**
 * What time it is on the authority, in its ticks, as far as one can tell from here.
 *
 * Fed by samples: "when this was sent I was at tick 812.4", when that came, and how long the round trip takes. A sample
 * gives an offset, sent + rtt / 2 - received; the estimate is the mean of the newest eight of sixteen whose round trip
 * is not twice the median. A sample that is off by more than a jump is not believed, until three in a row say the same:
 * then a clock was set or a machine slept, and everything begins anew.
 *
 * Of samples that come in one moment only the newest counts: the others waited in a queue, here or on the way, and say how
 * long. A machine that slept finds thousands of them.
 *
 *   server   ---- tick 812.4 --------.---- 814.9 now
 *                          \  rtt / 2
 *   here     -----------------> received ---- now
 *
 * It belongs to nobody's session: connections have round trips and no idea of ticks. It knows no clock of its own, and
 * does not decide how far ahead to play: `input-lead.ts` and `tick-clock.ts` do.
 */

import type { Millis } from '../base/time.ts'

/** Samples kept, and how many of the newest sound ones are averaged. */
const SAMPLES = 16
const AVERAGED = 8
/** Believed from so many samples on. */
export const CONVERGED_SAMPLES = 4
/** A round trip this many times the median says that something else was in the way. */
const OUTLIER_RTT = 2
/** So many samples in a row that are a jump away are the truth. */
const JUMP_SAMPLES = 3
/** What is further off than this is no jitter. */
export const RESYNC_MS = 250
/** Samples that come within this time of one another waited together: nobody sends them so close. */
const MOMENT_MS = 5

/** Cells of the estimate: doubles in fields would be allocated anew at every sample. */
const OFFSET = 0
const RTT = 1
const JITTER = 2

/** Cells of the moment that samples come in: when it began, its newest; and the newest of the moment before. */
const BEGAN_AT = 0
const NEWEST = 1
const BEFORE = 2

export class ClockSync {
  readonly tickMs: number
  /** How often everything began anew because a clock had jumped. */
  jumps = 0
  readonly #jumpMs: number
  readonly #offsets = new Float64Array(SAMPLES)
  readonly #rtts = new Float64Array(SAMPLES)
  readonly #sorted = new Float64Array(SAMPLES)
  readonly #estimate = new Float64Array(3)
  readonly #moment = new Float64Array([-Infinity, 0, 0])
  #count = 0
  /** Moments in a row that were a jump away, and how many there were before this one. */
  #strange = 0
  #strangeBefore = 0

  constructor(tickRate: number, jumpMs: number = RESYNC_MS) {
    this.tickMs = 1000 / tickRate
    this.#jumpMs = jumpMs
  }

  /** The estimate can be used. */
  get isConverged(): boolean {
    return this.#count >= CONVERGED_SAMPLES
  }

  /** The smoothed round trip. */
  get rttMs(): number {
    return this.#estimate[RTT]
  }

  /** From there to here, or from here to there: half of it, for nobody can measure which half is longer. */
  get oneWayMs(): number {
    return this.#estimate[RTT] / 2
  }

  /** How far samples lie from the estimate, on the mean. */
  get jitterMs(): number {
    return this.#estimate[JITTER]
  }

  /** Takes in that the authority was at `serverTicks` when it sent what came at `receivedAt`. @hot */
  sample(serverTicks: number, receivedAt: Millis, rttMs: number): void {
    const offset = serverTicks * this.tickMs + rttMs / 2 - receivedAt
    if (!this.#isNews(offset, receivedAt)) return
    if (this.isConverged && Math.abs(offset - this.#estimate[OFFSET]) > this.#jumpMs) {
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

  /** Whether a sample is the newest of its moment; then it takes the place of the one before. */
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

  /** Whether a sample that is a jump away is one of several moments in a row that say the same. */
  #isBelieved(offset: number): boolean {
    const isSame = this.#strangeBefore > 0 && Math.abs(offset - this.#moment[BEFORE]) <= this.#jumpMs
    this.#strange = isSame ? this.#strangeBefore + 1 : 1
    return this.#strange >= JUMP_SAMPLES
  }

  /** The tick that the authority is at now, with its fraction. @hot */
  serverTicksAt(now: Millis): number {
    return (now + this.#estimate[OFFSET]) / this.tickMs
  }

  /** The mean of the newest sound samples, and how far they lie from it. */
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
