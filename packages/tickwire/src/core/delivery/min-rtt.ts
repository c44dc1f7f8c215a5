/**
 * The shortest recent round trip: the time that the path takes when its queues are empty.
 *
 * Two halves of 15 s each. So a path that has become longer is recognised after 15 to 30 s, and a queue that lasts for
 * less than that still counts as a queue. A caller that knows more calls `rebase`.
 *
 * This class does not smooth and does not judge: congestion controllers do.
 */

import type { Millis } from '../base/time.ts'
import type { RttSample } from './congestion/controller.ts'

const HALF_MS = 15_000

/** A minimum over a sliding window. */
export class MinRtt {
  /** The time that the last sample spent in queues. In a typed array, because a returned double is boxed. */
  readonly queueMs: Float64Array = new Float64Array(1)
  #current: number = Infinity
  #before: number = Infinity
  #halfBeganAt: Millis = -Infinity

  /** Infinity before the first sample. */
  get ms(): number {
    return this.#current < this.#before ? this.#current : this.#before
  }

  /** Adds a sample, and stores in `queueMs` by how much it is above the minimum. @hot */
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

  /** The path has become longer: shorter samples are discarded. */
  rebase(now: Millis, ms: number): void {
    this.#current = ms
    this.#before = Infinity
    this.#halfBeganAt = now
  }

  /** The path has changed: all samples are discarded. */
  reset(): void {
    this.#current = Infinity
    this.#before = Infinity
    this.#halfBeganAt = -Infinity
  }
}
