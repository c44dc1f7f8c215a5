/**
 * How many packets, or how many messages, a peer may send: two token buckets, each stored as the time at which
 * everything received is paid for.
 *
 * ```
 *   packets a second      up to 3 x expected      above, for a second's worth        above 10 x, likewise
 *   taken in              all                     3 x expected, the rest dropped     the connection ends
 * ```
 *
 * The packets of one second may arrive at once, for example after an outage or from a jitter buffer. Only packets that
 * decrypt are counted. Otherwise an attacker that has seen a connection id could use up the share of its owner.
 *
 * Invariant: over any period, at most three times the expected number is accepted, plus one second of that rate.
 *
 * Bytes are not counted: the size of a packet is bounded, and memory is bounded where it is allocated.
 */

import { INBOUND_BURST_MS, INBOUND_DROP_TIMES, INBOUND_END_TIMES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'

const DROP = 0
const END = 1

/** The decision about a packet by its rate alone. */
export type InboundVerdict = 'ok' | 'flood' | 'flooding'

/** Counts the packets, or the messages, of one peer. */
export class InboundLimit {
  /** Number of dropped packets or messages. */
  floodCount: number = 0
  /** When everything received so far is paid for, for each of the two buckets. */
  #paidAt: Float64Array = new Float64Array(2).fill(-Infinity)
  #costMs: Float64Array

  /** `perSecond`: the most that an honest peer sends. Infinity: nothing is counted. */
  constructor(perSecond: number) {
    const costMs = 1000 / perSecond
    this.#costMs = Float64Array.of(costMs / INBOUND_DROP_TIMES, costMs / INBOUND_END_TIMES)
  }

  /** Whether one more would be accepted now. Costs nothing: data that can wait is left waiting until it fits. @hot */
  hasRoom(now: Millis): boolean {
    const paidAt = this.#paidAt[DROP]
    return (paidAt > now ? paidAt : now) + this.#costMs[DROP] <= now + INBOUND_BURST_MS
  }

  /**
   * Counts an authentic packet or message. 'flood': it must be dropped; 'flooding': the peer must be disconnected. @hot
   */
  take(now: Millis): InboundVerdict {
    const paidAt = this.#paidAt
    const costMs = this.#costMs
    const endAt = (paidAt[END] > now ? paidAt[END] : now) + costMs[END]
    if (endAt > now + INBOUND_BURST_MS) return 'flooding'
    paidAt[END] = endAt
    const dropAt = (paidAt[DROP] > now ? paidAt[DROP] : now) + costMs[DROP]
    if (dropAt > now + INBOUND_BURST_MS) {
      this.floodCount++
      return 'flood'
    }
    paidAt[DROP] = dropAt
    return 'ok'
  }
}
