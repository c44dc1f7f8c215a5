/**
 * The round trip as it is felt: smoothed, with its spread, and what follows from both for timers.
 *
 * Every packet has its own sequence and is sent once, so every acknowledgement is an honest sample: there is no
 * retransmitted packet whose ack could be ambiguous. The peer's own delay has been subtracted before it gets here.
 *
 * It does not decide what is lost: `sent-packets.ts` does.
 */

import type { Millis } from '../base/time.ts'
import { ACK_DELAY_MS_MAX } from './ack-window.ts'

const RTO_MS_MIN = 50
const RTO_MS_MAX = 1000
/** A packet that is this many round trips old, with three newer ones acknowledged, is lost and not merely late. */
const REORDER_ROUND_TRIPS = 1.25

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
  /** The smoothed round trip; 0 before the first sample. */
  smoothedMs: number = 0
  /** The smoothed distance of samples from it. */
  spreadMs: number = 0
  /** The last sample. */
  latestMs: number = 0
  /** How many samples there were. */
  samples: number = 0

  /** @hot */
  sample(rttMs: Millis): void {
    // A peer that overstates its delay must not make time run backwards.
    const sample = rttMs > 0 ? rttMs : 0
    this.latestMs = sample
    if (this.samples++ === 0) {
      this.smoothedMs = sample
      this.spreadMs = sample / 2
    } else {
      this.spreadMs = this.spreadMs * 0.75 + Math.abs(this.smoothedMs - sample) * 0.25
      this.smoothedMs = this.smoothedMs * 0.875 + sample * 0.125
    }
    const overtaken = (this.smoothedMs > sample ? this.smoothedMs : sample) * REORDER_ROUND_TRIPS
    const rto = this.rtoMs
    this.ages[OVERTAKEN_AGE] = overtaken
    this.ages[LOST_AGE] = (rto > overtaken ? rto : overtaken) + ACK_DELAY_MS_MAX
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
