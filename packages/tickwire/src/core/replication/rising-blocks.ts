/**
 * Moves baselines when a span of packets is settled (packet-spans.ts): which members of a block rise to its last tick, and which wait.
 *
 *   low, ahead     the two levels of a block (told-blocks.ts)
 *   waiting        the last word arrived and the row before it did not: the baseline of before, of which both are held, is worth more. If
 *                  the next word makes a pair with it, or the row before it comes late, he rises then (`steps`)
 *
 * For each object it does what ToldObjects.promote does for a loose one; test/sim/replication-blocks.test.ts holds the two together.
 */

import type { Tick } from '../base/time.ts'
import { LONG_AGO, type ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import type { SpanSheet } from './span-sheet.ts'
import type { ToldBlocks } from './told-blocks.ts'
import type { ToldObjects } from './told-objects.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const FORGOTTEN = LONG_AGO
const SHIFT = BLOCK_SHIFT

export class RisingBlocks {
  readonly #blocks: ToldBlocks
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  /** Whether any coder looks at the row before the baseline. */
  readonly #usesOlder: boolean
  /** Ticks from one telling to the next. */
  readonly #strideTicks: number

  constructor(blocks: ToldBlocks, told: ToldObjects, marks: ChangeMarks, usesOlder: boolean, strideTicks: number) {
    this.#blocks = blocks
    this.#told = told
    this.#marks = marks
    this.#usesOlder = usesOlder
    this.#strideTicks = strideTicks
  }

  /** A span is settled: what its packets said of a block's objects. @hot */
  settle(block: number, sheet: SpanSheet): void {
    const { oldest } = this.#marks
    const { end } = sheet
    const arrived = sheet.arriveds[block]
    if (this.#blocks.cohorts[block] !== 0 && this.#blocks.levels[block] < oldest) this.#blocks.loosen(block, this.#blocks.cohorts[block])
    // Who was told by himself and has joined since: what he holds need not be of a change.
    if ((arrived & sheet.singles[block] & this.#blocks.cohorts[block]) !== 0) this.#blocks.loosen(block, arrived & sheet.singles[block])
    const cohort = this.#blocks.cohorts[block]
    if (cohort !== 0 && end >= oldest) {
      const newer = this.#newer(block, arrived & cohort, sheet)
      if (this.#usesOlder) this.#pair(block, newer, sheet)
      else if (newer !== 0) this.#rise(block, newer, end)
    }
    for (let loose = arrived & ~cohort; loose !== 0; loose &= loose - 1) {
      const bit = loose & -loose
      const index = block << SHIFT | 31 - Math.clz32(bit)
      this.promote(index, sheet.tickOf(index), (sheet.paireds[block] & bit) !== 0, end)
      this.#blocks.join(index, block, bit, end)
    }
  }

  /** A row of a loose object has arrived. @hot */
  promote(index: number, tick: Tick, isPaired: boolean, end: Tick): void {
    this.#blocks.strays++
    const told = this.#told
    // After a window he has let go of a row, unless it is the newest that he was told.
    if (tick < this.#marks.oldest && told.sents[index] !== tick) return
    told.promote(index, tick, isPaired, end, this.#usesOlder && this.#isMoving(index, told.sets[index], tick))
  }

  /** Those of members whose last word of a span is above their level. */
  #newer(block: number, members: number, sheet: SpanSheet): number {
    const ahead = this.#blocks.aheads[block]
    if (this.#blocks.levels[block] < sheet.begin && (ahead === 0 || this.#blocks.aheadLevels[block] < sheet.begin)) return members
    let newer = 0
    for (let rest = members; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      if (sheet.tickOf(block << SHIFT | 31 - Math.clz32(bit)) > ((ahead & bit) === 0 ? this.#blocks.levels[block] : this.#blocks.aheadLevels[block])) newer |= bit
    }
    return newer
  }

  /** Members of whom the last word up to a tick has arrived rise to it, and with them who was told nothing. */
  #rise(block: number, members: number, tick: Tick): void {
    const set = this.#blocks.sets[block]
    const { masks } = this.#marks
    const level = this.#blocks.levels[block]
    const ahead = this.#blocks.aheads[block]
    const low = this.#blocks.cohorts[block] & ~ahead
    const lowUp = tick > level ? low & (members | ~masks.since(set, block, level, tick)) : 0
    if (ahead === 0) {
      if ((lowUp & members) !== 0) this.#place(block, lowUp, tick)
      return
    }
    const aheadLevel = this.#blocks.aheadLevels[block]
    const isAboveAhead = tick > aheadLevel
    const aheadUp = isAboveAhead ? ahead & (members | ~masks.since(set, block, aheadLevel, tick)) : 0
    if (((lowUp | aheadUp) & members) === 0) return
    if (tick === aheadLevel) this.#place(block, ahead | lowUp, tick)
    else if (isAboveAhead) this.#placeAbove(block, low & ~lowUp, ahead & ~aheadUp, lowUp | aheadUp, tick)
    else this.#placeBetween(block, low & ~lowUp, lowUp, tick)
  }

  /** Some are at a level above all others, who are at one level. */
  #place(block: number, ahead: number, tick: Tick): void {
    this.#blocks.aheads[block] = ahead
    this.#blocks.aheadLevels[block] = tick
    this.#blocks.even(block)
  }

  /** Three levels, one more than there is room for: who is behind most is written down. */
  #placeAbove(block: number, lowest: number, middle: number, highest: number, tick: Tick): void {
    if (middle !== 0) {
      if (lowest !== 0) this.#blocks.loosenAt(block, lowest, this.#blocks.levels[block])
      this.#blocks.levels[block] = this.#blocks.aheadLevels[block]
    }
    this.#place(block, highest, tick)
  }

  #placeBetween(block: number, lowest: number, middle: number, tick: Tick): void {
    if (lowest !== 0) this.#blocks.loosenAt(block, lowest, this.#blocks.levels[block])
    if (middle !== 0) this.#blocks.levels[block] = tick
  }

  /** Raises those of members whose last word makes a better baseline; notes whether with it the row before it is held: see ToldObjects.promote. */
  #pair(block: number, newer: number, sheet: SpanSheet): void {
    const { end } = sheet
    const stride = this.#strideTicks
    const stepTick = this.#blocks.stepTicks[block]
    const steps = this.#blocks.steps[block]
    // The row before one that they hold already.
    const leap = steps !== 0 && stepTick === (end + stride | 0) ? newer & steps & ~sheet.earliers[block] : 0
    const arrived = newer & ~leap
    let held = arrived & sheet.paireds[block]
    // Of who was told first in this span the row before may be the baseline that he has.
    const firsts = arrived & ~held & sheet.firsts[block]
    if (firsts !== 0) {
      const before = end - sheet.ages[block] - stride
      held |= firsts & this.#based(block, before)
      if (stepTick === (before | 0)) held |= firsts & steps
    }
    const waiting = held === arrived ? 0 : this.#waiting(block, arrived & ~held, sheet)
    const members = arrived & ~waiting
    this.#blocks.paireds[block] = this.#blocks.paireds[block] & ~members | held & members | leap
    this.#step(block, steps & ~newer, waiting & ~sheet.earliers[block], end)
    if (members !== 0) this.#rise(block, members, end)
    if (leap !== 0) this.#leap(block, leap, end + stride)
  }

  /** Raises those who hold the row before the one that they held above their baseline. */
  #leap(block: number, members: number, tick: Tick): void {
    const cohort = this.#blocks.cohorts[block]
    if ((members & cohort) !== 0) this.#rise(block, members & cohort, tick)
    // Who had no place among the others is loose by now.
    for (let loose = members & ~cohort; loose !== 0; loose &= loose - 1) this.#told.rebase(block << SHIFT | 31 - Math.clz32(loose & -loose), tick, true)
  }

  /** Notes who holds a row above his baseline: some still, some of this tick. There is room for one tick. */
  #step(block: number, still: number, steps: number, tick: Tick): void {
    const isOther = steps !== 0 && still !== 0 && this.#blocks.stepTicks[block] !== (tick | 0)
    if (isOther) this.#blocks.loosen(block, still)
    this.#blocks.steps[block] = steps | (isOther ? 0 : still)
    if (steps !== 0) this.#blocks.stepTicks[block] = tick
    else if (still === 0) this.#blocks.stepTicks[block] = 0
  }

  /** Whose baseline is the row of a tick. */
  #based(block: number, tick: Tick): number {
    const ahead = this.#blocks.aheads[block]
    const low = this.#basedAt(block, tick, this.#blocks.levels[block])
    return ahead === 0 ? low : low & ~ahead | this.#basedAt(block, tick, this.#blocks.aheadLevels[block]) & ahead
  }

  #basedAt(block: number, tick: Tick, level: Tick): number {
    const { masks, oldest } = this.#marks
    if (tick > level || tick < oldest) return 0
    const set = this.#blocks.sets[block]
    return masks.at(set, block, tick) & ~masks.since(set, block, tick, level)
  }

  /** Those of members whose baseline, with the row before it, is worth more than a newer one without: see ToldObjects.promote. */
  #waiting(block: number, members: number, sheet: SpanSheet): number {
    const set = this.#blocks.sets[block]
    const { lagTicks } = this.#told
    let waiting = 0
    for (let rest = members & this.#blocks.paireds[block] & this.#blocks.sentSince(block, sheet.end); rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const tick = sheet.tickOf(index)
      if (!this.#isMoving(index, set, tick)) continue
      const level = (this.#blocks.aheads[block] & bit) === 0 ? this.#blocks.levels[block] : this.#blocks.aheadLevels[block]
      const base = this.#marks.lastChange(index, set, level)
      if (tick - (base === FORGOTTEN ? level : base) <= lagTicks) waiting |= bit
    }
    return waiting
  }

  /** Whether an object changed in the tick that was told before one: else there is no row before that anybody could hold. */
  #isMoving(index: number, set: number, tick: Tick): boolean {
    const before = tick - this.#strideTicks
    return before > this.#marks.oldest && this.#marks.hasChanged(index, set, before - this.#strideTicks, before)
  }
}
