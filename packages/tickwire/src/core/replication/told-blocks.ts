/**
 * What one receiver was told, 32 objects at a time: told-objects.ts for all those with whom nothing is out of the ordinary.
 *
 * Of an object that is told at every change and acknowledged, the numbers in ToldObjects follow from the marks that all
 * receivers share and from two ticks. So a block has a *cohort*, the bits of such objects in one field set, and these ticks once:
 *
 *   base   = last change up to the level that the block has reached       all that changed up to the level is acknowledged
 *   sent   = last change up to `sentTick`; of who is pending, `sentBefore`
 *   paired = a bit
 *
 * Levels are ends of cells (baseline-grid.ts), most of them. There are two, for one of a block's two packets may be lost, and who comes to
 * rest is ahead of who moves. Everybody else is *loose*: his numbers stand in ToldObjects. Loosening writes them there, joining checks
 * that they are what they would be; both may be done at any time and change nothing of what is sent, which is what
 * test/sim/replication-blocks.test.ts holds together.
 *
 * Invariant: of members, `bases`, `paireds`, `sents`, `steps` and `waits` of ToldObjects mean nothing; all else there does.
 */

import type { Tick } from '../base/time.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import { LONG_AGO, type ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { REASON } from './probe.ts'
import { NONE, STATE, type ToldObjects } from './told-objects.ts'

/** Where the words of all blocks stand in `words`, in so many times its capacity: cohorts at 0. */
export const PLANE = { cohorts: 0, aheads: 1, sets: 2, pendings: 3, knowns: 4, leavings: 5, restless: 6, paireds: 7, steps: 8, stepTicks: 9, waits: 10, waitTicks: 11 } as const

// Constants of this module, for speed: see schema/leaf-table.ts.
const { known: KNOWN } = STATE
const { changed: CHANGED } = REASON
const FORGOTTEN = LONG_AGO
const SHIFT = BLOCK_SHIFT
const PLANES = 12

export class ToldBlocks {
  /**
   * All words of all blocks, of which the arrays below are parts. With many receivers everything is far away in memory when a
   * receiver's turn comes, and one array is one place to go to: loops that run for each of them read it here.
   */
  words: Int32Array = new Int32Array(0)
  capacity = 0
  /** By block: who is in the cohort, in which field set, at which level. */
  cohorts: Int32Array = new Int32Array(0)
  sets: Int32Array = new Int32Array(0)
  levels: Float64Array = new Float64Array(0)
  /** Those of the cohort who are at a higher level, and which. */
  aheads: Int32Array = new Int32Array(0)
  aheadLevels: Float64Array = new Float64Array(0)
  /** Of the cohort: with the baseline the row before it is held. Who is not in the cohort has the bit, as has everybody when no coder asks. */
  paireds: Int32Array = new Int32Array(0)
  /**
   * Those of the cohort who hold a row above their baseline and lack the one that makes a pair with it: the row before the end of a cell, or
   * that of the end (baseline-grid.ts). The ticks, in 32 bits.
   */
  steps: Int32Array = new Int32Array(0)
  stepTicks: Int32Array = new Int32Array(0)
  waits: Int32Array = new Int32Array(0)
  waitTicks: Int32Array = new Int32Array(0)
  /** Due in `sentTick` and not yet sent. */
  pendings: Int32Array = new Int32Array(0)
  /** Who is known to the receiver, and who is leaving. */
  knowns: Int32Array = new Int32Array(0)
  leavings: Int32Array = new Int32Array(0)
  /** Those loose ones who may be due though they did not change. */
  restless: Int32Array = new Int32Array(0)
  /** The tick that was listed last, and the one before it. */
  sentTick: Tick = NONE
  sentBefore: Tick = NONE
  /** The newest tick of which anything is known to have arrived; where rows before baselines are asked for. */
  heardTick: Tick = NONE
  /** How often a single object was asked or written down: what happens without that follows from this alone. */
  strays = 0
  /** `levels`, then `aheadLevels`. */
  levelWords: Float64Array = new Float64Array(0)
  /** Whether objects may join cohorts: false makes it the slow twin. */
  readonly isJoining: boolean
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  readonly #grid: BaselineGrid
  /** Whether any coder looks at the row before the baseline. */
  readonly #usesOlder: boolean

  constructor(told: ToldObjects, marks: ChangeMarks, grid: BaselineGrid, usesOlder: boolean, isJoining: boolean) {
    this.#grid = grid
    this.#told = told
    this.#marks = marks
    this.#usesOlder = usesOlder
    this.isJoining = isJoining
  }

  get memberCount(): number {
    return this.cohorts.reduce((sum, cohort) => sum + countBits(cohort), 0)
  }

  /** The newest tick whose row of an object is known to be held; -1 when there is none. */
  baseOf(index: number): Tick {
    const block = index >>> SHIFT
    const bit = 1 << index
    if ((this.cohorts[block] & bit) === 0) return this.#told.bases[index]
    const level = (this.aheads[block] & bit) === 0 ? this.levels[block] : this.aheadLevels[block]
    const base = this.#marks.lastChange(index, this.sets[block], level)
    return base === FORGOTTEN ? level : base
  }

  /** What was sent of these objects of a block in a tick has gone under. @hot */
  lose(block: number, mask: number, tick: Tick): void {
    this.strays++
    const { oldest } = this.#marks
    const told = this.#told
    if (this.cohorts[block] !== 0 && (tick < oldest || this.levels[block] < oldest)) this.loosen(block, this.cohorts[block])
    const members = mask & this.cohorts[block]
    if (members !== 0) this.loosen(block, members & ~this.sentSince(block, tick))
    for (let loose = mask & ~this.cohorts[block]; loose !== 0; loose &= loose - 1) {
      told.lose(block << SHIFT | 31 - Math.clz32(loose & -loose), tick)
    }
    this.restless[block] |= mask & ~this.cohorts[block]
  }

  /**
   * The tick of a row that is held above a baseline, if what makes a pair with it was not overtaken by a whole cell; else 0. No such row is of
   * tick 0; one in 2^32 of them is in 32 bits, and counts as none. @hot
   */
  freshOf(tick: number): number {
    return tick === 0 || (this.heardTick | 0) - tick >= this.#grid.staleTicks ? 0 : tick
  }

  /** Writes the numbers of members down, who are none from now on. @hot */
  loosen(block: number, mask: number): void {
    const ahead = mask & this.aheads[block]
    const rest = mask & this.cohorts[block] & ~ahead
    if (ahead !== 0) this.loosenAt(block, ahead, this.aheadLevels[block])
    if (rest !== 0) this.loosenAt(block, rest, this.levels[block])
  }

  /** Takes members out whose numbers are of no use any more. @hot */
  drop(block: number, mask: number): void {
    this.strays++
    this.cohorts[block] &= ~mask
    this.aheads[block] &= ~mask
    this.paireds[block] |= mask
    this.steps[block] &= ~mask
    this.waits[block] &= ~mask
    this.even(block)
  }

  /** An object is known from now on, or anew: it must be told whole. */
  enter(index: number): void {
    const block = index >>> SHIFT
    const bit = 1 << index
    this.drop(block, bit)
    this.knowns[block] |= bit
    this.leavings[block] &= ~bit
    this.restless[block] |= bit
  }

  /** An object is to be forgotten, or is forgotten already. */
  leave(index: number, isLeaving: boolean): void {
    const block = index >>> SHIFT
    const bit = 1 << index
    this.drop(block, bit)
    this.knowns[block] &= ~bit
    this.leavings[block] = isLeaving ? this.leavings[block] | bit : this.leavings[block] & ~bit
    this.restless[block] |= bit
  }

  /** Keeps the level of a block within the window: who did not change is at any level, and who did must be written down. @hot */
  keepUp(block: number): void {
    const { oldest, tick, masks } = this.#marks
    while (this.cohorts[block] !== 0 && this.levels[block] <= oldest + 1) {
      const level = this.levels[block]
      const lowest = this.cohorts[block] & ~this.aheads[block]
      const moved = level < oldest ? lowest : lowest & masks.since(this.sets[block], block, level, tick)
      this.loosen(block, moved)
      // When all have moved, the higher level is the lowest now.
      if (moved === lowest) continue
      this.levels[block] = this.aheads[block] === 0 ? tick : this.aheadLevels[block]
      this.aheads[block] = 0
    }
  }

  /** Makes room for so many indexes. */
  reserve(need: number): void {
    const blocks = (need + 31) >>> SHIFT
    if (blocks <= this.capacity) return
    const words = new Int32Array(blocks * PLANES)
    words.fill(-1, blocks * PLANE.paireds, blocks * (PLANE.paireds + 1))
    for (let plane = 0; plane < PLANES; plane++) words.set(this.words.subarray(plane * this.capacity, (plane + 1) * this.capacity), plane * blocks)
    this.words = words
    this.capacity = blocks
    this.cohorts = this.#part(PLANE.cohorts)
    this.aheads = this.#part(PLANE.aheads)
    this.sets = this.#part(PLANE.sets)
    this.pendings = this.#part(PLANE.pendings)
    this.knowns = this.#part(PLANE.knowns)
    this.leavings = this.#part(PLANE.leavings)
    this.restless = this.#part(PLANE.restless)
    this.paireds = this.#part(PLANE.paireds)
    this.steps = this.#part(PLANE.steps)
    this.stepTicks = this.#part(PLANE.stepTicks)
    this.waits = this.#part(PLANE.waits)
    this.waitTicks = this.#part(PLANE.waitTicks)
    const levelWords = new Float64Array(blocks << 1)
    levelWords.set(this.levels)
    levelWords.set(this.aheadLevels, blocks)
    this.levelWords = levelWords
    this.levels = levelWords.subarray(0, blocks)
    this.aheadLevels = levelWords.subarray(blocks)
  }

  #part(plane: number): Int32Array {
    return this.words.subarray(plane * this.capacity, (plane + 1) * this.capacity)
  }

  /** Who of a block's members was sent anything after a tick. @hot */
  sentSince(block: number, tick: Tick): number {
    const { masks } = this.#marks
    const set = this.sets[block]
    const { sentTick, sentBefore } = this
    return masks.since(set, block, tick, sentBefore) | masks.since(set, block, Math.max(tick, sentBefore), sentTick) & ~this.pendings[block]
  }

  /** As `loosen`, of members who are at one level. @hot */
  loosenAt(block: number, mask: number, level: Tick): void {
    const told = this.#told
    const marks = this.#marks
    const set = this.sets[block]
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const base = marks.lastChange(index, set, level)
      const sentLevel = (this.pendings[block] & bit) === 0 ? this.sentTick : this.sentBefore
      const sent = marks.lastChange(index, set, sentLevel)
      // What was so long ago that nobody knows when is of no use, whenever it was: it changed since, and the row is gone.
      told.bases[index] = base === FORGOTTEN ? level : base
      told.paireds[index] = (this.paireds[block] & bit) === 0 ? 0 : 1
      told.steps[index] = (this.steps[block] & bit) === 0 ? 0 : this.stepTicks[block]
      told.waits[index] = (this.waits[block] & bit) === 0 ? 0 : this.waitTicks[block]
      told.sents[index] = sent === FORGOTTEN ? sentLevel : sent
      told.reasons[index] = CHANGED
    }
    this.drop(block, mask)
  }

  /** A loose object that is what a member would be becomes one, at a level of the block or at this one. @hot */
  join(index: number, block: number, bit: number, tick: Tick): void {
    const told = this.#told
    const marks = this.#marks
    const base = told.bases[index]
    const set = told.sets[index]
    if (!this.isJoining || told.states[index] !== KNOWN || base < marks.oldest || (this.pendings[block] & bit) !== 0 || told.ids[index] !== marks.ids[index]) return
    if (told.sents[index] !== marks.lastChange(index, set, this.sentTick) ) return
    const step = this.freshOf(told.steps[index])
    const wait = this.freshOf(told.waits[index])
    if (step !== 0 && this.steps[block] !== 0 && this.stepTicks[block] !== step) return
    if (wait !== 0 && this.waits[block] !== 0 && this.waitTicks[block] !== wait) return
    const cohort = this.cohorts[block]
    if (cohort === 0) {
      if (marks.lastChange(index, set, tick) !== base) return
      this.sets[block] = set
      this.levels[block] = tick
    } else if (this.sets[block] !== set) {
      return
    } else if (marks.lastChange(index, set, this.levels[block]) !== base) {
      const ahead = this.aheads[block]
      const level = ahead === 0 ? tick : this.aheadLevels[block]
      if (level <= this.levels[block] || marks.lastChange(index, set, level) !== base) return
      this.aheadLevels[block] = level
      this.aheads[block] = ahead | bit
    }
    this.cohorts[block] = cohort | bit
    if (told.paireds[index] === 0 && this.#usesOlder) this.paireds[block] &= ~bit
    if (step !== 0) {
      this.steps[block] |= bit
      this.stepTicks[block] = step
    }
    if (wait !== 0) {
      this.waits[block] |= bit
      this.waitTicks[block] = wait
    }
    this.restless[block] &= ~bit
    told.urgencies[index] = 0
  }

  /** When all are ahead, that is the level. @hot */
  even(block: number): void {
    if (this.aheads[block] === 0 || this.aheads[block] !== this.cohorts[block]) return
    this.levels[block] = this.aheadLevels[block]
    this.aheads[block] = 0
  }
}
