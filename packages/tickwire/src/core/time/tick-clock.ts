/**
 * Which tick a client plays: ahead of the authority by the one-way delay and a lead, and without jumps.
 *
 *   target = tick of the authority now + one way + lead
 *
 * It runs at the rate of the local clock, a little faster or slower (2 % by default) while it is off the target. Only
 * when the error exceeds `resyncMs` is it set at once, and that is counted: prediction must restart then.
 *
 * It does not measure anything: `clock-sync.ts` does.
 */

import type { Millis } from '../base/time.ts'
import { RESYNC_MS, type ClockSync } from './clock-sync.ts'

/** How much faster or slower than the local clock it may run. */
export const NUDGE_MAX = 0.02
/** A small error is corrected in about this time. */
const SETTLE_MS = 1000

/** A timer closer than this may round to the current time, and waiting for it would wake up forever. */
const SOONEST_MS = 0.125

const TICKS = 0
const AT = 1

export class TickClock {
  /** How often it was set instead of nudged, not counting the first time. */
  resyncs = 0
  isRunning = false
  readonly #sync: ClockSync
  /** How much faster or slower than the local clock it may run, and the error above which it is set. */
  readonly nudgeMax: number
  readonly resyncMs: number
  readonly #state = new Float64Array(2)

  constructor(sync: ClockSync, nudgeMax: number = NUDGE_MAX, resyncMs: number = RESYNC_MS) {
    this.#sync = sync
    this.nudgeMax = nudgeMax
    this.resyncMs = resyncMs
  }

  /** The current tick, with its fraction. */
  get ticks(): number {
    return this.#state[TICKS]
  }

  /** Advances to `now`, with a lead of `leadMs`. Does nothing until the estimate is usable. @hot */
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
    if (Math.abs(errorMs) > this.resyncMs) {
      this.resyncs++
      this.#set(now, target)
      return
    }
    const most = this.nudgeMax * elapsed
    this.#move(now, Math.max(-most, Math.min(most, errorMs * Math.min(elapsed / SETTLE_MS, 1))))
  }

  /** The tick at a time, at the rate of the local clock. */
  ticksAt(now: Millis): number {
    return this.#state[TICKS] + (now - this.#state[AT]) / this.#sync.tickMs
  }

  /** When it will reach a future tick, at the rate of the local clock. Always later than the last `advance`. */
  timeOf(tick: number): Millis {
    return this.#state[AT] + Math.max((tick - this.#state[TICKS]) * this.#sync.tickMs, SOONEST_MS)
  }

  #set(now: Millis, ticks: number): void {
    this.#state[TICKS] = ticks
    this.#state[AT] = now
  }

  /** If the local clock goes back, the tick does not. */
  #move(now: Millis, extraMs: number): void {
    const elapsed = Math.max(now - this.#state[AT], 0)
    this.#state[TICKS] += (elapsed + extraMs) / this.#sync.tickMs
    this.#state[AT] = now
  }
}
