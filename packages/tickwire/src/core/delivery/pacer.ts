/**
 * Spreads packets in time: a token bucket, stored as the time at which all sent packets are paid for.
 *
 * ```
 *            credit: one datagram        debt
 *   ──────────────├──────────────┤now├─────────────▶ paidAt
 *      open                      │       closed
 * ```
 *
 * A packet costs its bytes at the current rate. While `paidAt` is in the past the bucket has tokens. It is never
 * further back than the cost of one datagram, and a packet of any size may be sent on the last token. So two datagrams
 * may be sent back to back, and the third waits until it is paid for.
 *
 * Invariant: sending is allowed exactly when `now >= opensAt`; a timer set to `opensAt` finds the pacer open (PACE2).
 *
 * This class does not decide the rate.
 */

import { DATAGRAM_BYTES_SAFE, PACER_DEBT_MS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'

/** A token bucket. */
export class Pacer {
  /** When the next packet may be sent: the time at which everything sent so far is paid for. */
  opensAt: Millis = -Infinity

  /**
   * A packet is sent. It may be sent while the bucket is closed; that is debt, and the next packet waits for it. @hot
   */
  spend(now: Millis, bytes: number, bytesPerSecond: number): void {
    const msPerByte = 1000 / bytesPerSecond
    const earliest = now - DATAGRAM_BYTES_SAFE * msPerByte
    const from = this.opensAt > earliest ? this.opensAt : earliest
    const paidAt = from + bytes * msPerByte
    const latest = now + PACER_DEBT_MS_MAX
    this.opensAt = paidAt < latest ? paidAt : latest
  }
}
