/**
 * The contract of congestion controllers: a controller is notified of sent, delivered and lost packets, and decides how
 * much may be sent.
 *
 * A controller depends only on these notifications. It has no timer: it changes its rate only when it is notified, and
 * an idle path keeps its rate. Contract tests: `test/contract/congestion.contract.ts`.
 *
 * A controller does not hold packets back: the pacer does. It does not divide the rate among kinds of data: the order
 * of the sources does.
 */

import { ConfigError } from '../../base/assert.ts'
import {
  CONGESTION_PACKETS_PER_SECOND_MAX, CONGESTION_PACKETS_PER_SECOND_MIN, DATAGRAM_BYTES_SAFE,
} from '../../base/limits.ts'
import type { Millis } from '../../base/time.ts'

/** A round trip. An object, because a double passed as an argument would be boxed for every packet. */
export interface RttSample {
  /** The latest round trip, in ms. */
  readonly latestMs: number
}

/** Decides how much may be sent. */
export interface CongestionController {
  /** The rate: bytes that may be sent per second. */
  readonly bytesPerSecond: number
  /** A packet was sent. */
  onSent(now: Millis, bytes: number): void
  /** A round trip was measured, less the peer's own delay. Called before the `onAcked` of the same packet. */
  onRtt(now: Millis, rtt: RttSample): void
  /** A packet was delivered. */
  onAcked(now: Millis, bytes: number): void
  /** A packet was lost. */
  onLost(now: Millis, bytes: number): void
  /** The path has changed: everything learnt is discarded. */
  reset(now: Millis): void
}

/** The bounds of a controller's rate, in full packets per second. */
export interface RateBounds {
  /** The conservative rate, which any path carries. Default 20: less would not pay for a small packet in every tick. */
  readonly packetsPerSecondMin: number
  /** The initial rate. Default 120. */
  readonly packetsPerSecondStart: number
  /** The maximum rate. Default 1000. */
  readonly packetsPerSecondMax: number
  /** Bytes of a full packet. Default 1200. */
  readonly packetBytes: number
}

const DEFAULTS: RateBounds = {
  packetsPerSecondMin: 20, packetsPerSecondStart: 120, packetsPerSecondMax: 1000, packetBytes: DATAGRAM_BYTES_SAFE,
}

/** Fills in defaults and checks the settings. */
export function completeBounds(bounds: Partial<RateBounds>): RateBounds {
  const complete = { ...DEFAULTS, ...bounds }
  const { packetsPerSecondMin: min, packetsPerSecondStart: start, packetsPerSecondMax: max, packetBytes } = complete
  if (!(
    min >= CONGESTION_PACKETS_PER_SECOND_MIN
    && min <= start
    && start <= max
    && max <= CONGESTION_PACKETS_PER_SECOND_MAX
  )) {
    throw new ConfigError(
      'congestion',
      `invalid packet rates (got ${min} to ${max} packets a second, from ${start})`,
      `give rates in rising order, from ${CONGESTION_PACKETS_PER_SECOND_MIN} to ${CONGESTION_PACKETS_PER_SECOND_MAX}.`,
    )
  }
  if (!(packetBytes > 0))
    throw new ConfigError(
      'congestion.packetBytes',
      `invalid size (expected above 0, got ${packetBytes})`,
      'give a size above 0.',
    )
  return complete
}
