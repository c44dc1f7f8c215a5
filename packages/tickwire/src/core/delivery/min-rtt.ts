/**
 * The shortest round trip of late: what the path takes when nothing waits in its queues.
 *
 * Two halves of 15 s each, so that a path that has become longer is believed after 15 to 30 s, and a queue that stands
 * for less than that is still seen as a queue. Whoever knows better says so (`rebase`).
 *
 * It does not smooth and does not know what is too long: congestion controllers do.
 */

import type { Millis } from '../base/time.ts'
import type { RttSample } from './congestion/controller.ts'

const HALF_MS = 15_000

/** A minimum over a sliding window. */
export class MinRtt {
  /** The time that the last sample spent in queues: in a cell, for a double that is returned is boxed. */
  readonly queueMs: Float64Array = new Float64Array(1)
  #current: number = Infinity
  #before: number = Infinity
  #halfBeganAt: Millis = -Infinity

  /** Infinity before the first sample. */
  get ms(): number {
    return this.#current < this.#before ? this.#current : this.#before
  }

  /** Takes a sample in, and leaves in `queueMs` by how much it is above the minimum. @hot */
  sample(now: Millis, rtt: RttSample): void {
    const rttMs = rtt.latestMs
    if (now >= this.#halfBeganAt + HALF_MS) {
      this.#before = now >= this.#halfBeganAt + 2 * HALF_MS ? Infinity : this.#current
      this.#current = rttMs
      this.#halfBeganAt = now
    } else if (rttMs < this.#current) {
      this.#current = rttMs
    }
    this.queueMs[0] = rttMs - (this.#current < this.#before ? this.#current : this.#before)
  }

  /** The path has become longer: what was shorter is forgotten. */
  rebase(now: Millis, ms: number): void {
    this.#current = ms
    this.#before = Infinity
    this.#halfBeganAt = now
  }

  /** Another path: nothing is known. */
  reset(): void {
    this.#current = Infinity
    this.#before = Infinity
    this.#halfBeganAt = -Infinity
  }
}
