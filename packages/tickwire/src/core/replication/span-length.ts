/**
 * How many ticks are waited for together (packet-spans.ts): the more deltas are made in a tick, the longer.
 *
 * A room of a few dozen players makes some hundred deltas a tick, and each packet counts by itself: baselines are as young as can be. A thousand
 * objects told to a hundred receivers, each with an age of his own, would be nine thousand; by spans of four tellings they are three
 * thousand, and take a tenth more bytes at most (docs/adr/0026).
 *
 * It follows from what was made, and so from the game and the lines: nothing is measured here.
 */

/** Spans of at most so many tellings. */
const TELLINGS_MAX = 4
/** In ticks in which anything was made: after so many it is looked at again. */
const PERIOD_TICKS = 16
/** More deltas a tick than this, some two milliseconds, make spans longer; fewer than this make them shorter. Far enough apart that they do not do so in turns. */
const DELTAS_MANY = 4000
const DELTAS_FEW = 1000

export class SpanLength {
  /** Ticks of a span. */
  ticks: number
  readonly #strideTicks: number
  #isFixed = false
  #deltas = 0
  #count = 0

  /** `strideTicks`: from one telling to the next. */
  constructor(strideTicks: number) {
    this.#strideTicks = strideTicks
    this.ticks = strideTicks
  }

  /** From now on it is this. */
  fix(ticks: number): void {
    this.#isFixed = true
    this.ticks = ticks
  }

  /** So many deltas were made in a tick. @hot */
  observe(deltas: number): void {
    if (deltas === 0 || this.#isFixed) return
    this.#deltas += deltas
    if (++this.#count < PERIOD_TICKS) return
    const mean = this.#deltas / PERIOD_TICKS
    if (mean > DELTAS_MANY && this.ticks < TELLINGS_MAX * this.#strideTicks) this.ticks *= 2
    else if (mean < DELTAS_FEW && this.ticks > this.#strideTicks) this.ticks /= 2
    this.#deltas = 0
    this.#count = 0
  }
}
