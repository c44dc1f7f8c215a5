/**
 * Inputs by tick: the quantised row of what one player held during each of the last ticks, and what he saw then.
 *
 * A ring indexed by tick and checked by it; what falls out is forgotten.
 *
 *   age    how long before the tick of the input the world was that he looked at, in 1/256 ticks
 */

import { INPUT_WINDOW, VIEW_TICK_STEPS } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'

/** Steps of a view's age within a tick: the grid that moments are drawn on, so that it is exact. */
export const AGE_STEPS: number = VIEW_TICK_STEPS
export const AGE_BITS = 16
/** 255 ticks: who is further behind is not playing. */
export const AGE_MAX: number = (1 << AGE_BITS) - 1

export class InputRing {
  readonly laneCount: number
  readonly rows: Int32Array
  /** By place: the age of the view. */
  readonly ages: Uint16Array = new Uint16Array(INPUT_WINDOW)
  /** The tick whose row is in a place; -1 = none. */
  readonly #ticks = new Float64Array(INPUT_WINDOW).fill(-1)

  constructor(laneCount: number) {
    this.laneCount = laneCount
    this.rows = new Int32Array(INPUT_WINDOW * laneCount)
  }

  /** Where the row of a tick lies in `rows`, whether it is there or not. */
  at(tick: Tick): number {
    return (tick % INPUT_WINDOW) * this.laneCount
  }

  has(tick: Tick): boolean {
    return tick >= 0 && this.#ticks[tick % INPUT_WINDOW] === tick
  }

  ageOf(tick: Tick): number {
    return this.ages[tick % INPUT_WINDOW]
  }

  /** Says that the row of a tick is now in its place. */
  keep(tick: Tick, age: number = 0): void {
    this.#ticks[tick % INPUT_WINDOW] = tick
    this.ages[tick % INPUT_WINDOW] = age
  }

  /** The newest tick at or before this one that there is a row of; -1 when there is none within the window. */
  latest(tick: Tick): Tick {
    for (let each = tick; each >= 0 && each > tick - INPUT_WINDOW; each--) if (this.has(each)) return each
    return -1
  }

  clear(): void {
    this.#ticks.fill(-1)
  }
}
