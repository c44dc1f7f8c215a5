/**
 * Who is shown every packet of a connection in the clear: header, acks and frames, before it is sealed and after it was
 * opened.
 *
 * Unset it costs one comparison a packet. It sees what an authenticated peer said before anybody has judged it, and it must
 * not keep `bytes`: they are used again.
 */

import type { Millis } from '../base/time.ts'
import type { PacketHeader } from './header.ts'

/** Told of packets. The body spans `header.byteLength` (received) or `bodyAt` (sent) up to `length` of `bytes`. */
export interface PacketWatch {
  handleReceived(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void
  handleSent(now: Millis, header: PacketHeader, bytes: Uint8Array, bodyAt: number, length: number): void
}
