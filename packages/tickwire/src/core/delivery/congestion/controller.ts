/**
 * The contract of congestion controllers: told what becomes of packets, one says how much may be sent.
 *
 * A controller is a function of what it was told. It owns no timer: it moves when it is told something, and a path on
 * which nothing happens keeps its rate. Contract tests: `test/contract/congestion.contract.ts`.
 *
 * It does not hold packets back: the pacer does. It does not share the rate among what is to be sent: lanes do.
 */

import { ConfigError } from '../../base/assert.ts'
import {
  CONGESTION_PACKETS_PER_SECOND_MAX, CONGESTION_PACKETS_PER_SECOND_MIN, DATAGRAM_BYTES_SAFE,
} from '../../base/limits.ts'
import type { Millis } from '../../base/time.ts'

/** A round trip: in an object, since a double that is handed over is boxed, with every packet. */
export interface RttSample {
  readonly latestMs: number
}

/** Says how much may be sent. */
export interface CongestionController {
  /** The budget: bytes that may be sent in a second. */
  readonly bytesPerSecond: number
  /** A packet has gone out. */
  onSent(now: Millis, bytes: number): void
  /** A round trip was measured, the peer's own delay subtracted. Comes before the `onAcked` of the same packet. */
  onRtt(now: Millis, rtt: RttSample): void
  /** A packet has arrived. */
  onAcked(now: Millis, bytes: number): void
  /** A packet was given up. */
  onLost(now: Millis, bytes: number): void
  /** The path is another one: what was learnt is worth nothing. */
  reset(now: Millis): void
}

/** Between which rates a controller moves, in full packets a second. */
export interface RateBounds {
  /** The conservative rate: what any path carries. Default 20: less would not pay for a small packet in every tick. */
  readonly packetsPerSecondMin: number
  /** Where it begins. Default 120. */
  readonly packetsPerSecondStart: number
  /** Where it ends. Default 1000. */
  readonly packetsPerSecondMax: number
  /** Bytes of a full packet. Default 1200. */
  readonly packetBytes: number
}

const DEFAULTS: RateBounds = {
  packetsPerSecondMin: 20, packetsPerSecondStart: 120, packetsPerSecondMax: 1000, packetBytes: DATAGRAM_BYTES_SAFE,
}

/** Completes and checks what the user configured. */
export function completeBounds(bounds: Partial<RateBounds>): RateBounds {
  const complete = { ...DEFAULTS, ...bounds }
  const { packetsPerSecondMin: min, packetsPerSecondStart: start, packetsPerSecondMax: max, packetBytes } = complete
  if (!(min >= CONGESTION_PACKETS_PER_SECOND_MIN && min <= start && start <= max && max <= CONGESTION_PACKETS_PER_SECOND_MAX)) {
    throw new ConfigError(
      'congestion', `${min} to ${max} packets a second, from ${start}`,
      `Give rates in rising order, from ${CONGESTION_PACKETS_PER_SECOND_MIN} to ${CONGESTION_PACKETS_PER_SECOND_MAX}.`,
    )
  }
  if (!(packetBytes > 0)) throw new ConfigError('congestion.packetBytes', `is ${packetBytes}`, 'Give a size above 0.')
  return complete
}
