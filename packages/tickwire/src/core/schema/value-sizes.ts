/**
 * How long a text or byte string may be. In reliable messages and calls it may be as long as a large message. Objects
 * and inputs live in a world and are sent as deltas, lists are encoded as one value, and unreliable messages travel in
 * one packet: there `VALUE_BYTES_MAX` is the limit.
 */

import { VALUE_BYTES_MAX } from '../base/limits.ts'
import type { Layout } from './layout.ts'
import { check } from './leaf.ts'

/**
 * Throws a ConfigError if a field allows longer values than permitted. `where` names the place that permits only short
 * ones; without it long ones are permitted.
 */
export function checkValueSizes(layout: Layout, where?: string): void {
  for (const { field: { spec }, path, item } of layout.heapLeaves) {
    const bytes = spec.kind === 'text' || spec.kind === 'bytes' ? spec.maxBytes : 0
    const isFit = where === undefined || bytes <= VALUE_BYTES_MAX
    check(
      isFit,
      path,
      `too large in ${where} (expected at most ${VALUE_BYTES_MAX} bytes of ${spec.kind}, got ${bytes})`,
      'use less; only reliable messages and calls carry longer values',
    )
    if (item !== undefined) checkValueSizes(item, 'a list')
  }
}
