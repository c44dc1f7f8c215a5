/**
 * How long after the start of its window a tick is closed.
 *
 * It is one tick, because an order may be given at the end of its window, plus the need of the slowest player that
 * counts: the way of 95 of 100 packets, the jitter, and one draw or step. It rises by up to 5 % of a tick per tick and
 * falls by 10 ms a second: a short disturbance does not delay the rest of the match.
 */

import type { Millis } from '../base/time.ts'
import type { ClockLine } from './clock-line.ts'
import type { CompleteRelayOptions } from './relay-options.ts'
import { FIELD, type RelayState } from './relay-state.ts'

/** Needs up to this are waited for, whatever the median. */
const NEAR_MS = 100
/** The deadline covers a player up to this much above the median, in ms. */
const OUTLIER_MS = 50
/** A higher need counts for this long after it was measured. */
const HOLD_MS = 2000
const RISE = 0.05
const FALL_MS_PER_SECOND = 10

export class Deadline {
  /** The deadline of the tick that closes next, in ms. */
  ms: number
  /** The target of the deadline, in ms. */
  targetMs: number
  readonly #state: RelayState
  readonly #options: CompleteRelayOptions
  readonly #line: ClockLine
  readonly #needs: Float64Array

  constructor(state: RelayState, options: CompleteRelayOptions, line: ClockLine) {
    this.#state = state
    this.#options = options
    this.#line = line
    this.#needs = new Float64Array(options.players)
    this.ms = this.#clamp(options.deadlineMs)
    this.targetMs = this.ms
  }

  /** Moves the deadline towards its target. Call once per tick. */
  slew(tickMs: number): void {
    const rise = Math.min(this.targetMs - this.ms, RISE * tickMs)
    const fall = (FALL_MS_PER_SECOND * tickMs) / 1000
    this.ms = this.#clamp(this.ms + Math.max(rise, -fall))
  }

  /** Measures the needs of all players. Call about once a second. */
  measure(now: Millis, tickMs: number): void {
    const needs = this.#needs
    let count = 0
    for (let slot = 0; slot < this.#options.players; slot++) {
      if (this.#isCounted(slot)) needs[count++] = this.#needOf(now, slot)
    }
    if (count === 0) return
    const sorted = needs.subarray(0, count).sort()
    const limit = this.#options.cover === 'all' ? Infinity : Math.max(NEAR_MS, sorted[count >>> 1] + OUTLIER_MS)
    let most = sorted[0]
    for (let each = 0; each < count; each++) if (sorted[each] <= limit) most = sorted[each]
    this.targetMs = this.#clamp(tickMs + most)
  }

  #isCounted(slot: number): boolean {
    const state = this.#state
    return state.get(slot, FIELD.peer) !== 0 && state.get(slot, FIELD.away) === 0 && state.get(slot, FIELD.samples) > 0
  }

  #needOf(now: Millis, slot: number): number {
    const state = this.#state
    const need = this.#line.needMs(slot) + Math.max(state.get(slot, FIELD.drawMs), state.get(slot, FIELD.stepMs))
    if (need >= state.get(slot, FIELD.needMs) || now > state.get(slot, FIELD.needAt) + HOLD_MS) {
      state.set(slot, FIELD.needMs, need)
      state.set(slot, FIELD.needAt, now)
    }
    return state.get(slot, FIELD.needMs)
  }

  #clamp(ms: number): number {
    return Math.min(Math.max(ms, this.#options.deadlineMsMin), this.#options.deadlineMsMax)
  }
}
