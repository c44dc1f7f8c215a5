/**
 * When a connection speaks up, waits, and gives up. All configurable, none read from a clock.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'

/** In milliseconds. */
export interface ConnectionTimers {
  /**
   * A request is repeated after a time drawn between these: no exponential backoff, for a player waits at the other
   * end, and the draw keeps a crowd that lost its server from knocking in step.
   */
  readonly retryMsMin: number
  readonly retryMsMax: number
  /** A request without an answer is given up after this. */
  readonly connectMs: number
  /** Something is sent at least this often, so that routers keep the way open and the peer knows we live. */
  readonly keepaliveMs: number
  /** A peer that says nothing for this long is gone. */
  readonly timeoutMs: number
  /** A closing connection tells its peer three times within this time. */
  readonly graceMs: number
}

/** The defaults. */
export const CONNECTION_TIMERS: ConnectionTimers = {
  retryMsMin: 200, retryMsMax: 250, connectMs: 10_000, keepaliveMs: 1000, timeoutMs: 10_000, graceMs: 200,
}

/** Completes and checks what the user configured. */
export function completeTimers(timers: Partial<ConnectionTimers>): ConnectionTimers {
  const complete = { ...CONNECTION_TIMERS, ...timers }
  for (const [name, value] of Object.entries(complete)) {
    if (!Number.isFinite(value) || value <= 0) {
      throw new ConfigError(`timers.${name}`, `${value} is not a time`, 'Give milliseconds above 0.')
    }
  }
  if (complete.retryMsMin > complete.retryMsMax) {
    throw new ConfigError('timers.retryMsMin', 'is above retryMsMax', 'Swap them.')
  }
  if (complete.keepaliveMs * 2 > complete.timeoutMs) {
    throw new ConfigError('timers.timeoutMs', 'leaves no room for one lost keepalive', 'Make it at least twice keepaliveMs.')
  }
  return complete
}

const dice = new Uint8Array(1)

/** How long to wait before saying it again. */
export function drawRetryMs({ retryMsMin, retryMsMax }: ConnectionTimers, entropy: Entropy): Millis {
  entropy.fill(dice)
  return retryMsMin + ((retryMsMax - retryMsMin) * dice[0]) / 255
}
