/**
 * The window clock of one peer of a mesh. Its position is a number of ticks: window k is [k - 1, k).
 *
 * The clock of the lowest player leads, and the others follow it. Correctness does not depend on it: a tick is stepped
 * when all batches have arrived, and with a good clock they arrive in time.
 */

import type { Millis } from '../base/time.ts'

/** Samples of the leading clock: a second at 30 Hz. */
const SAMPLES = 32
/** The clock runs at most this much faster or slower to follow. */
const SLEW = 0.1
/** The share of an error that is corrected per tick. */
const GAIN = 0.1
/** An error of more ticks is not drift: the clock jumps forward. */
const JUMP_TICKS = 8

export class MeshClock {
  readonly #nominalMs: number
  #tickMs: number
  #position = 0
  #at: Millis = 0
  #isRunning = false
  /** How far the leading clock was ahead of a free clock, in ticks, for the last frames. The largest had no delay. */
  readonly #samples = new Float64Array(SAMPLES)
  #count = 0

  constructor(tickMs: number) {
    this.#nominalMs = tickMs
    this.#tickMs = tickMs
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Length of a tick in real time, in ms. */
  get tickMs(): number {
    return this.#tickMs
  }

  /** The position at the last `advance`. */
  get position(): number {
    return this.#position
  }

  /** Begins, or goes on after a stop. */
  start(now: Millis): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#at = now
    this.#count = 0
  }

  /** Stands still until `start`. */
  stop(): void {
    this.#isRunning = false
    this.#count = 0
  }

  setSpeed(percent: number): void {
    this.#tickMs = (100 * this.#nominalMs) / percent
    this.#count = 0
  }

  /** Another clock leads. */
  forget(): void {
    this.#count = 0
  }

  /** Moves to `now`, at most to `limit`, and returns the position. */
  advance(now: Millis, limit: number): number {
    if (!this.#isRunning) return this.#position
    const elapsed = Math.max(0, now - this.#at) / this.#tickMs
    this.#at = now
    let to = this.#position + elapsed
    if (this.#count > 0) {
      const error = this.#best() + now / this.#tickMs - to
      if (error > JUMP_TICKS) to += error
      else to += elapsed * Math.max(-SLEW, Math.min(GAIN * error, SLEW))
      if (error < -JUMP_TICKS) to = this.#position
    }
    this.#position = Math.max(this.#position, Math.min(to, limit))
    return this.#position
  }

  /** The leading clock was at `position` when it sent, and the way takes at least `wayMs`. */
  follow(now: Millis, position: number, wayMs: number): void {
    if (this.#position === 0) this.#position = position + wayMs / this.#tickMs
    this.#samples[this.#count++ % SAMPLES] = position + (wayMs - now) / this.#tickMs
  }

  /** When the position will be reached, at the present speed. */
  timeOf(position: number): Millis {
    return this.#isRunning ? this.#at + Math.max(0, position - this.#position) * this.#tickMs : Infinity
  }

  #best(): number {
    let best = -Infinity
    for (let at = Math.min(this.#count, SAMPLES) - 1; at >= 0; at--) best = Math.max(best, this.#samples[at])
    return best
  }
}
