/**
 * When a received tick is stepped: ticks arrive with jitter and are stepped evenly.
 *
 * The arrivals of the last ticks, less the time that the ticks take, have a smallest value: the shortest way. A tick is
 * due when all but the latest few of a hundred would have arrived. A tick that arrives after its time is stepped at
 * once; a missing tick delays no other part.
 */

import type { Millis, Tick } from '../base/time.ts'

const SAMPLES = 128
/** Of 128 arrivals, this many may be later than planned. */
const LATE = 2
/** The hold changes by at most this share of a tick per tick. */
const SLEW = 0.02
/**
 * An arrival this much earlier than all others begins a new measurement: a pause has ended, or the path has changed.
 */
const RESET_MS = 200
/** With more than this to step, a client catches up: many ticks arrive at once, which does not measure the path. */
const CATCH_UP_MS = 500

export class Playout {
  /** How long ticks are held beyond the shortest way, in ms. */
  holdMs = 0
  readonly #nominalMs: number
  #tickMs: number
  readonly #offsets = new Float64Array(SAMPLES)
  readonly #latest = new Float64Array(LATE)
  #count = 0
  #least: Millis = Infinity
  /** Ticks are counted from here: the length of a tick changes with the speed. */
  #anchor: Tick = 0

  constructor(tickMs: number) {
    this.#nominalMs = tickMs
    this.#tickMs = tickMs
  }

  /** The speed changes from a tick on, or time stood still before it. */
  restart(tick: Tick, percent: number): void {
    this.#anchor = tick
    this.#tickMs = (100 * this.#nominalMs) / percent
    this.#count = 0
    this.#least = Infinity
  }

  /** A tick has arrived. `waiting`: how many ticks have arrived and are not stepped, with this one. */
  note(now: Millis, tick: Tick, waiting: number): void {
    if (waiting * this.#tickMs > CATCH_UP_MS) this.#count = 0
    const offset = now - (tick - this.#anchor) * this.#tickMs
    if (offset < this.#least - RESET_MS) this.#count = 0
    this.#offsets[this.#count++ % SAMPLES] = offset
    this.#evaluate()
  }

  /** When a tick is to be stepped. */
  dueAt(tick: Tick): Millis {
    return this.#least + this.holdMs + (tick - this.#anchor) * this.#tickMs
  }

  #evaluate(): void {
    const count = Math.min(this.#count, SAMPLES)
    const latest = this.#latest.fill(-Infinity)
    this.#least = Infinity
    for (let at = 0; at < count; at++) {
      const offset = this.#offsets[at]
      if (offset < this.#least) this.#least = offset
      if (offset <= latest[LATE - 1]) continue
      let place = LATE - 1
      for (; place > 0 && latest[place - 1] < offset; place--) latest[place] = latest[place - 1]
      latest[place] = offset
    }
    const wanted = latest[count < SAMPLES / 2 ? 0 : LATE - 1] - this.#least
    const step = SLEW * this.#tickMs
    this.holdMs += Math.max(-step, Math.min(wanted - this.holdMs, step))
    if (this.holdMs < 0) this.holdMs = 0
  }
}
