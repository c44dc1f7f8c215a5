/**
 * How fast a client that is behind steps: at most 30 ticks between two draws, and a fifth of the time is left for
 * drawing, so that a page shows the match in fast motion instead of standing still.
 */

import type { Millis } from '../base/time.ts'

/** For each ms of stepping so many ms are left for drawing: 80 and 20 percent. */
const REST = 0.25
/** Ticks of one call of `update`, and the time between two draws in ms: a page draws 60 times a second. */
const TICKS_PER_DRAW = 30
const DRAW_MS = 1000 / 60

/** The pace of one client. */
export class CatchUpPace {
  /** Until then nothing is stepped. */
  restUntil: Millis = -Infinity

  /** Ticks were stepped, from one time to another. A client that is not behind never rests. */
  note(ticks: number, from: Millis, to: Millis, isBehind: boolean): void {
    if (!isBehind || ticks < 2) return
    const tookMs = to - from
    this.restUntil = to + Math.max(REST * tookMs, ticks >= TICKS_PER_DRAW ? DRAW_MS - tookMs : 0)
  }
}
