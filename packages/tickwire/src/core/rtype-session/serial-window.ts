/**
 * Sequences of 32 bits that wrap: which were received, among the newest 1,024.
 *
 * Sequences are compared as serial numbers: the shorter way around the circle decides which of two is newer. Inside, a
 * sequence is a whole number that never wraps.
 */

import { ReplayWindow, type Freshness } from '../crypto/replay-window.ts'

const SPAN = 2 ** 32

/** Received sequences of one peer. */
export class SerialWindow {
  readonly #window: ReplayWindow = new ReplayWindow()
  #newest: number = 0

  /** Whether the sequence was received before, or is too old to tell. @hot */
  peek(sequence: number): Freshness {
    return this.#window.peek(this.#expand(sequence))
  }

  /** Marks a sequence for which `peek` returned 'new'. @hot */
  mark(sequence: number): void {
    const whole = this.#expand(sequence)
    this.#window.mark(whole)
    if (whole > this.#newest) this.#newest = whole
  }

  /** The first sequence may be any, so it begins one turn ahead. @hot */
  #expand(sequence: number): number {
    if (this.#newest === 0) return SPAN + sequence
    return this.#newest + ((sequence - this.#newest) | 0)
  }
}

/** Whether `a` was sent after `b`, both of 32 bits. @hot */
export function isNewer32(a: number, b: number): boolean {
  return ((a - b) | 0) > 0
}
