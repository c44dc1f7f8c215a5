/**
 * Intervals and timeouts of a connection. All are configurable; none reads a clock.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import { RTO_BOUNDS, type RtoBounds } from '../delivery/rtt.ts'

/** In milliseconds. */
export interface ConnectionTimers extends RtoBounds {
  /**
   * A request is repeated after a random time between these. There is no exponential backoff, because a player is
   * waiting. The randomness keeps many clients that lost the same server from sending in step.
   */
  readonly retryMsMin: number
  readonly retryMsMax: number
  /** A request without an answer fails after this time. */
  readonly connectMs: number
  /** A packet is sent at least this often, so that routers keep their mappings and the peer knows we are alive. */
  readonly keepaliveMs: number
  /** A peer that sends nothing for this long is gone. */
  readonly timeoutMs: number
  /** A closing connection sends its Disconnect several times within this time: three times, or every 100 ms. */
  readonly graceMs: number
}

/** The defaults. */
export const CONNECTION_TIMERS: ConnectionTimers = {
  retryMsMin: 200,
  retryMsMax: 250,
  connectMs: 10_000,
  keepaliveMs: 1000,
  timeoutMs: 10_000,
  graceMs: 200,
  ...RTO_BOUNDS,
}

/** Fills in defaults and checks the settings. */
export function completeTimers(timers: Partial<ConnectionTimers>): ConnectionTimers {
  const complete = { ...CONNECTION_TIMERS, ...timers }
  for (const [name, value] of Object.entries(complete)) {
    if (!Number.isFinite(value) || value <= 0) {
      throw new ConfigError(
        `timers.${name}`,
        `not a time (expected milliseconds above 0, got ${value})`,
        'give milliseconds above 0.',
      )
    }
  }
  if (complete.retryMsMin > complete.retryMsMax) {
    throw new ConfigError('timers.retryMsMin', 'above retryMsMax', 'swap them.')
  }
  if (complete.rtoMsMin > complete.rtoMsMax) {
    throw new ConfigError('timers.rtoMsMin', 'above rtoMsMax', 'swap them.')
  }
  if (complete.keepaliveMs * 2 > complete.timeoutMs) {
    throw new ConfigError(
      'timers.timeoutMs',
      'too short to survive one lost keepalive (expected at least twice keepaliveMs)',
      'give at least twice keepaliveMs.',
    )
  }
  return complete
}

const dice = new Uint8Array(1)

/** Draws the time until the next repetition. */
export function drawRetryMs({ retryMsMin, retryMsMax }: ConnectionTimers, entropy: Entropy): Millis {
  entropy.fill(dice)
  return retryMsMin + ((retryMsMax - retryMsMin) * dice[0]) / 255
}
