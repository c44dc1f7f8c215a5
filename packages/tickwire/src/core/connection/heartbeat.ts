/**
 * When a connection sends a keepalive, and when its peer counts as gone.
 *
 * ```
 *   received              silence                                        timeout
 *   ──├───────────────────────├──────────────────────────────────────────────├──▶
 *      one packet per keepalive  │ the initiator: four times as often             gone
 * ```
 *
 * A spectator sends nothing but keepalives. A restarted server sends a reset only in answer to a packet. So once the
 * other side has fallen silent, the side that initiated the connection sends more often. It then learns of the restart
 * within a quarter of a second instead of two seconds, even on a path that loses packets.
 *
 * Invariant: `lower` uses exactly the sums that `isOwed` and `isGone` compare with. Otherwise a timer would spin.
 */

import type { Millis } from '../base/time.ts'
import type { ConnectionTimers } from './timers.ts'

/** A peer is silent after this many keepalive intervals: one keepalive may be late. */
const SILENCE_KEEPALIVES = 1.5
const SILENT_SHARE = 1 / 4

/** The heartbeat of one connection. */
export class Heartbeat {
  #timeoutMs: number
  #keepaliveMs: number
  #silenceMs: number
  #sentAt: Millis = -Infinity
  #receivedAt: Millis

  constructor(now: Millis, { keepaliveMs, timeoutMs }: ConnectionTimers, isInitiator: boolean) {
    this.#receivedAt = now
    this.#keepaliveMs = keepaliveMs
    this.#timeoutMs = timeoutMs
    this.#silenceMs = isInitiator ? keepaliveMs * SILENCE_KEEPALIVES : Infinity
  }

  /**
   * A packet arrived that is newer than all before. An older packet does not show that the peer is still alive. @hot
   */
  onReceived(now: Millis): void {
    this.#receivedAt = now
  }

  /** A packet was sent. @hot */
  onSent(now: Millis): void {
    this.#sentAt = now
  }

  /** Whether the peer has been silent for too long. @hot */
  isGone(now: Millis): boolean {
    return now >= this.#receivedAt + this.#timeoutMs
  }

  /** Whether a packet must be sent now, even an empty one. @hot */
  isOwed(now: Millis): boolean {
    return now >= this.#sentAt + this.#keepaliveMs
      || (now >= this.#receivedAt + this.#silenceMs && now >= this.#sentAt + this.#keepaliveMs * SILENT_SHARE)
  }

  /** Lowers a deadline to the next time at which `isOwed` or `isGone` becomes true. @hot */
  lower(deadline: Float64Array): void {
    const anxiousAt = Math.max(this.#receivedAt + this.#silenceMs, this.#sentAt + this.#keepaliveMs * SILENT_SHARE)
    deadline[0] = Math.min(deadline[0], this.#sentAt + this.#keepaliveMs, this.#receivedAt + this.#timeoutMs, anxiousAt)
  }
}
