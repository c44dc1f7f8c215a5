/**
 * When the bulk path is on (bulk-path.ts), and which ticks are *complete*.
 *
 * It is on while all clients together are sent more entries in a tick than one-by-one bookkeeping is cheap for. That
 * number depends only on the game and the clients: no clock is read.
 *
 * A complete tick comes once in four snapshots, the same ticks for all clients. Only then must a block delta have
 * everything that changed since its baseline; so only those ticks are baselines, and many clients share them.
 */

import type { Tick } from '../../base/time.ts'

/** Snapshots from one complete tick to the next. */
const SNAPSHOTS_PER_CYCLE = 4
/** Ticks between two decisions. */
const PERIOD_TICKS = 16
/**
 * More entries in a tick than the first turn it on, fewer than the second turn it off: far enough apart not to
 * oscillate.
 */
const ENTRIES_MANY = 20_000
const ENTRIES_FEW = 10_000

/** Whether whole blocks are sent in bulk. One for all clients of a world. */
export interface BulkSchedule {
  /** Ticks from one snapshot to the next. */
  readonly strideTicks: number
  readonly isOn: boolean
  /** Whether block deltas of a tick are complete. */
  isComplete(tick: Tick): boolean
  /** For tests and benches: on or off from now on, whatever is sent. */
  fix(isOn: boolean): void
  /** Counts the entries that one client is sent. */
  count(entries: number): void
  /** Ends a tick. */
  observe(): void
}

export function createBulkSchedule(strideTicks: number): BulkSchedule {
  const cycle = SNAPSHOTS_PER_CYCLE * strideTicks
  let [isOn, isFixed] = [false, false]
  let [entries, ticks] = [0, 0]
  return {
    strideTicks,
    get isOn() {
      return isOn
    },
    isComplete: (tick) => cycle - 1 - tick % cycle < strideTicks,
    fix(value) {
      isFixed = true
      isOn = value
    },
    count(sent) {
      entries += sent
    },
    observe() {
      if (++ticks < PERIOD_TICKS) return
      const mean = entries * strideTicks / PERIOD_TICKS
      if (!isFixed) isOn = mean > (isOn ? ENTRIES_FEW : ENTRIES_MANY)
      entries = 0
      ticks = 0
    },
  }
}
