/** The length of a Timeline, in ticks. */

import { ConfigError } from '../base/assert.ts'
import { TIMELINE_TICKS_MAX, TIMELINE_WINDOW_MS } from '../base/limits.ts'

const WINDOW_TICKS_MIN = 2

/** The number of ticks in a window of `windowMs`. */
export function windowTicks(tickRate: number, windowMs: number = TIMELINE_WINDOW_MS): number {
  const ticks = Math.max(Math.ceil((windowMs * tickRate) / 1000), WINDOW_TICKS_MIN)
  if (!(ticks <= TIMELINE_TICKS_MAX)) {
    throw new ConfigError(
      'windowMs',
      `too long (expected at most ${TIMELINE_TICKS_MAX} ticks, got ${windowMs} ms at ${tickRate} Hz: ${ticks} ticks)`,
      'use a shorter window; record the match for a longer history.',
    )
  }
  return ticks
}

/** Throws a ConfigError for a length that a Timeline cannot have. */
export function checkWindow(windowTicks: number): void {
  if (Number.isInteger(windowTicks) && windowTicks >= WINDOW_TICKS_MIN && windowTicks <= TIMELINE_TICKS_MAX) return
  throw new ConfigError(
    'windowTicks',
    `invalid length (expected ${WINDOW_TICKS_MIN} to ${TIMELINE_TICKS_MAX} ticks, got ${windowTicks})`,
    'give a length in this range.',
  )
}
