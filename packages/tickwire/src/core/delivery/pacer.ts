/**
 * Spreads packets in time: a token bucket, kept as the moment at which what was sent is paid for.
 *
 * ```
 *            credit: one datagram        debt
 *   ──────────────├──────────────┤now├─────────────▶ paidAt
 *      open                      │       closed
 * ```
 *
 * A packet costs its bytes at the rate of the moment. While `paidAt` lies in the past the bucket has tokens. It is
 * never further back than one datagram's worth, and a packet may be sent on the last token, whatever its size: so two
 * datagrams may follow one another at once, and the third waits until it is paid for.
 *
 * Invariant: `now >= opensAt` is the whole question; a timer set to `opensAt` finds it open (PACE2).
 *
 * It does not decide the rate.
 */

import { DATAGRAM_BYTES_SAFE, PACER_DEBT_MS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'

// Imported constants as the module's own: read through an import they are loaded anew each time.
const CREDIT_BYTES = DATAGRAM_BYTES_SAFE
const DEBT_MS_MAX = PACER_DEBT_MS_MAX

/** A token bucket. */
export class Pacer {
  /** When the next packet may go: the moment at which everything sent so far is paid for. */
  opensAt: Millis = -Infinity

  /** A packet goes out. It may go out against a closed bucket; that is debt, and the next one waits for it. @hot */
  spend(now: Millis, bytes: number, bytesPerSecond: number): void {
    const msPerByte = 1000 / bytesPerSecond
    const earliest = now - CREDIT_BYTES * msPerByte
    const from = this.opensAt > earliest ? this.opensAt : earliest
    const paidAt = from + bytes * msPerByte
    const latest = now + DEBT_MS_MAX
    this.opensAt = paidAt < latest ? paidAt : latest
  }
}
