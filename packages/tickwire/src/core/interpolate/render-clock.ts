/**
 * Which moment is drawn: server time - one way - interpolation delay, as a fractional tick.
 *
 * It is given the arrival times and asked once per draw. It does not depend on the session or the clock sync:
 *
 *   clock.note(now, tick)      data of a tick arrived, at local time `now`
 *   clock.advance(now)         a draw; then `clock.renderTick`, which the input carries as its view tick
 *
 *   transit = now - tick / rate        one way, plus the unknown offset between the two clocks
 *   base    = the least transit of the last seconds
 *   need    = now - base - (newest tick before this one) / rate
 *
 * `need` is the delay that would just have lasted until this arrival: jitter, loss and the send interval in one number.
 * The delay is what covered 95 of 100 recent arrivals, plus half a tick, within bounds. The render tick advances at a
 * rate that is bent by a few percent towards its target. It jumps ahead when it is far behind (after a sleep), stops
 * when it is far ahead, and never goes back.
 *
 * It is rounded to a grid of 2^-8 tick, so that the value in an input is exactly what was drawn.
 */

import { ConfigError } from '../base/assert.ts'
import { ARRIVALS_REMEMBERED, VIEW_TICK_STEPS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'

/** The delay of the drawn moment behind the newest received tick. */
export interface RenderClockOptions {
  /** The initial delay: 20 in an arena at 128 Hz, 100 where 20 to 30 snapshots arrive per second. */
  readonly delayMs: number
  /** Default: one tick, and 100 (or the initial delay, if that is more). Equal numbers fix the delay. */
  readonly delayMsMin?: number
  /** The longest delay, in ms. Default: 100, or the initial delay if that is longer. */
  readonly delayMsMax?: number
  /** How much faster or slower time may run, as a share. Default 0.05. */
  readonly bend?: number
}

const NO_TICK = -1
/** The share of arrivals that the delay must cover. Dead reckoning covers the rest. */
const COVERED = 0.95
/** How long a least transit counts at most, so that a drift of 500 ppm costs 2 ms. */
const BASE_SPAN_MS = 2000
/** No network causes this: a clock was set. One sample this early, or several in a row this late. */
const CLOCK_STEP_MS = 1000
const CLOCK_STEP_SAMPLES = 8
/** If it is further off than this, the render tick is set (or stops) instead of bent. */
const RESYNC_MS = 250
/** From this error on, time is bent by the full share; below it, in proportion. */
const BEND_FULL_MS = 20

// Indexes into `#state`.
const [BASE, BASE_BEFORE, BASE_SINCE, TARGET, LAST_NOW, MOMENT] = [0, 1, 2, 3, 4, 5] as const

/** Decides which moment of the past is drawn now. */
export class RenderClock {
  /** The newest tick received; -1 before the first. */
  newest: Tick = NO_TICK
  /** Counters: how often the render tick was set instead of bent, and how often a clock step was detected. */
  resyncs = 0
  /** How often a step of a clock was detected. */
  clockSteps = 0
  readonly #tickMs: number
  /** Bounds of the delay, which follows the jitter. */
  readonly delayMsMin: number
  /** The longest delay, in ms. */
  readonly delayMsMax: number
  readonly #bend: number
  readonly #state = new Float64Array(6)
  /** The last needs, oldest overwritten; and the same values in ascending order. */
  readonly #needs = new Float64Array(ARRIVALS_REMEMBERED)
  readonly #sorted = new Float64Array(ARRIVALS_REMEMBERED)
  #needCount = 0
  #lateInRow = 0
  #isRunning = false

  constructor(tickRate: number, options: RenderClockOptions) {
    const tickMs = 1000 / tickRate
    const {
      delayMs,
      delayMsMin = Math.min(tickMs, delayMs),
      delayMsMax = Math.max(delayMs, 100),
      bend = 0.05,
    } = options
    if (!(delayMsMin >= 0 && delayMsMin <= delayMs && delayMs <= delayMsMax && delayMsMax < Infinity)) {
      throw new ConfigError(
        'delayMs',
        `out of bounds (expected ${delayMsMin} to ${delayMsMax}, got ${delayMs})`,
        'give 0 <= delayMsMin <= delayMs <= delayMsMax.',
      )
    }
    if (!(bend > 0 && bend < 1)) throw new ConfigError(
      'bend',
      `invalid share (expected between 0 and 1, got ${bend})`,
      'give a share such as 0.05.',
    )
    this.#tickMs = tickMs
    this.delayMsMin = delayMsMin
    this.delayMsMax = delayMsMax
    this.#bend = bend
    this.#state[TARGET] = delayMs
  }

  /** The moment to draw, a fractional tick on a grid of 2^-8; -1 before the first draw with data. */
  get renderTick(): number {
    return this.#isRunning ? Math.max(Math.floor(this.#state[MOMENT] * VIEW_TICK_STEPS) / VIEW_TICK_STEPS, 0) : NO_TICK
  }

  /** The delay that arrivals require, in milliseconds. The drawn delay moves towards it. */
  get targetDelayMs(): number {
    return this.#state[TARGET]
  }

  /** The delay of the last draw, relative to the earliest possible arrival. */
  get delayMs(): number {
    return this.#state[LAST_NOW] - this.#base() - this.#state[MOMENT] * this.#tickMs
  }

  /** Data of a tick arrived. A late or repeated tick only updates the least transit. */
  note(now: Millis, tick: Tick): void {
    const transit = now - tick * this.#tickMs
    if (this.newest === NO_TICK || this.#hasClockMoved(transit)) this.#begin(now, transit)
    if (now - this.#state[BASE_SINCE] > BASE_SPAN_MS) {
      this.#state[BASE_BEFORE] = this.#state[BASE]
      this.#state[BASE] = transit
      this.#state[BASE_SINCE] = now
    }
    this.#state[BASE] = Math.min(this.#state[BASE], transit)
    if (tick <= this.newest) return
    if (this.newest !== NO_TICK) this.#learn(now - this.#base() - this.newest * this.#tickMs)
    this.newest = tick
  }

  /** Advances to a draw at `now`. Before the first data there is nothing to draw. */
  advance(now: Millis): void {
    const state = this.#state
    if (this.newest === NO_TICK) return
    const ideal = (now - this.#base() - state[TARGET]) / this.#tickMs
    const elapsed = Math.max(now - state[LAST_NOW], 0)
    state[LAST_NOW] = Math.max(now, state[LAST_NOW])
    if (!this.#isRunning) {
      this.#isRunning = true
      state[LAST_NOW] = now
      state[MOMENT] = ideal
      return
    }
    const offMs = (ideal - state[MOMENT]) * this.#tickMs - elapsed
    if (offMs < -RESYNC_MS) return
    const bend = Math.max(-1, Math.min(1, offMs / BEND_FULL_MS)) * this.#bend
    state[MOMENT] += elapsed * (1 + bend) / this.#tickMs
    if (offMs > RESYNC_MS) {
      state[MOMENT] = Math.max(ideal, state[MOMENT])
      this.resyncs++
    }
  }

  #base(): number {
    return Math.min(this.#state[BASE], this.#state[BASE_BEFORE])
  }

  #begin(now: Millis, transit: number): void {
    if (this.newest !== NO_TICK) this.clockSteps++
    this.#state[BASE] = transit
    this.#state[BASE_BEFORE] = transit
    this.#state[BASE_SINCE] = now
    this.#lateInRow = 0
  }

  #hasClockMoved(transit: number): boolean {
    const late = transit - this.#base()
    this.#lateInRow = late > CLOCK_STEP_MS ? this.#lateInRow + 1 : 0
    return late < -CLOCK_STEP_MS || this.#lateInRow >= CLOCK_STEP_SAMPLES
  }

  /** Takes the need of one arrival into account. An outage must not raise the delay, so it is ignored. */
  #learn(needMs: number): void {
    if (needMs > 4 * this.delayMsMax) return
    const at = this.#needCount % ARRIVALS_REMEMBERED
    const size = Math.min(this.#needCount, ARRIVALS_REMEMBERED)
    if (size === ARRIVALS_REMEMBERED) this.#remove(this.#needs[at])
    this.#insert(needMs, Math.min(size, ARRIVALS_REMEMBERED - 1))
    this.#needs[at] = needMs
    this.#needCount++
    const known = Math.min(this.#needCount, ARRIVALS_REMEMBERED)
    // A few arrivals say little. Until there are enough, the initial delay stays.
    if (known < ARRIVALS_REMEMBERED / 8) return
    const covered = this.#sorted[Math.ceil(known * COVERED) - 1] + this.#tickMs / 2
    this.#state[TARGET] = Math.max(this.delayMsMin, Math.min(this.delayMsMax, covered))
  }

  #remove(value: number): void {
    const at = this.#sorted.indexOf(value)
    this.#sorted.copyWithin(at, at + 1)
  }

  /** Inserts a value into the first `count`, which are sorted. */
  #insert(value: number, count: number): void {
    let at = count
    while (at > 0 && this.#sorted[at - 1] > value) at--
    this.#sorted.copyWithin(at + 1, at, count)
    this.#sorted[at] = value
  }
}
