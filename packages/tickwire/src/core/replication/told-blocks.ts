/**
 * What one receiver was told, 32 objects at a time: told-objects.ts for all those with whom nothing is out of the ordinary.
 *
 * Of an object that is told at every change and acknowledged, the numbers in ToldObjects follow from the marks that all
 * receivers share and from two ticks. So a block has a *cohort*, the bits of such objects in one field set, and these ticks once:
 *
 *   base   = last change up to the level that the block has reached       all that changed up to the level is acknowledged
 *   sent   = last change up to `sentTick`; of who is pending, `sentBefore`
 *   pair   = base, of who is `paired`; of all others too long ago to matter
 *
 * Two levels, for the acknowledgements of one block's two packets come one by one. Everybody else is *loose*: his numbers stand
 * in ToldObjects. Loosening writes them there, joining checks that they are what they would be; both may be done at any time
 * and change nothing of what is sent, which is what test/sim/replication-blocks.test.ts holds together.
 *
 * Invariant: of members, `bases`, `pairs`, `sents` of ToldObjects mean nothing; all else there does.
 */

import type { Tick } from '../base/time.ts'
import { LONG_AGO, type ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { NO_BASE } from './delta-cache.ts'
import { REASON } from './probe.ts'
import { NONE, STATE, type ToldObjects } from './told-objects.ts'

/** Where the words of all blocks stand in `words`, in so many times its capacity: cohorts at 0. */
export const PLANE = { cohorts: 0, aheads: 1, sets: 2, pendings: 3, knowns: 4, leavings: 5, restless: 6, paireds: 7 } as const

/** How much older than the newest a baseline may be for the sake of the row before it, in strides. */
export const PAIR_LAG_STRIDES = 2

// Constants of this module, for speed: see schema/leaf-table.ts.
const { known: KNOWN } = STATE
const { changed: CHANGED } = REASON
const FROM_INITIAL = NO_BASE
const FORGOTTEN = LONG_AGO
const SHIFT = BLOCK_SHIFT
const PLANES = 8
const { aheads: AHEADS, sets: SETS } = PLANE

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
  /** How often a single object was asked or written down: what happens without that follows from this alone. */
  strays = 0
  /** `levels`, then `aheadLevels`. */
  levelWords: Float64Array = new Float64Array(0)
  /** Whether objects may join cohorts: false makes it the slow twin. */
  readonly #isJoining: boolean
  readonly #told: ToldObjects
  readonly #marks: ChangeMarks
  /** Whether any coder looks at the row before the baseline. */
  readonly #usesOlder: boolean
  /** Ticks from one telling to the next, and how many a pair may lag behind. */
  readonly #strideTicks: number
  readonly #lagTicks: number

  constructor(told: ToldObjects, marks: ChangeMarks, usesOlder: boolean, isJoining: boolean, strideTicks: number) {
    this.#strideTicks = strideTicks
    this.#lagTicks = strideTicks * PAIR_LAG_STRIDES
    this.#told = told
    this.#marks = marks
    this.#usesOlder = usesOlder
    this.#isJoining = isJoining
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

  /** A packet of a tick with these objects of a block has arrived; `pairs`: those with whom the row of a stride before is held. @hot */
  deliver(block: number, mask: number, pairs: number, tick: Tick, isLate: boolean): void {
    const { masks, oldest } = this.#marks
    const { words, capacity } = this
    const cohort = words[block]
    const level = this.levels[block]
    if (tick === level + 1 && (mask & ~cohort) === 0 && words[AHEADS * capacity + block] === 0 && level >= oldest) {
      // In calm weather that is all that happens to a block.
      const set = words[SETS * capacity + block]
      if ((cohort & ~mask & masks.at(set, block, tick)) === 0) {
        this.levels[block] = tick
        if (this.#usesOlder) this.#pair(block, mask, pairs, level, tick)
        return
      }
    }
    this.#deliverApart(block, mask, pairs, tick, isLate)
  }

  /** What was sent of these objects of a block in a tick has gone under. @hot */
  lose(block: number, mask: number, tick: Tick): void {
    this.strays++
    const { oldest, masks } = this.#marks
    const told = this.#told
    if (this.cohorts[block] !== 0 && (tick < oldest || this.levels[block] < oldest)) this.loosen(block, this.cohorts[block])
    const members = mask & this.cohorts[block]
    if (members !== 0) {
      const set = this.sets[block]
      const { sentTick, sentBefore } = this
      const sentSince = masks.since(set, block, tick, sentBefore) | masks.since(set, block, Math.max(tick, sentBefore), sentTick) & ~this.pendings[block]
      this.loosen(block, members & ~sentSince)
    }
    for (let loose = mask & ~this.cohorts[block]; loose !== 0; loose &= loose - 1) {
      told.lose(block << SHIFT | 31 - Math.clz32(loose & -loose), tick)
    }
    this.restless[block] |= mask & ~this.cohorts[block]
  }

  /** A row that was sent by itself has arrived. @hot */
  promote(index: number, tick: Tick, isPaired: boolean, isLate: boolean): void {
    this.strays++
    const told = this.#told
    const block = index >>> SHIFT
    const bit = 1 << index
    if ((this.cohorts[block] & bit) !== 0) this.loosen(block, bit)
    // After a window he has let go of a row, unless it is the newest that he was told.
    if (isLate && told.sents[index] !== tick) return
    told.promote(index, tick, isPaired)
    if (this.#isJoining) this.#join(index, block, bit, tick)
  }

  /** Writes the numbers of members down, who are none from now on. @hot */
  loosen(block: number, mask: number): void {
    const ahead = mask & this.aheads[block]
    const rest = mask & this.cohorts[block] & ~ahead
    if (ahead !== 0) this.#loosenAt(block, ahead, this.aheadLevels[block])
    if (rest !== 0) this.#loosenAt(block, rest, this.levels[block])
  }

  /** Takes members out whose numbers are of no use any more. @hot */
  drop(block: number, mask: number): void {
    this.strays++
    this.cohorts[block] &= ~mask
    this.aheads[block] &= ~mask
    this.paireds[block] |= mask
    this.#level(block)
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
    words.fill(-1, blocks * PLANE.paireds)
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

  #deliverApart(block: number, mask: number, pairs: number, tick: Tick, isLate: boolean): void {
    const { oldest } = this.#marks
    if (this.cohorts[block] !== 0 && this.levels[block] < oldest) this.loosen(block, this.cohorts[block])
    const cohort = this.cohorts[block]
    if (cohort !== 0 && tick >= oldest) this.#advanceApart(block, mask & cohort, pairs, tick)
    for (let loose = mask & ~cohort; loose !== 0; loose &= loose - 1) {
      const bit = loose & -loose
      this.promote(block << SHIFT | 31 - Math.clz32(bit), tick, (pairs & bit) !== 0, isLate)
    }
  }

  /** Not all of the tick after the level: after losses, out of order, or one of a tick's two packets. */
  #advanceApart(block: number, members: number, pairs: number, tick: Tick): void {
    const set = this.sets[block]
    const { masks } = this.#marks
    const level = this.levels[block]
    const aheadLevel = this.aheadLevels[block]
    const ahead = this.aheads[block]
    const low = this.cohorts[block] & ~ahead
    const isAboveAhead = ahead !== 0 && tick > aheadLevel
    const lowUp = tick > level ? low & (members | ~masks.since(set, block, level, tick)) : 0
    const aheadUp = isAboveAhead ? ahead & (members | ~masks.since(set, block, aheadLevel, tick)) : 0
    const old = members & ~lowUp & ~aheadUp
    if (lowUp !== 0 || aheadUp !== 0) {
      if (ahead === 0 || tick === aheadLevel) this.#place(block, ahead | lowUp, tick)
      else if (isAboveAhead) this.#placeAbove(block, low & ~lowUp, ahead & ~aheadUp, lowUp | aheadUp, tick)
      else this.#placeBetween(block, low & ~lowUp, lowUp, tick)
      if (lowUp !== 0) this.#pair(block, members & lowUp & this.cohorts[block], pairs, level, tick)
      if (aheadUp !== 0) this.#pair(block, members & aheadUp & this.cohorts[block], pairs, aheadLevel, tick)
    }
    if (!this.#usesOlder) return
    // Late: it may be the row before a baseline that is held already.
    for (let late = old & this.cohorts[block] & ~this.paireds[block]; late !== 0; late &= late - 1) {
      const bit = late & -late
      this.promote(block << SHIFT | 31 - Math.clz32(bit), tick, (pairs & bit) !== 0, false)
    }
  }

  /** Some are at a level above all others, who are at one level. */
  #place(block: number, ahead: number, tick: Tick): void {
    this.aheads[block] = ahead
    this.aheadLevels[block] = tick
    this.#level(block)
  }

  /** Three levels, one more than there is room for: who is behind most is written down. */
  #placeAbove(block: number, lowest: number, middle: number, highest: number, tick: Tick): void {
    if (middle !== 0) {
      if (lowest !== 0) this.#loosenAt(block, lowest, this.levels[block])
      this.levels[block] = this.aheadLevels[block]
    }
    this.#place(block, highest, tick)
  }

  #placeBetween(block: number, lowest: number, middle: number, tick: Tick): void {
    if (middle === 0) return
    if (lowest !== 0) this.#loosenAt(block, lowest, this.levels[block])
    this.levels[block] = tick
  }

  /** Whether members who rose from a level to a tick hold the row before it too. */
  #pair(block: number, members: number, pairs: number, level: Tick, tick: Tick): void {
    if (!this.#usesOlder) return
    const { masks, oldest } = this.#marks
    const set = this.sets[block]
    const paired = this.paireds[block]
    const held = members & (pairs | (level === tick - this.#strideTicks && level >= oldest ? masks.at(set, block, level) : 0))
    this.paireds[block] = paired & ~members | held
    // A pair that is not much older is worth more than the newest row; there is no place for it here.
    const pairTick = tick - this.#lagTicks
    let lagging = level >= pairTick && pairTick >= oldest ? members & ~held & paired & masks.at(set, block, pairTick) : 0
    if (lagging === 0) return
    this.loosen(block, lagging)
    for (; lagging !== 0; lagging &= lagging - 1) this.#told.pairs[block << SHIFT | 31 - Math.clz32(lagging & -lagging)] = pairTick
  }

  #loosenAt(block: number, mask: number, level: Tick): void {
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
      told.pairs[index] = (this.paireds[block] & bit) === 0 ? FROM_INITIAL : told.bases[index]
      told.sents[index] = sent === FORGOTTEN ? sentLevel : sent
      told.reasons[index] = CHANGED
    }
    this.drop(block, mask)
  }

  /** A loose object that is what a member would be becomes one. */
  #join(index: number, block: number, bit: number, tick: Tick): void {
    const told = this.#told
    const marks = this.#marks
    const base = told.bases[index]
    const set = told.sets[index]
    if (told.states[index] !== KNOWN || base < marks.oldest || (this.pendings[block] & bit) !== 0 || told.ids[index] !== marks.ids[index]) return
    if (told.sents[index] !== marks.lastChange(index, set, this.sentTick)) return
    const pair = told.pairs[index]
    if (pair !== base && pair !== FROM_INITIAL && base - pair <= this.#lagTicks) return
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
    if (pair !== base && this.#usesOlder) this.paireds[block] &= ~bit
    this.restless[block] &= ~bit
    told.urgencies[index] = 0
  }

  /** When all are ahead, that is the level. */
  #level(block: number): void {
    if (this.aheads[block] === 0 || this.aheads[block] !== this.cohorts[block]) return
    this.levels[block] = this.aheadLevels[block]
    this.aheads[block] = 0
  }
}
