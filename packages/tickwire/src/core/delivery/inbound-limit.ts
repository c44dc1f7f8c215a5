/**
 * How many packets a peer may send us: two token buckets, each kept as the moment at which what came is paid for.
 *
 * ```
 *   packets a second      up to 3 x expected      above, for a second's worth        above 10 x, likewise
 *   taken in              all                     3 x expected, the rest dropped     the connection ends
 * ```
 *
 * A second's worth may come at once: what an outage has held back, or a jitter buffer lets go. Only packets that have
 * opened are counted. Otherwise a stranger who has seen an id could use up its owner's share.
 *
 * Invariant: in any stretch of time no more is taken in than three times what is expected, and a second's worth of that.
 *
 * It does not look at bytes: a packet's bytes are bounded, and what they make us hold is bounded where it is held.
 */

import { INBOUND_BURST_MS, INBOUND_DROP_TIMES, INBOUND_END_TIMES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'

const DROP = 0
const END = 1
const BURST_MS = INBOUND_BURST_MS

/** What becomes of a packet by its number alone. */
export type InboundVerdict = 'ok' | 'flood' | 'flooding'

/** The packets of one peer. */
export class InboundLimit {
  /** When what came so far is paid for, by either measure. */
  #paidAt: Float64Array = new Float64Array(2).fill(-Infinity)
  #costMs: Float64Array

  /** `packetsPerSecond`: what an honest peer sends at most. Infinity: nothing is counted. */
  constructor(packetsPerSecond: number) {
    const costMs = 1000 / packetsPerSecond
    this.#costMs = Float64Array.of(costMs / INBOUND_DROP_TIMES, costMs / INBOUND_END_TIMES)
  }

  /** A genuine packet has come. 'flood': it must be dropped; 'flooding': its sender must go. @hot */
  take(now: Millis): InboundVerdict {
    const paidAt = this.#paidAt
    const costMs = this.#costMs
    const endAt = (paidAt[END] > now ? paidAt[END] : now) + costMs[END]
    if (endAt > now + BURST_MS) return 'flooding'
    paidAt[END] = endAt
    const dropAt = (paidAt[DROP] > now ? paidAt[DROP] : now) + costMs[DROP]
    if (dropAt > now + BURST_MS) return 'flood'
    paidAt[DROP] = dropAt
    return 'ok'
  }
}
