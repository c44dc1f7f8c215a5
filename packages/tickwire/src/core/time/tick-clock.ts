/**
 * Which tick a client plays: ahead of the authority by the way there and a lead, and never by jerks.
 *
 *   target = tick of the authority now + one way + lead
 *
 * It runs at the pace of the local clock, a little faster or slower (2 % unless told otherwise) while it is off the
 * target; only when it is off by more than a jump it is set, and that is counted: whoever predicts must begin anew then.
 *
 * It does not measure anything: `clock-sync.ts` does.
 */

import type { Millis } from '../base/time.ts'
import { RESYNC_MS, type ClockSync } from './clock-sync.ts'

/** How much faster or slower than the local clock it may run. */
export const NUDGE_MAX = 0.02
/** Being off by so much less than a jump is made up for in about this time. */
const SETTLE_MS = 1000

/** A moment that is nearer than this may be the same number as now, and whoever waits for it would never stop waking up. */
const SOONEST_MS = 0.125

const TICKS = 0
const AT = 1

export class TickClock {
  /** How often it was set instead of nudged, the first time not counted. */
  resyncs = 0
  isRunning = false
  readonly #sync: ClockSync
  readonly #nudgeMax: number
  readonly #resyncMs: number
  readonly #state = new Float64Array(2)

  constructor(sync: ClockSync, nudgeMax: number = NUDGE_MAX, resyncMs: number = RESYNC_MS) {
    this.#sync = sync
    this.#nudgeMax = nudgeMax
    this.#resyncMs = resyncMs
  }

  /** The tick it is at, with its fraction. */
  get ticks(): number {
    return this.#state[TICKS]
  }

  /** Goes on to `now`, leading by so much. Does nothing until the estimate can be used. @hot */
  advance(now: Millis, leadMs: number): void {
    const sync = this.#sync
    if (!sync.isConverged) {
      if (this.isRunning) this.#move(now, 0)
      return
    }
    const target = sync.serverTicksAt(now) + (sync.oneWayMs + leadMs) / sync.tickMs
    if (!this.isRunning) {
      this.isRunning = true
      this.#set(now, target)
      return
    }
    const elapsed = Math.max(now - this.#state[AT], 0)
    const errorMs = (target - this.#state[TICKS]) * sync.tickMs - elapsed
    if (Math.abs(errorMs) > this.#resyncMs) {
      this.resyncs++
      this.#set(now, target)
      return
    }
    const most = this.#nudgeMax * elapsed
    this.#move(now, Math.max(-most, Math.min(most, errorMs * Math.min(elapsed / SETTLE_MS, 1))))
  }

  /** Where it will be at a time, at the pace of the local clock. */
  ticksAt(now: Millis): number {
    return this.#state[TICKS] + (now - this.#state[AT]) / this.#sync.tickMs
  }

  /** When it will be at a tick that is to come, at the pace of the local clock; always later than it was asked last. */
  timeOf(tick: number): Millis {
    return this.#state[AT] + Math.max((tick - this.#state[TICKS]) * this.#sync.tickMs, SOONEST_MS)
  }

  #set(now: Millis, ticks: number): void {
    this.#state[TICKS] = ticks
    this.#state[AT] = now
  }

  /** A local clock that goes back makes nothing happen twice. */
  #move(now: Millis, extraMs: number): void {
    const elapsed = Math.max(now - this.#state[AT], 0)
    this.#state[TICKS] += (elapsed + extraMs) / this.#sync.tickMs
    this.#state[AT] = now
  }
}
