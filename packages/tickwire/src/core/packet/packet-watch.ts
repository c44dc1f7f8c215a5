/**
 * Observes every packet of a connection unencrypted: header, acks and frames, before it is sealed and after it was
 * opened.
 *
 * When unset it costs one comparison per packet. It sees the bytes of an authenticated peer before they are validated,
 * and it must not keep `bytes`: they are reused.
 */

import type { Millis } from '../base/time.ts'
import type { PacketHeader } from './header.ts'

/** The body spans from `header.byteLength` (received) or `bodyAt` (sent) up to `length` of `bytes`. */
export interface PacketWatch {
  /** A packet was received and opened. */
  handleReceived(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void
  /** A packet is about to be sealed and sent. */
  handleSent(now: Millis, header: PacketHeader, bytes: Uint8Array, bodyAt: number, length: number): void
}
