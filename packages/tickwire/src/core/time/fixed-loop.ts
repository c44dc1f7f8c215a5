/**
 * Turns uneven wall time into whole ticks: the simulation advances in fixed steps only, however often `due` is called.
 *
 * After n seconds exactly floor(n x tickRate) ticks have been due, regardless of the calls in between. A host that
 * slept does not run a thousand ticks at once: beyond a limit the rest is skipped and counted, because players prefer a
 * jump to waiting for a server that simulates the past.
 */

import { CATCH_UP_TICKS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'

export class FixedLoop {
  readonly tickMs: number
  /** Ticks that were never run, because the host was paused too long. */
  skippedTicks = 0
  readonly #tickRate: number
  #startedAt: Millis = -1
  #ranTicks = 0

  constructor(tickRate: number) {
    this.#tickRate = tickRate
    this.tickMs = 1000 / tickRate
  }

  /** How many ticks to run now, up to a limit. The first call starts the clock and returns 0. */
  due(now: Millis): number {
    if (this.#startedAt < 0) this.#startedAt = now
    const behind = this.#elapsedTicks(now) - this.#ranTicks
    const run = Math.min(behind, CATCH_UP_TICKS_MAX)
    this.skippedTicks += behind - run
    this.#ranTicks += behind
    return run
  }

  /** When the next tick is due. */
  nextAt(): Millis {
    return this.#startedAt < 0 ? 0 : this.#startedAt + (this.#ranTicks + 1) * 1000 / this.#tickRate
  }

  /** How far the current tick has progressed, from 0 to just below 1: where to draw between two states. */
  alpha(now: Millis): number {
    if (this.#startedAt < 0) return 0
    const ticks = (now - this.#startedAt) * this.#tickRate / 1000
    return Math.max(0, Math.min(ticks - this.#ranTicks, 1 - Number.EPSILON))
  }

  /** Whole ticks since the start, computed like `nextAt`, so that a tick due at t is due at exactly t. */
  #elapsedTicks(now: Millis): number {
    let ticks = Math.floor((now - this.#startedAt) * this.#tickRate / 1000)
    if (this.#startedAt + (ticks + 1) * 1000 / this.#tickRate <= now) ticks++
    return Math.max(ticks, this.#ranTicks)
  }
}
