/**
 * How long after the start of its window a tick of a mesh is stepped. It is the same on all peers, because the leading
 * peer announces it in a batch.
 *
 * Each peer measures how late batches arrive, with losses and wrong clocks. The deadline is one tick plus the need of
 * the slowest peer. It rises at once and falls slowly.
 */

import type { Tick } from '../base/time.ts'

const START_MS = 120
const MARGIN_MS = 12
const MS_MAX = 250
const SAMPLES = 128
/** Of 128 batches, this many may be later. */
const LATE = 2
const ANNOUNCE_TICKS = 15
const ANNOUNCE_MS = 4
const FALL_MS = 5

export class MeshDeadline {
  ms: number = START_MS
  #tickMs: number
  readonly #samples = new Float64Array(SAMPLES)
  readonly #latest = new Float64Array(LATE)
  #count = 0

  constructor(tickMs: number) {
    this.#tickMs = tickMs
  }

  /** The deadline in ticks. */
  get ticks(): number {
    return this.ms / this.#tickMs
  }

  /** How late all but the latest batches arrive after the end of their window, in ms. */
  get needMs(): number {
    const count = Math.min(this.#count, SAMPLES)
    const latest = this.#latest.fill(0)
    for (let at = 0; at < count; at++) {
      const sample = this.#samples[at]
      if (sample <= latest[LATE - 1]) continue
      let place = LATE - 1
      for (; place > 0 && latest[place - 1] < sample; place--) latest[place] = latest[place - 1]
      latest[place] = sample
    }
    return Math.min(latest[LATE - 1], MS_MAX)
  }

  setSpeed(tickMs: number): void {
    this.#tickMs = tickMs
    this.#count = 0
  }

  /** A batch arrived `lateTicks` after the end of its window. */
  note(lateTicks: number): void {
    this.#samples[this.#count++ % SAMPLES] = Math.max(0, lateTicks * this.#tickMs)
  }

  /** The position at which a tick is due. */
  dueAt(tick: Tick): number {
    return tick - 1 + this.ticks
  }

  /** The deadline that the leading peer announces with a tick, in microseconds; 0: none. */
  announce(tick: Tick, needMs: number): number {
    if (tick % ANNOUNCE_TICKS !== 0) return 0
    const wanted = Math.min(Math.max(this.#tickMs + needMs, this.#tickMs) + MARGIN_MS, MS_MAX)
    const ms = Math.max(wanted, this.ms - FALL_MS)
    return Math.abs(ms - this.ms) < ANNOUNCE_MS ? 0 : Math.round(ms * 1000)
  }

  /** The announced deadline. */
  set(ms: number): void {
    this.ms = Math.min(Math.max(ms, this.#tickMs), MS_MAX)
  }
}
