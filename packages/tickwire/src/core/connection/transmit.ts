/**
 * One outgoing datagram, filled by `pollTransmit` and reused for the next.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'

/** The first `length` bytes of `bytes` must be sent to `to`. Valid until the next `pollTransmit`. */
export interface Transmit {
  /** The peer's address, in the transport's own format. */
  to: string
  /** The datagram, at the start of a buffer. */
  readonly bytes: Uint8Array
  /** The number of bytes to send. */
  length: number
}

/** A transmit large enough for any datagram. One per loop is enough. */
export function createTransmit(): Transmit {
  return { to: '', bytes: new Uint8Array(DATAGRAM_BYTES_MAX), length: 0 }
}
