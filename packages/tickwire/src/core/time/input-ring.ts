/**
 * Inputs by tick: the quantised row of one player's input in each of the last ticks, and what the player saw then.
 *
 * A ring indexed by tick modulo its size. Each place stores its tick. Old inputs are overwritten.
 *
 *   age    how far the drawn world was behind the tick of the input, in 1/256 ticks
 */

import { INPUT_WINDOW, VIEW_TICK_STEPS } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** Steps of a view's age within a tick: the grid of drawn moments, so that ages are exact. */
export const AGE_STEPS: number = VIEW_TICK_STEPS
export const AGE_BITS = 16
/** 255 ticks: a client that is further behind is not playing. */
export const AGE_MAX: number = (1 << AGE_BITS) - 1

export class InputRing {
  readonly laneCount: number
  readonly rows: Int32Array
  /** Indexed by place: the age of the view. */
  readonly ages: Uint16Array = new Uint16Array(INPUT_WINDOW)
  /** Indexed by place: the tick whose row is there; -1 = none. */
  readonly #ticks = new Float64Array(INPUT_WINDOW).fill(-1)

  constructor(laneCount: number) {
    this.laneCount = laneCount
    this.rows = new Int32Array(INPUT_WINDOW * laneCount)
  }

  /** The offset of a tick's row in `rows`, whether it is stored or not. */
  at(tick: Tick): number {
    return (tick % INPUT_WINDOW) * this.laneCount
  }

  has(tick: Tick): boolean {
    return tick >= 0 && this.#ticks[tick % INPUT_WINDOW] === tick
  }

  ageOf(tick: Tick): number {
    return this.ages[tick % INPUT_WINDOW]
  }

  /** Marks the row of a tick as stored in its place. */
  keep(tick: Tick, age: number = 0): void {
    this.#ticks[tick % INPUT_WINDOW] = tick
    this.ages[tick % INPUT_WINDOW] = age
  }

  /** The newest stored tick at or before this one; -1 when there is none within the window. */
  latest(tick: Tick): Tick {
    for (let each = tick; each >= 0 && each > tick - INPUT_WINDOW; each--) if (this.has(each)) return each
    return -1
  }

  clear(): void {
    this.#ticks.fill(-1)
  }
}
