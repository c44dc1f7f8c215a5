/**
 * When a connection speaks though it has nothing to say, and when its peer is gone.
 *
 * ```
 *   heard                 silence                                        timeout
 *   ──├───────────────────────├──────────────────────────────────────────────├──▶
 *      something every keepalive │ who asked in: four times as often              gone
 * ```
 *
 * Somebody who only watches has nothing to say but this. If his server died and came back, it tells him so in answer to a
 * packet and not before: so whoever asked to be let in asks more often once the other side has fallen silent, and hears of it
 * within a quarter of a second instead of two, though the line loses packets.
 *
 * Invariant: `lower` compares with the very sums that `isOwed` and `isGone` do, or a timer would spin.
 */

import type { Millis } from '../base/time.ts'
import type { ConnectionTimers } from './timers.ts'

/** A peer is silent after this many keepalives' time: one may be late. */
const SILENCE_KEEPALIVES = 1.5
const SILENT_SHARE = 1 / 4

/** Of one connection. */
export class Heartbeat {
  #timeoutMs: number
  #keepaliveMs: number
  #silenceMs: number
  #sentAt: Millis = -Infinity
  #heardAt: Millis

  constructor(now: Millis, { keepaliveMs, timeoutMs }: ConnectionTimers, isInitiator: boolean) {
    this.#heardAt = now
    this.#keepaliveMs = keepaliveMs
    this.#timeoutMs = timeoutMs
    this.#silenceMs = isInitiator ? keepaliveMs * SILENCE_KEEPALIVES : Infinity
  }

  /** A packet of the peer came, newer than all before: what comes late was said long ago, and does not show that he still lives. @hot */
  onHeard(now: Millis): void {
    this.#heardAt = now
  }

  /** A packet went out. @hot */
  onSent(now: Millis): void {
    this.#sentAt = now
  }

  /** Whether the peer has been silent for too long. @hot */
  isGone(now: Millis): boolean {
    return now >= this.#heardAt + this.#timeoutMs
  }

  /** Whether something must go out, if only to be heard. @hot */
  isOwed(now: Millis): boolean {
    return now >= this.#sentAt + this.#keepaliveMs
      || (now >= this.#heardAt + this.#silenceMs && now >= this.#sentAt + this.#keepaliveMs * SILENT_SHARE)
  }

  /** Lowers a deadline to when either of them next is so. @hot */
  lower(deadline: Float64Array): void {
    const anxiousAt = Math.max(this.#heardAt + this.#silenceMs, this.#sentAt + this.#keepaliveMs * SILENT_SHARE)
    deadline[0] = Math.min(deadline[0], this.#sentAt + this.#keepaliveMs, this.#heardAt + this.#timeoutMs, anxiousAt)
  }
}
