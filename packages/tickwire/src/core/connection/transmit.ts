/**
 * One datagram on its way out, filled by `pollTransmit` and reused for the next.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'

/** The first `length` bytes of `bytes` are for `to`. Valid until the next `pollTransmit`. */
export interface Transmit {
  /** The peer's address, in the transport's own words. */
  to: string
  readonly bytes: Uint8Array
  length: number
}

/** A transmit large enough for any datagram. One per loop is enough. */
export function createTransmit(): Transmit {
  return { to: '', bytes: new Uint8Array(DATAGRAM_BYTES_MAX), length: 0 }
}
