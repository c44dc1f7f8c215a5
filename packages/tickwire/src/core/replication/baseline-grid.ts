/**
 * Which rows are good for baselines: all, or the last that an object has in each cell of ticks, the same cells for all receivers.
 *
 *   ticks       0 1 2 3 | 4 5 6 7 | 8 9        cells of four
 *   changed     x x x X | x x X   | x x        X: good
 *
 * A room of a few dozen players makes some hundred deltas a tick, and every row that arrived is a baseline: they are as young as can be. A thousand
 * objects told to a hundred receivers, each on a line of his own, would be nine thousand. On a grid of four they are three thousand, for
 * what is made for one is good for many, and bytes are a few hundredths more (docs/adr/0030).
 *
 * How wide it is follows from how many deltas were made, and so from the game and the lines: nothing is measured here.
 */

import type { Tick } from '../base/time.ts'

/** The widest grid, in tellings. */
const TELLINGS_MAX = 4
/** Ticks in which anything was made, after which it is looked at again. */
const PERIOD_TICKS = 16
/** More deltas a tick than this, some two milliseconds, make it wider; fewer than that make it narrower. Far enough apart that they do not do so in turns. */
const DELTAS_MANY = 4000
const DELTAS_FEW = 1000
/** More entries a tick than this, to all receivers, are told by sheets where that can be (sheet-blocks.ts); fewer than that by themselves again. */
const ENTRIES_MANY = 20_000
const ENTRIES_FEW = 10_000
/** How much older than the newest row a baseline may be, for being on the grid and for the row before it. */
const LAG_TELLINGS = 2
/** Who loses the ends of two wide cells, one in a hundred, waits for the third. At two he would rise to a tick that nobody else has for a level: a sixth of all deltas. */
const LAG_WIDE_CELLS = 3
const STALE_STRIDES_MIN = 3

export class BaselineGrid {
  /** From one telling to the next. */
  readonly strideTicks: number
  /** Ticks of a cell. */
  ticks: number
  lagTicks: number
  /** A row waits no longer for the one before or after it when something so much newer has arrived. */
  staleTicks: number
  /** Whether blocks are told by sheets where that can be. */
  isSheeted = false
  #isFixed = false
  #deltas = 0
  #entries = 0
  #count = 0

  constructor(strideTicks: number) {
    this.strideTicks = strideTicks
    this.ticks = strideTicks
    this.lagTicks = LAG_TELLINGS * strideTicks
    this.staleTicks = STALE_STRIDES_MIN * strideTicks
  }

  /** The last tick that is told of a cell, of one that is in it. @hot */
  endOf(tick: Tick): Tick {
    if (this.ticks === this.strideTicks) return tick
    const left = this.ticks - 1 - tick % this.ticks
    return tick + left - left % this.strideTicks
  }

  /** Whether a tick is the last that is told of its cell. @hot */
  isEnd(tick: Tick): boolean {
    return this.endOf(tick) === tick
  }

  /** Whether blocks that are told by sheets are told completely in a tick: the end of a cell, and the one told before it where rows before levels are used. @hot */
  isComplete(tick: Tick, needsOlder: boolean): boolean {
    return this.isEnd(tick) || (needsOlder && this.isEnd(tick + this.strideTicks))
  }

  /** From now on it is so wide, with sheets or without. */
  fix(ticks: number, isSheeted: boolean = false): void {
    this.#isFixed = true
    this.isSheeted = isSheeted
    this.#widen(ticks)
  }

  /** So many entries are due to somebody. @hot */
  count(entries: number): void {
    this.#entries += entries
  }

  /** So many deltas were made in a tick. @hot */
  observe(deltas: number): void {
    if (deltas === 0 || this.#isFixed) return
    this.#deltas += deltas
    if (++this.#count < PERIOD_TICKS) return
    const mean = this.#deltas / PERIOD_TICKS
    const isWidest = this.ticks === TELLINGS_MAX * this.strideTicks
    if (mean > DELTAS_MANY && !isWidest) this.#widen(2 * this.ticks)
    else if (mean < DELTAS_FEW && this.ticks > this.strideTicks) this.#widen(this.ticks / 2)
    const entries = this.#entries / PERIOD_TICKS
    this.isSheeted = isWidest && mean >= DELTAS_FEW && entries > (this.isSheeted ? ENTRIES_FEW : ENTRIES_MANY)
    this.#entries = 0
    this.#deltas = 0
    this.#count = 0
  }

  #widen(ticks: number): void {
    this.ticks = ticks
    const isWide = ticks > this.strideTicks
    this.lagTicks = (isWide ? LAG_WIDE_CELLS : LAG_TELLINGS) * ticks
    this.staleTicks = isWide ? ticks : STALE_STRIDES_MIN * ticks
  }
}
