/**
 * Where time comes in in a browser: monotonic milliseconds since the page began.
 */

import type { Millis } from '../core/base/time.ts'

/** The time now. Never goes back, whatever happens to the wall clock. */
export function monotonicNow(): Millis {
  return performance.now()
}
