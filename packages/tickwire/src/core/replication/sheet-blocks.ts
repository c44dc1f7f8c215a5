/**
 * Which blocks one receiver is told by sheets (sheet-cache.ts), and as of which tick he holds each.
 *
 *   tracked (told-blocks.ts)   each object is told once at each change; what is lost is told again      fewest bytes
 *   by sheets                  over one tick for all, the *level*, until the block is held as of a newer one     least to remember
 *
 * Whoever gets a complete telling of a block, in one packet, holds the block as of that tick: that is all there is to know of a block that is told by
 * sheets, and of who gets none nothing need be done. Complete are sheets of the last tick of a cell (baseline-grid.ts), so that receivers on lines of their
 * own have levels in common, and where a coder needs the row before the baseline those of the tick before that too. In all others, who came to rest is not told again.
 *
 *   tracked ── told completely, one by one, and it arrived ──▶ by sheets ── somebody is special, room is short ... ──▶ tracked
 *
 * What is told by sheets is for everybody to see. On the way back each object is told over the row as of the level. While a block is told by sheets
 * nothing of it stands in ToldBlocks and ToldObjects.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import type { ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { NO_BASE } from './delta-cache.ts'
import { REASON } from './probe.ts'
import type { ToldBlocks } from './told-blocks.ts'
import { FLAG, STATE, type ToldObjects } from './told-objects.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { none: UNKNOWN, known: KNOWN } = STATE
const { mayHold: MAY_HOLD } = FLAG
const { changed: CHANGED } = REASON
const FROM_INITIAL = NO_BASE
const SHIFT = BLOCK_SHIFT
/** The field set that everybody may know. */
const SET = 0
/** By block << 2: complete tellings count from this tick on; the level; the newest ends of cells, and ticks told before those, as of which the block is held. */
const LEVEL = 1
const BEFORE_END = 2
const END = 3
/** In the place of the first: none counts. */
const NEVER = Infinity
/** In the place of a level, and of the ticks after it: it is tracked, there is none; and so much less the level, if it goes over to sheets with the next tick. */
const TRACKED = -1
/** Levels are younger than this: sheets are kept by levels modulo 64. */
const AGE_MAX = 60
/** Complete tellings of a block that came to nothing: it does not fit one packet, or nothing of it arrives. */
const TRIES_MAX = 12

export class SheetBlocks {
  /** How many blocks are told by sheets. */
  count = 0
  #ticks = new Float64Array(0)
  #tries = new Uint8Array(0)
  #hasReady = false
  readonly #told: ToldObjects
  readonly #blocks: ToldBlocks
  readonly #marks: ChangeMarks
  readonly #grid: BaselineGrid
  /** Whether rows before levels are used. */
  readonly #needsOlder: boolean

  constructor(told: ToldObjects, blocks: ToldBlocks, marks: ChangeMarks, grid: BaselineGrid, needsOlder: boolean) {
    this.#told = told
    this.#blocks = blocks
    this.#marks = marks
    this.#grid = grid
    this.#needsOlder = needsOlder
  }

  /** Whether a block is told by sheets. @hot */
  has(block: number): boolean {
    return this.count > 0 && this.#ticks[block << 2 | LEVEL] >= 0
  }

  /** As of which tick a block that is told by sheets is held. @hot */
  levelOf(block: number): Tick {
    return this.#ticks[block << 2 | LEVEL]
  }

  /** The first block from one on, up to an end, that is not told by sheets from a level; the end when there is none. @hot */
  runOf(first: number, level: Tick, end: number): number {
    const ticks = this.#ticks
    let block = first
    while (block < end && ticks[block << 2 | LEVEL] === level) block++
    return block
  }

  /** The tick whose row of an object in a block that is told by sheets is known to be held; -1 when there is none. */
  baseOf(index: number, id: ObjectId): Tick {
    const { ids, bornAt } = this.#marks
    const level = this.levelOf(index >>> SHIFT)
    return ids[index] === id && bornAt[index] <= level ? level : FROM_INITIAL
  }

  /** Whether a sheet can still be made from a block's level. @hot */
  isStale(block: number, tick: Tick): boolean {
    const level = this.levelOf(block)
    return tick - level > AGE_MAX || level < this.#marks.oldest
  }

  /** Whether complete tellings of a tick are of use. */
  isComplete(tick: Tick): boolean {
    return this.#grid.isComplete(tick, this.#needsOlder)
  }

  /** A tracked block, where all is for everybody to see, may be told completely now; false when that was tried often enough. */
  tryComplete(block: number, tick: Tick): boolean {
    if (this.#tries[block] === TRIES_MAX) return false
    this.#tries[block]++
    if (this.#ticks[block << 2] === NEVER) this.#ticks[block << 2] = tick
    return true
  }

  /** A block was told completely in a tick, the end of a cell or the one told before it, and that arrived. @hot */
  hear(block: number, tick: Tick, isEnd: boolean): void {
    const ticks = this.#ticks
    const at = block << 2
    const end = isEnd ? tick : tick + this.#grid.strideTicks
    if (tick < ticks[at] || end <= ticks[at | LEVEL]) return
    if (!this.#needsOlder || ticks[at | (isEnd ? BEFORE_END : END)] === (isEnd ? tick - this.#grid.strideTicks : end)) {
      const isTold = ticks[at | LEVEL] >= 0
      ticks[at | LEVEL] = isTold ? end : TRACKED - 1 - end
      if (!isTold) this.#hasReady = true
    } else {
      ticks[at | (isEnd ? END : BEFORE_END)] = tick
    }
  }

  /** Blocks that can be told by sheets are so from now on: a tick begins. */
  enterReady(): void {
    if (!this.#hasReady) return
    this.#hasReady = false
    for (let block = 0; block < this.#tries.length; block++) {
      const level = TRACKED - 1 - this.#ticks[block << 2 | LEVEL]
      if (level < 0) continue
      this.#ticks[block << 2 | LEVEL] = level
      this.#enter(block)
    }
  }

  /** Tracks a block from a tick on, if it was told by sheets; and what was told of it completely counts no more. */
  leave(block: number, tick: Tick): void {
    const isTold = this.has(block)
    const at = block << 2
    const level = this.#ticks[at | LEVEL]
    this.#ticks[at] = NEVER
    this.#ticks.fill(TRACKED, at | LEVEL, at + 4)
    if (!isTold) return
    this.count--
    this.#blocks.strays++
    const marks = this.#marks
    const isKnown = level >= marks.oldest
    // Who did not move at the level has no row before it that would be another.
    const paired = isKnown && this.#needsOlder ? marks.masks.at(SET, block, level) : 0
    for (let index = block << SHIFT, end = Math.min(index + 32, marks.ids.length); index < end; index++) {
      if (marks.ids[index] === 0) {
        if (marks.diedAt[index] > level) this.#bury(index, tick)
        continue
      }
      this.#told.states[index] = KNOWN
      this.#told.enter(index, marks.ids[index], marks.types[index], SET, tick)
      if (isKnown && marks.bornAt[index] <= level) this.#base(index, level, (paired >>> index & 1) === 1)
      this.#blocks.enter(index)
    }
  }

  leaveAll(tick: Tick): void {
    for (let block = 0; block < this.#tries.length; block++) this.leave(block, tick)
    this.#tries.fill(0)
  }

  reserve(blocks: number): void {
    const from = this.#ticks
    if (blocks << 2 <= from.length) return
    this.#ticks = new Float64Array(blocks << 2).fill(TRACKED)
    this.#ticks.set(from)
    for (let at = from.length; at < this.#ticks.length; at += 4) this.#ticks[at] = NEVER
    const tries = new Uint8Array(blocks)
    tries.set(this.#tries)
    this.#tries = tries
  }

  /** Nothing of a block stands with those that are tracked from now on. */
  #enter(block: number): void {
    const blocks = this.#blocks
    this.count++
    this.#tries[block] = 0
    blocks.drop(block, -1)
    blocks.knowns[block] = 0
    blocks.leavings[block] = 0
    blocks.restless[block] = 0
    blocks.pendings[block] = 0
    for (let index = block << SHIFT, end = Math.min(index + 32, this.#told.states.length); index < end; index++) this.#told.states[index] = UNKNOWN
  }

  /** An object is held as of a level, and what changed since is to be told. */
  #base(index: number, level: Tick, isPaired: boolean): void {
    const told = this.#told
    told.reasons[index] = CHANGED
    told.bases[index] = level
    told.sents[index] = level
    told.paireds[index] = isPaired ? 1 : 0
  }

  /** Somebody who is gone may be held. */
  #bury(index: number, tick: Tick): void {
    const told = this.#told
    told.states[index] = KNOWN
    told.flags[index] = MAY_HOLD
    told.leave(index, true, tick)
    this.#blocks.leave(index, true)
  }
}
