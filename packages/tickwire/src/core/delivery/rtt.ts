/**
 * The round trip as it is felt: smoothed, with its spread, and what follows from both for timers.
 *
 * Every packet has its own sequence and is sent once, so every acknowledgement is an honest sample: there is no
 * retransmitted packet whose ack could be ambiguous. The peer's own delay has been subtracted before it gets here.
 *
 * It does not decide what is lost: `sent-packets.ts` does.
 */

import type { Millis } from '../base/time.ts'
import { ACK_DELAY_UNIT_MS } from '../packet/ack-block.ts'
import { ACK_DELAY_MS_MAX } from './ack-window.ts'

const RTO_MS_MIN = 50
const RTO_MS_MAX = 1000
/** A packet that is this many round trips old, with three newer ones acknowledged, is lost and not merely late. */
const REORDER_ROUND_TRIPS = 1.25

// Imported constants as the module's own: read through an import they are loaded anew each time.
const UNIT_MS = ACK_DELAY_UNIT_MS

/** Places of `RttEstimator.times`. */
const LATEST = 0
const SMOOTHED = 1
const SPREAD = 2

/** Places of `RttEstimator.ages`. */
export const OVERTAKEN_AGE = 0
export const LOST_AGE = 1

/** Smooths samples as RFC 6298 does. */
export class RttEstimator {
  /**
   * How old a packet is when it is lost, in milliseconds: one that was overtaken, and any. Worked out with each sample, and in
   * cells: they are asked for with every packet, and a double that is returned is boxed.
   */
  readonly ages: Float64Array = Float64Array.of(0, RTO_MS_MAX + ACK_DELAY_MS_MAX)
  /** Latest sample, smoothed round trip, smoothed distance of samples from it; 0 before the first. In cells for the same reason. */
  readonly times: Float64Array = new Float64Array(3)
  /** How many samples there were. */
  samples: number = 0

  /** The last sample. */
  get latestMs(): number {
    return this.times[LATEST]
  }

  /** The smoothed round trip; 0 before the first sample. */
  get smoothedMs(): number {
    return this.times[SMOOTHED]
  }

  /** The smoothed distance of samples from it. */
  get spreadMs(): number {
    return this.times[SPREAD]
  }

  /** Takes a round trip in. */
  sample(rttMs: Millis): void {
    this.times[LATEST] = rttMs
    this.#take()
  }

  /** Takes in the round trip of what went at `sentAt[at]` and was held by the peer for so many units: a double that is handed over is boxed. @hot */
  sampleSince(now: Millis, sentAt: Float64Array, at: number, delayUnits: number): void {
    this.times[LATEST] = now - sentAt[at] - delayUnits * UNIT_MS
    this.#take()
  }

  #take(): void {
    const { times, ages } = this
    // A peer that overstates its delay must not make time run backwards.
    const sample = times[LATEST] > 0 ? times[LATEST] : 0
    times[LATEST] = sample
    if (this.samples++ === 0) {
      times[SMOOTHED] = sample
      times[SPREAD] = sample / 2
    } else {
      times[SPREAD] = times[SPREAD] * 0.75 + Math.abs(times[SMOOTHED] - sample) * 0.25
      times[SMOOTHED] = times[SMOOTHED] * 0.875 + sample * 0.125
    }
    const smoothed = times[SMOOTHED]
    const overtaken = (smoothed > sample ? smoothed : sample) * REORDER_ROUND_TRIPS
    const rto = smoothed + 4 * times[SPREAD]
    const bounded = rto < RTO_MS_MIN ? RTO_MS_MIN : rto > RTO_MS_MAX ? RTO_MS_MAX : rto
    ages[OVERTAKEN_AGE] = overtaken
    ages[LOST_AGE] = (bounded > overtaken ? bounded : overtaken) + ACK_DELAY_MS_MAX
  }

  /** Retransmission timeout, 50 ms to 1 s; 1 s before the first sample. */
  get rtoMs(): number {
    if (this.samples === 0) return RTO_MS_MAX
    const rto = this.smoothedMs + 4 * this.spreadMs
    return rto < RTO_MS_MIN ? RTO_MS_MIN : rto > RTO_MS_MAX ? RTO_MS_MAX : rto
  }

  /** A packet overtaken by three acknowledged ones is lost at this age. */
  get overtakenMs(): number {
    return this.ages[OVERTAKEN_AGE]
  }

  /**
   * Any packet is lost at this age. The peer may sit on an ack for a while; and where the round trip itself is above
   * the bound of the timeout (satellite, bufferbloat), the bound must not declare everything lost.
   */
  get lostMs(): number {
    return this.ages[LOST_AGE]
  }
}
