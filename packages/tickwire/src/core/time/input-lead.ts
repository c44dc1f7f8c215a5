/**
 * How far ahead of just-in-time a client plays, so that its inputs are there when the authority needs them.
 *
 * It begins with some ticks, each of which is a lost packet that costs nothing, and the jitter measured here; from then on
 * it follows what the authority says: how early the tightest input came lately. Too tight: more, at once. Looser than
 * needed for long: less, slowly. A player does not feel his own lead, others see him by so much later.
 *
 * Margins are in ticks; a negative one was late.
 */

import type { Millis } from '../base/time.ts'
import type { ClockSync } from './clock-sync.ts'
import { NUDGE_MAX } from './tick-clock.ts'

/** Two lost packets in a row cost nothing. */
export const LEAD_TICKS = 2
/** Jitter is a mean distance; nearly all arrivals are within three of them. */
const JITTER_GAIN = 3
/** The tightest input should come so early, and what is looser than the other for long is too much. */
const MARGIN_TICKS_MIN = 0.5
const MARGIN_TICKS_MAX = 1.5
/** Given back, at most, at a time. */
const GIVE_BACK_TICKS = 0.5
/** Looseness counts when it lasted so long, tightness only when the last change has had its effect. */
const LOOSE_MS = 8000
const SETTLE_MS = 500
/** What more nobody needs: beyond it the path is broken and not jittery. */
const LEAD_MS_MAX = 250

const LEAD = 0
const CHANGED_AT = 1
const TIGHTEST = 2
const DEAF_UNTIL = 3

export class InputLead {
  readonly #sync: ClockSync
  readonly #leadTicks: number
  readonly #nudge: number
  /** What was learnt from the authority, in ticks; when; the tightest margin since; when that can have had its effect. */
  readonly #state = new Float64Array([0, -Infinity, Infinity, -Infinity])

  constructor(sync: ClockSync, leadTicks: number = LEAD_TICKS, nudge: number = NUDGE_MAX) {
    this.#sync = sync
    this.#nudge = Math.max(nudge, 0.001)
    this.#leadTicks = leadTicks
  }

  /** The lead as it ought to be now. */
  get ms(): number {
    const { jitterMs, tickMs } = this.#sync
    const leadMs = (this.#leadTicks + this.#state[LEAD]) * tickMs + JITTER_GAIN * jitterMs
    return Math.max(MARGIN_TICKS_MIN * tickMs, Math.min(leadMs, LEAD_MS_MAX))
  }

  /** The authority says how early the tightest input since its last word came. @hot */
  handleMargin(now: Millis, marginTicks: number): void {
    const state = this.#state
    if (state[CHANGED_AT] === -Infinity) this.#change(now, 0)
    const { tickMs } = this.#sync
    // What was said before the last change could be felt there is about another lead.
    // What is late by more than any lead was sent by a clock that was wrong, and is right by now.
    if (now < state[DEAF_UNTIL] || -marginTicks * tickMs > LEAD_MS_MAX) return
    state[TIGHTEST] = Math.min(state[TIGHTEST], marginTicks)
    if (state[TIGHTEST] < MARGIN_TICKS_MIN) {
      const most = LEAD_MS_MAX / tickMs - this.#leadTicks
      this.#change(now, Math.min(MARGIN_TICKS_MIN - state[TIGHTEST], most - state[LEAD]))
    } else if (now > state[CHANGED_AT] + LOOSE_MS) {
      const loose = state[TIGHTEST] - MARGIN_TICKS_MAX
      this.#change(now, loose > 0 ? -Math.min(loose, GIVE_BACK_TICKS) : 0)
    }
  }

  #change(now: Millis, ticks: number): void {
    this.#state[LEAD] += ticks
    this.#state[CHANGED_AT] = now
    this.#state[TIGHTEST] = Infinity
    // The clock takes its time to get there, and the word of it to come back.
    const { rttMs, tickMs } = this.#sync
    this.#state[DEAF_UNTIL] = now + rttMs + SETTLE_MS + Math.abs(ticks) * tickMs / this.#nudge
  }
}
