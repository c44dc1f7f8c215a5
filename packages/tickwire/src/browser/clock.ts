/**
 * The clock in a browser: monotonic milliseconds since the page began.
 */

import type { Millis } from '../core/base/time.ts'

/** The time now. It never goes backwards, whatever happens to the wall clock. */
export function monotonicNow(): Millis {
  return performance.now()
}
