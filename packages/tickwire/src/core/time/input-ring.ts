/**
 * Inputs by number: the quantised row of what one player held during each of the last ticks.
 *
 * Numbers count from 1 and never repeat. A ring indexed by number and checked by it; what falls out is forgotten.
 */

import { INPUT_WINDOW } from '../base/limits.ts'

export class InputRing {
  readonly laneCount: number
  readonly rows: Int32Array
  /** The number whose row is in a place; 0 = none. */
  readonly #numbers = new Float64Array(INPUT_WINDOW)

  constructor(laneCount: number) {
    this.laneCount = laneCount
    this.rows = new Int32Array(INPUT_WINDOW * laneCount)
  }

  /** Where the row of an input lies in `rows`, whether it is there or not. */
  at(number: number): number {
    return (number % INPUT_WINDOW) * this.laneCount
  }

  has(number: number): boolean {
    return number > 0 && this.#numbers[number % INPUT_WINDOW] === number
  }

  /** Says that the row of an input is now in its place. */
  keep(number: number): void {
    this.#numbers[number % INPUT_WINDOW] = number
  }
}
