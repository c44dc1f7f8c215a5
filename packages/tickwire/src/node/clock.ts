/**
 * The clock on Node: monotonic milliseconds, fractional, from an arbitrary start.
 */

import { performance } from 'node:perf_hooks'
import type { Millis } from '../core/base/time.ts'

/** The time now. It never goes backwards, whatever happens to the wall clock. */
export function monotonicNow(): Millis {
  return performance.now()
}
