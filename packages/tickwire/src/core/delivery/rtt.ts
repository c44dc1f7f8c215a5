/**
 * The round trip time: smoothed, with its variation, and the timeouts that follow from both.
 *
 * Every packet has its own sequence and is sent once, so every acknowledgement is an unambiguous sample: there are no
 * retransmitted packets. The peer's own delay has been subtracted before a sample gets here.
 *
 * This class does not decide which packets are lost: `sent-packets.ts` does.
 */

import type { Millis } from '../base/time.ts'
import { ACK_DELAY_UNIT_MS } from '../packet/ack-block.ts'
import { ACK_DELAY_MS_MAX } from './ack-window.ts'

/** Bounds of the retransmission timeout, in milliseconds. */
export interface RtoBounds {
  readonly rtoMsMin: number
  readonly rtoMsMax: number
}

/** The defaults: below 50 ms a busy receiver looks like a lost packet, above 1 s a player has given up. */
export const RTO_BOUNDS: RtoBounds = { rtoMsMin: 50, rtoMsMax: 1000 }

/** A packet that is this many round trips old, with three newer ones acknowledged, is lost and not merely reordered. */
const REORDER_ROUND_TRIPS = 1.25

/** Indices into `RttEstimator.times`. */
const LATEST = 0
const SMOOTHED = 1
const SPREAD = 2

/** Indices into `RttEstimator.ages`. */
export const OVERTAKEN_AGE = 0
export const LOST_AGE = 1

/** Smooths samples as RFC 6298 does. */
export class RttEstimator implements RtoBounds {
  readonly rtoMsMin: number
  readonly rtoMsMax: number
  /**
   * The age at which a packet counts as lost, in milliseconds: at `OVERTAKEN_AGE` for an overtaken packet, at
   * `LOST_AGE` for any packet. Computed with each sample. In a typed array, because it is read for every packet and a
   * returned double is boxed.
   */
  readonly ages: Float64Array = new Float64Array(2)
  /** Latest sample, smoothed round trip, smoothed variation; 0 before the first. A typed array for the same reason. */
  readonly times: Float64Array = new Float64Array(3)
  /** Number of samples. */
  samples: number = 0

  constructor({ rtoMsMin, rtoMsMax }: RtoBounds = RTO_BOUNDS) {
    this.rtoMsMin = rtoMsMin
    this.rtoMsMax = rtoMsMax
    this.reset()
  }

  /** Discards all samples: they were measured on a different path. */
  reset(): void {
    this.samples = 0
    this.times.fill(0)
    this.ages[OVERTAKEN_AGE] = 0
    this.ages[LOST_AGE] = this.rtoMsMax + ACK_DELAY_MS_MAX
  }

  /** The last sample. */
  get latestMs(): number {
    return this.times[LATEST]
  }

  /** The smoothed round trip; 0 before the first sample. */
  get smoothedMs(): number {
    return this.times[SMOOTHED]
  }

  /** The smoothed deviation of samples from it. */
  get spreadMs(): number {
    return this.times[SPREAD]
  }

  /** Adds a sample. */
  sample(rttMs: Millis): void {
    this.times[LATEST] = rttMs
    this.#take()
  }

  /**
   * Adds the round trip of the packet sent at `sentAt[at]`, less the peer's delay in units. Takes the array, because a
   * double that is passed as an argument is boxed. @hot
   */
  sampleSince(now: Millis, sentAt: Float64Array, at: number, delayUnits: number): void {
    this.times[LATEST] = now - sentAt[at] - delayUnits * ACK_DELAY_UNIT_MS
    this.#take()
  }

  #take(): void {
    const { times, ages, rtoMsMin, rtoMsMax } = this
    // A peer that overstates its delay must not make a sample negative.
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
    const bounded = rto < rtoMsMin ? rtoMsMin : rto > rtoMsMax ? rtoMsMax : rto
    ages[OVERTAKEN_AGE] = overtaken
    ages[LOST_AGE] = (bounded > overtaken ? bounded : overtaken) + ACK_DELAY_MS_MAX
  }

  /** Retransmission timeout within its bounds; the upper bound before the first sample. */
  get rtoMs(): number {
    if (this.samples === 0) return this.rtoMsMax
    return Math.max(this.rtoMsMin, Math.min(this.smoothedMs + 4 * this.spreadMs, this.rtoMsMax))
  }

  /** A packet overtaken by three acknowledged packets counts as lost at this age. */
  get overtakenMs(): number {
    return this.ages[OVERTAKEN_AGE]
  }

  /**
   * Any packet counts as lost at this age. It includes the time that the peer may delay an ack. Where the round trip
   * itself is above the bound of the timeout (satellite, bufferbloat), the bound must not declare every packet lost.
   */
  get lostMs(): number {
    return this.ages[LOST_AGE]
  }
}
