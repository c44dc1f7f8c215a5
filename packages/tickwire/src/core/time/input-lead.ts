/**
 * How far ahead of just-in-time a client plays, so that its inputs arrive before the authority needs them.
 *
 * The lead starts with some ticks, each of which compensates for one lost packet, plus the local jitter. Then it
 * follows the authority's reports of how early the tightest input arrived lately. Too tight: it grows at once. Looser
 * than needed for long: it shrinks slowly. A player does not notice the lead, but other players see that player later
 * by this amount.
 *
 * Margins are in ticks. A negative margin means late.
 */

import type { Millis } from '../base/time.ts'
import type { ClockSync } from './clock-sync.ts'
import { NUDGE_MAX } from './tick-clock.ts'

/** Two lost packets in a row have no effect. */
export const LEAD_TICKS = 2
/** Jitter is a mean distance. Nearly all arrivals are within three times this distance. */
const JITTER_GAIN = 3
/** The tightest input should be at least this early. A margin above the maximum for long is too much. */
const MARGIN_TICKS_MIN = 0.5
const MARGIN_TICKS_MAX = 1.5
/** The largest reduction at a time, in ticks. */
const GIVE_BACK_TICKS = 0.5
/** A loose margin must last this long; a tight one counts once the last change has had its effect. */
const LOOSE_MS = 8000
const SETTLE_MS = 500
/** The largest lead. A path that needs more is broken, not jittery. */
const LEAD_MS_MAX = 250

const LEAD = 0
const CHANGED_AT = 1
const TIGHTEST = 2
const DEAF_UNTIL = 3

export class InputLead {
  readonly #sync: ClockSync
  readonly leadTicks: number
  readonly nudge: number
  /**
   * The correction learnt from the authority, in ticks; when it last changed; the tightest margin since; and until when
   * margins are ignored because the change cannot have had its effect yet.
   */
  readonly #state = new Float64Array([0, -Infinity, Infinity, -Infinity])

  constructor(sync: ClockSync, leadTicks: number = LEAD_TICKS, nudge: number = NUDGE_MAX) {
    this.#sync = sync
    this.nudge = Math.max(nudge, 0.001)
    this.leadTicks = leadTicks
  }

  /** The lead that should be used now. */
  get ms(): number {
    const { jitterMs, tickMs } = this.#sync
    const leadMs = (this.leadTicks + this.#state[LEAD]) * tickMs + JITTER_GAIN * jitterMs
    return Math.max(MARGIN_TICKS_MIN * tickMs, Math.min(leadMs, LEAD_MS_MAX))
  }

  /** The authority reports how early the tightest input since its last report arrived. @hot */
  handleMargin(now: Millis, marginTicks: number): void {
    const state = this.#state
    if (state[CHANGED_AT] === -Infinity) this.#change(now, 0)
    const { tickMs } = this.#sync
    // A margin that was reported before the last change took effect there belongs to the old lead. An input that is
    // late by more than the largest lead was sent with a wrong clock, which has been corrected by now.
    if (now < state[DEAF_UNTIL] || -marginTicks * tickMs > LEAD_MS_MAX) return
    state[TIGHTEST] = Math.min(state[TIGHTEST], marginTicks)
    if (state[TIGHTEST] < MARGIN_TICKS_MIN) {
      const most = LEAD_MS_MAX / tickMs - this.leadTicks
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
    // The clock needs time to reach the new lead, and the report about it needs time to arrive.
    const { rttMs, tickMs } = this.#sync
    this.#state[DEAF_UNTIL] = now + rttMs + SETTLE_MS + Math.abs(ticks) * tickMs / this.nudge
  }
}
