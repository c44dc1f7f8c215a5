/** Turns the bulk path on in worlds that are too small to have it by themselves (core/replication/bulk). */

import type { BulkSchedule } from '../../packages/tickwire/src/core/replication/bulk/bulk-schedule.ts'

/** In every fourth seed common blocks are sent in bulk. */
export function drawBulk(schedule: BulkSchedule, seed: number): void {
  if (((seed >>> 1) & 3) === 3) schedule.fix(true)
}
