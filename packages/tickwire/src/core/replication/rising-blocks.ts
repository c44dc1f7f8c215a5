/**
 * Moves baselines when packets arrive: which members of a block rise to a packet's tick, and which wait.
 *
 *   low, ahead     the two levels of a block (told-blocks.ts)
 *   wait           something newer is on its way, and the row is not the last of its cell (baseline-grid.ts), or the row before it has not
 *                  arrived: the baseline of before is worth more
 *   steps, waits   who holds the row before the end of a cell, or that of the end, and rises with the other one of the two
 *
 * For each object it does what ToldObjects.promote does for a loose one; test/sim/replication-blocks.test.ts holds the two together.
 */

import type { Tick } from '../base/time.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import type { ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { NO_BASE } from './delta-cache.ts'
import type { ToldBlocks } from './told-blocks.ts'
import type { ToldObjects } from './told-objects.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const FROM_INITIAL = NO_BASE
const SHIFT = BLOCK_SHIFT

export class RisingBlocks {
  readonly #blocks: ToldBlocks
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  readonly #grid: BaselineGrid
  /** Whether any coder looks at the row before the baseline. */
  readonly #usesOlder: boolean
  /** Ticks from one telling to the next. */
  readonly #strideTicks: number
  /** Of the packet that arrived last: the end of its cell. */
  end: Tick = 0
  /** Whether the tick told after its own is one, and was told. */
  #isNextEnd = false

  constructor(blocks: ToldBlocks, told: ToldObjects, marks: ChangeMarks, grid: BaselineGrid, usesOlder: boolean) {
    this.#blocks = blocks
    this.#told = told
    this.#marks = marks
    this.#usesOlder = usesOlder
    this.#grid = grid
    this.#strideTicks = grid.strideTicks
  }

  /** A packet of a tick has arrived: what was in it comes next. @hot */
  hear(tick: Tick): void {
    const next = tick + this.#strideTicks
    const end = this.#grid.endOf(tick)
    this.end = end
    this.#isNextEnd = this.#usesOlder && next <= this.#blocks.sentTick && tick >= this.#marks.oldest && (end === tick ? this.#grid.endOf(next) : end) === next
    if (this.#usesOlder && tick > this.#blocks.heardTick) this.#blocks.heardTick = tick
  }

  /** A packet of a tick with these objects of a block has arrived; `pairs`: those with whom the row of a stride before is held. @hot */
  deliver(block: number, mask: number, pairs: number, tick: Tick): void {
    const blocks = this.#blocks
    const { oldest } = this.#marks
    if (blocks.cohorts[block] !== 0 && blocks.levels[block] < oldest) blocks.loosen(block, blocks.cohorts[block])
    const cohort = blocks.cohorts[block]
    if ((mask & cohort) !== 0 && tick >= oldest) this.#deliverMembers(block, mask & cohort, pairs, tick)
    for (let loose = mask & ~cohort; loose !== 0; loose &= loose - 1) {
      const bit = loose & -loose
      this.#promote(block << SHIFT | 31 - Math.clz32(bit), block, bit, tick, (pairs & bit) !== 0)
    }
  }

  /** A row that was sent by itself has arrived. @hot */
  promote(index: number, tick: Tick, isPaired: boolean): void {
    const blocks = this.#blocks
    const block = index >>> SHIFT
    const bit = 1 << index
    if ((blocks.cohorts[block] & bit) !== 0) {
      // Who has joined since, and was told what a member would be.
      const { masks, oldest } = this.#marks
      if (tick >= oldest && blocks.levels[block] >= oldest && (masks.at(blocks.sets[block], block, tick) & bit) !== 0) {
        this.#deliverMembers(block, bit, isPaired ? bit : 0, tick)
        return
      }
      blocks.loosen(block, bit)
    }
    this.#promote(index, block, bit, tick, isPaired)
  }

  #promote(index: number, block: number, bit: number, tick: Tick, isPaired: boolean): void {
    const blocks = this.#blocks
    const told = this.#told
    blocks.strays++
    // After a window he has let go of a row, unless it is the newest that he was told.
    if (tick < this.#marks.oldest && told.sents[index] !== tick) return
    const set = told.sets[index]
    const isMoving = this.#usesOlder && this.end === tick && this.#isMoving(index, set, tick)
    const isYoung = told.bases[index] !== FROM_INITIAL && told.sents[index] > tick && tick - this.#marks.firstChange(index, set, told.bases[index]) < this.#grid.lagTicks
    const isNextLast = (this.#nextLast(set, block, tick) & bit) !== 0
    const next = tick + this.#strideTicks
    const before = tick - this.#strideTicks | 0
    const wait = blocks.freshOf(told.waits[index])
    const isHeld = isPaired || (wait !== 0 && wait === before) || (told.steps[index] === before && blocks.freshOf(before) !== 0)
    // The row before one that is held already.
    if (isNextLast && wait !== 0 && wait === (next | 0) && tick > told.bases[index] && tick >= told.epochs[index]) told.rebase(index, next, true)
    else told.promote(index, tick, isHeld, isYoung, isMoving, (this.#last(set, block, tick) & bit) !== 0, isNextLast)
    blocks.join(index, block, bit, this.#levelOf(tick))
  }

  /** Of whom of a block a tick is the last of its cell in which they changed, or may be. */
  #last(set: number, block: number, tick: Tick): number {
    const end = this.end
    return tick === end ? -1 : end > this.#blocks.sentTick || tick < this.#marks.oldest ? 0 : ~this.#marks.masks.since(set, block, tick, end)
  }

  /** Of whom the tick told after one is, where that is the end of its cell. */
  #nextLast(set: number, block: number, tick: Tick): number {
    return this.#isNextEnd ? this.#marks.masks.at(set, block, tick + this.#strideTicks) : 0
  }

  /** The level to which who has not changed since a tick may rise: the end of its cell, if that was told already. */
  #levelOf(tick: Tick): Tick {
    return this.end <= this.#blocks.sentTick ? this.end : tick
  }

  #deliverMembers(block: number, mask: number, pairs: number, tick: Tick): void {
    const blocks = this.#blocks
    const set = blocks.sets[block]
    const ahead = blocks.aheads[block]
    const newer = mask & ((tick > blocks.levels[block] ? ~ahead : 0) | (ahead !== 0 && tick > blocks.aheadLevels[block] ? ahead : 0))
    if (newer === 0) return
    const last = newer & this.#last(set, block, tick)
    const nextLast = newer & this.#nextLast(set, block, tick)
    let waiting = last === newer ? 0 : this.#young(block, newer & ~last, tick)
    if (waiting === newer && nextLast === 0) return
    // The row before one that they hold already.
    const leap = nextLast & this.#waitsAt(block, tick + this.#strideTicks)
    const arrived = newer & ~leap
    const held = this.#usesOlder ? this.#held(block, arrived, pairs, tick) : 0
    if (this.#usesOlder && this.end === tick && (arrived & ~held) !== 0) waiting |= this.#lonely(block, arrived & last & ~held, tick)
    waiting &= arrived
    if (this.#usesOlder) this.#note(block, newer & ~waiting, waiting & last, waiting & ~last & nextLast, tick)
    if (waiting !== arrived) this.#raise(block, arrived & ~waiting, held, tick)
    if (leap !== 0) this.#leap(block, leap, tick + this.#strideTicks)
  }

  /** Members have another baseline from now on, with the row before it or not. */
  #raise(block: number, members: number, held: number, tick: Tick): void {
    const blocks = this.#blocks
    if (this.#usesOlder) blocks.paireds[block] = blocks.paireds[block] & ~members | held & members
    const level = this.#levelOf(tick)
    const gone = level === tick ? 0 : members & this.#marks.masks.since(blocks.sets[block], block, tick, level)
    if (gone !== 0) this.#rise(block, gone, tick)
    const still = members & ~gone & blocks.cohorts[block]
    if (still !== 0) this.#rise(block, still, level)
    for (let loose = members & ~gone & ~still; loose !== 0; loose &= loose - 1) {
      const bit = loose & -loose
      this.#told.rebase(block << SHIFT | 31 - Math.clz32(bit), tick, (held & bit) !== 0)
    }
  }

  /** With whom of members the row before that of a tick is held. */
  #held(block: number, members: number, pairs: number, tick: Tick): number {
    const before = tick - this.#strideTicks
    const held = members & (pairs | this.#stepsAt(block, before) | this.#waitsAt(block, before))
    return held === members ? held : held | members & this.#based(block, before)
  }

  /** Those of members who were sent something newer, and whose baseline is not too old to wait for that. */
  #young(block: number, arrived: number, tick: Tick): number {
    let members = arrived
    const blocks = this.#blocks
    const { masks } = this.#marks
    const set = blocks.sets[block]
    const { lagTicks } = this.#grid
    // Who moves was sent the next tick too.
    let sent = tick + this.#strideTicks <= blocks.sentBefore ? masks.at(set, block, tick + this.#strideTicks) : 0
    if ((members & ~sent) !== 0) sent |= blocks.sentSince(block, tick)
    members &= sent
    // The first change after a baseline is after the level.
    if (tick - blocks.levels[block] <= lagTicks) return members
    let young = 0
    for (let rest = members; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const level = (blocks.aheads[block] & bit) === 0 ? blocks.levels[block] : blocks.aheadLevels[block]
      if (tick - this.#marks.firstChange(block << SHIFT | 31 - Math.clz32(bit), set, level) < lagTicks) young |= bit
    }
    return young
  }

  /** Those of members of whom the row before did not arrive, and whose baseline, with the row before it, is worth more. */
  #lonely(block: number, members: number, tick: Tick): number {
    const blocks = this.#blocks
    const before = tick - this.#strideTicks
    // Who did not change in the tick told before: there is no row before that anybody could hold.
    const moving = before > this.#marks.oldest ? this.#marks.masks.since(blocks.sets[block], block, before - this.#strideTicks, before) : 0
    const paired = members & moving & blocks.paireds[block]
    return paired === 0 ? 0 : this.#young(block, paired, tick)
  }

  /** Members rise to a tick. Who did not change is at any level, and stays with the many. */
  #rise(block: number, members: number, tick: Tick): void {
    const blocks = this.#blocks
    const set = blocks.sets[block]
    const { masks } = this.#marks
    const level = blocks.levels[block]
    const aheadLevel = blocks.aheadLevels[block]
    const ahead = blocks.aheads[block]
    const low = blocks.cohorts[block] & ~ahead
    const lowUp = tick > level ? withResting(members, low, masks.since(set, block, level, tick)) : 0
    const aheadUp = ahead !== 0 && tick > aheadLevel ? withResting(members, ahead, masks.since(set, block, aheadLevel, tick)) : 0
    const up = lowUp | aheadUp
    if (up === 0) return
    if (ahead === 0) this.#place(block, up, tick)
    else if (tick === aheadLevel) this.#place(block, ahead | up, tick)
    else if (tick > aheadLevel) this.#placeAbove(block, low & ~lowUp, ahead & ~aheadUp, up, tick)
    else this.#placeBetween(block, low & ~lowUp, up, tick)
  }

  /** Some are at a level above all others, who are at one level. */
  #place(block: number, ahead: number, tick: Tick): void {
    const blocks = this.#blocks
    blocks.aheads[block] = ahead
    blocks.aheadLevels[block] = tick
    blocks.even(block)
  }

  /** Three levels, one more than there is room for: the fewest are written down. Who did not change goes with others. */
  #placeAbove(block: number, lowest: number, middle: number, highest: number, tick: Tick): void {
    const blocks = this.#blocks
    const { masks } = this.#marks
    const set = blocks.sets[block]
    const aheadLevel = blocks.aheadLevels[block]
    const behind = lowest & masks.since(set, block, blocks.levels[block], aheadLevel)
    const between = middle & masks.since(set, block, aheadLevel, tick)
    if (behind !== 0 && between !== 0) {
      const behindCount = countBits(behind)
      const betweenCount = countBits(between)
      const highestCount = countBits(highest)
      if (highestCount <= behindCount && highestCount <= betweenCount) {
        blocks.loosenAt(block, highest, tick)
        return
      }
      if (betweenCount <= behindCount) blocks.loosenAt(block, between, aheadLevel)
      else blocks.loosenAt(block, behind, blocks.levels[block])
    }
    if ((between & blocks.cohorts[block]) === 0) {
      this.#place(block, highest | middle & ~between, tick)
    } else {
      blocks.levels[block] = aheadLevel
      this.#place(block, highest, tick)
    }
  }

  /** The same, where the third is between the two. */
  #placeBetween(block: number, lowest: number, middle: number, tick: Tick): void {
    const blocks = this.#blocks
    const behind = lowest & this.#marks.masks.since(blocks.sets[block], block, blocks.levels[block], tick)
    if (countBits(middle) < countBits(behind)) {
      blocks.loosenAt(block, middle, tick)
      return
    }
    if (behind !== 0) blocks.loosenAt(block, behind, blocks.levels[block])
    blocks.levels[block] = tick
  }

  /** Raises those who hold the row before the one that they held above their baseline. */
  #leap(block: number, members: number, tick: Tick): void {
    const cohort = this.#blocks.cohorts[block]
    if ((members & cohort) !== 0) this.#rise(block, members & cohort, tick)
    // Who had no place among the others is loose by now.
    for (let loose = members & ~cohort; loose !== 0; loose &= loose - 1) this.#told.rebase(block << SHIFT | 31 - Math.clz32(loose & -loose), tick, true)
  }

  /** Who holds a row of the end of a cell, above his baseline. */
  #waitsAt(block: number, tick: Tick): number {
    const blocks = this.#blocks
    return blocks.waits[block] !== 0 && blocks.waitTicks[block] === (tick | 0) && blocks.freshOf(tick | 0) !== 0 ? blocks.waits[block] : 0
  }

  /** Who holds a row of before the end of a cell. */
  #stepsAt(block: number, tick: Tick): number {
    const blocks = this.#blocks
    return blocks.steps[block] !== 0 && blocks.stepTicks[block] === (tick | 0) && blocks.freshOf(tick | 0) !== 0 ? blocks.steps[block] : 0
  }

  /** Notes who holds a row of a tick above his baseline; who has risen does so no more. There is room for one tick of each kind. */
  #note(block: number, risen: number, waits: number, steps: number, tick: Tick): void {
    const blocks = this.#blocks
    blocks.waits[block] &= ~risen
    blocks.steps[block] &= ~risen
    if (waits !== 0 && blocks.waitTicks[block] !== (tick | 0)) {
      this.#forget(block, blocks.waits[block] & ~waits, blocks.waitTicks[block])
      blocks.waits[block] = 0
    }
    if (steps !== 0 && blocks.stepTicks[block] !== (tick | 0)) {
      this.#forget(block, blocks.steps[block] & ~steps, blocks.stepTicks[block])
      blocks.steps[block] = 0
    }
    blocks.waits[block] |= waits
    blocks.steps[block] |= steps
    if (waits !== 0) blocks.waitTicks[block] = tick
    if (steps !== 0) blocks.stepTicks[block] = tick
  }

  /** There is no room any more for the tick of a row that some hold: of use or not. */
  #forget(block: number, members: number, tick: number): void {
    if (members !== 0 && this.#blocks.freshOf(tick) !== 0) this.#blocks.loosen(block, members)
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

  /** Whether an object changed in the tick that was told before one: else there is no row before that anybody could hold. */
  #isMoving(index: number, set: number, tick: Tick): boolean {
    const before = tick - this.#strideTicks
    return before > this.#marks.oldest && this.#marks.hasChanged(index, set, before - this.#strideTicks, before)
  }
}

/** Those of a level who rise; and with them who did not change, unless more stay behind. */
function withResting(members: number, all: number, changed: number): number {
  const up = members & all
  const left = all & changed & ~up
  return up !== 0 && countBits(left) <= countBits(up) ? all & ~left : up
}
