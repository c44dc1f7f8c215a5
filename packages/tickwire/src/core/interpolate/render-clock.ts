/**
 * Which moment is drawn: server time - one way - interpolation delay, as a fractional tick.
 *
 * It is fed with what came when, and asked once a draw; it knows no session and no clock sync:
 *
 *   clock.note(now, tick)      news of a tick newer than any before came, at local time `now`
 *   clock.advance(now)         a draw; then `clock.renderTick`, which the input carries as its view tick
 *
 *   transit = now - tick / rate        one way, plus the unknown distance of the two clocks
 *   base    = the least transit of the last seconds
 *   need    = now - base - (newest tick before this one) / rate
 *
 * `need` is the delay that would just have lasted until this arrival: jitter, loss and the gap between sends in one
 * number. The delay is what covered 95 of 100 recent arrivals, and half a tick, within bounds. The moment drawn runs at
 * a rate that a few percent bend towards where it ought to be; it jumps ahead when it is far behind (after a sleep),
 * stands when it is far ahead, and never goes back.
 *
 * It lies on a grid of 2^-8 tick, so that what rides in an input is exactly what was drawn.
 */

import { ConfigError } from '../base/assert.ts'
import { ARRIVALS_REMEMBERED, VIEW_TICK_STEPS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'

export interface RenderClockOptions {
  /** The delay to begin with: 20 in an arena at 128 Hz, 100 where snapshots come 20 to 30 times a second. */
  readonly delayMs: number
  /** Default: one tick, and 100 (or what it begins with, if that is more). The same number twice fixes the delay. */
  readonly delayMsMin?: number
  readonly delayMsMax?: number
  /** By how much time may run faster or slower, as a share. Default 0.05. */
  readonly bend?: number
}

const NO_TICK = -1
/** The share of arrivals that the delay must cover; the rest is dead reckoning's. */
const COVERED = 0.95
/** Of a least transit: so long it counts at most, so that a drift of 500 ppm costs 2 ms. */
const BASE_SPAN_MS = 2000
/** What no network does: clocks that moved. One sample this early, or several this late in a row. */
const CLOCK_STEP_MS = 1000
const CLOCK_STEP_SAMPLES = 8
/** So far off, the moment drawn is not bent but set (or stands). */
const RESYNC_MS = 250
/** Off by this much, time is bent by all it may be: below, in proportion. */
const BEND_FULL_MS = 20

// Places in `#state`.
const [BASE, BASE_BEFORE, BASE_SINCE, TARGET, LAST_NOW, MOMENT] = [0, 1, 2, 3, 4, 5] as const

export class RenderClock {
  /** The newest tick heard of; -1 before the first. */
  newest: Tick = NO_TICK
  /** How often the moment was set rather than bent, and how often the clocks were found to have moved. */
  resyncs = 0
  clockSteps = 0
  readonly #tickMs: number
  readonly #delayMsMin: number
  readonly #delayMsMax: number
  readonly #bend: number
  readonly #state = new Float64Array(6)
  /** The last needs, oldest overwritten; and the same in ascending order. */
  readonly #needs = new Float64Array(ARRIVALS_REMEMBERED)
  readonly #sorted = new Float64Array(ARRIVALS_REMEMBERED)
  #needCount = 0
  #lateInRow = 0
  #isRunning = false

  constructor(tickRate: number, options: RenderClockOptions) {
    const tickMs = 1000 / tickRate
    const { delayMs, delayMsMin = Math.min(tickMs, delayMs), delayMsMax = Math.max(delayMs, 100), bend = 0.05 } = options
    if (!(delayMsMin >= 0 && delayMsMin <= delayMs && delayMs <= delayMsMax && delayMsMax < Infinity)) {
      throw new ConfigError('delayMs', `${delayMs} is not within ${delayMsMin} to ${delayMsMax}`, 'Give 0 <= delayMsMin <= delayMs <= delayMsMax.')
    }
    if (!(bend > 0 && bend < 1)) throw new ConfigError('bend', `${bend}`, 'Give a share between 0 and 1, such as 0.05.')
    this.#tickMs = tickMs
    this.#delayMsMin = delayMsMin
    this.#delayMsMax = delayMsMax
    this.#bend = bend
    this.#state[TARGET] = delayMs
  }

  /** The moment to draw, a fractional tick on a grid of 2^-8; -1 before anything is known. */
  get renderTick(): number {
    return this.#isRunning ? Math.max(Math.floor(this.#state[MOMENT] * VIEW_TICK_STEPS) / VIEW_TICK_STEPS, 0) : NO_TICK
  }

  /** The delay that arrivals ask for, in milliseconds: where the drawn one is going. */
  get targetDelayMs(): number {
    return this.#state[TARGET]
  }

  /** The delay of the last draw, behind what could have been known at the earliest. */
  get delayMs(): number {
    return this.#state[LAST_NOW] - this.#base() - this.#state[MOMENT] * this.#tickMs
  }

  /** News of a tick came. Late and repeated ones only say how fast the path can be. */
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

  /** Moves on to a draw at `now`. Before the first news there is nothing to draw. */
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

  /** Takes the need of one arrival into account; an outage is no reason to draw later ever after. */
  #learn(needMs: number): void {
    if (needMs > 4 * this.#delayMsMax) return
    const at = this.#needCount % ARRIVALS_REMEMBERED
    const size = Math.min(this.#needCount, ARRIVALS_REMEMBERED)
    if (size === ARRIVALS_REMEMBERED) this.#remove(this.#needs[at])
    this.#insert(needMs, Math.min(size, ARRIVALS_REMEMBERED - 1))
    this.#needs[at] = needMs
    this.#needCount++
    const known = Math.min(this.#needCount, ARRIVALS_REMEMBERED)
    // A few arrivals say little: until then what it began with holds.
    if (known < ARRIVALS_REMEMBERED / 8) return
    const covered = this.#sorted[Math.ceil(known * COVERED) - 1] + this.#tickMs / 2
    this.#state[TARGET] = Math.max(this.#delayMsMin, Math.min(this.#delayMsMax, covered))
  }

  #remove(value: number): void {
    const at = this.#sorted.indexOf(value)
    this.#sorted.copyWithin(at, at + 1)
  }

  /** Inserts into the `count` that are sorted. */
  #insert(value: number, count: number): void {
    let at = count
    while (at > 0 && this.#sorted[at - 1] > value) at--
    this.#sorted.copyWithin(at + 1, at, count)
    this.#sorted[at] = value
  }
}
