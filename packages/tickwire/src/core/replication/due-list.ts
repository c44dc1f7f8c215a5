/**
 * What one receiver must be told in this tick, and in which order.
 *
 * When who is relevant changed, or who lives, it walks all of them and finds who came, who stayed and who left. Due is whose row, in
 * the receiver's field set, changed since the newest row that he holds or that is on its way; and who left, until that was
 * understood. Of most that is seen 32 at a time (told-blocks.ts).
 *
 *   pendings                    still to be sent, by block: in the order of the packet
 *   entries[cursor .. count)    the same when room is short: the most urgent first
 *
 * Urgency is what the relevance adds in each tick that an object waits; so nobody starves. In a tick in which everything is sent
 * nobody waits, so it is added when a tick turns out to have been too short.
 */

import type { Tick } from '../base/time.ts'
import type { ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { NO_BASE } from './delta-cache.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import type { Relevance } from './relevance.ts'
import type { SheetBlocks } from './sheet-blocks.ts'
import type { StateWalker } from './state-walker.ts'
import { PLANE, type ToldBlocks } from './told-blocks.ts'
import { NONE, STATE, type ToldObjects } from './told-objects.ts'
import { orderByUrgency } from './urgency-order.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { none: UNKNOWN, known: KNOWN } = STATE
const NOTHING = NONE
const FROM_INITIAL = NO_BASE
const SHIFT = BLOCK_SHIFT
const { sets: SETS, pendings: PENDINGS, knowns: KNOWNS, leavings: LEAVINGS, restless: RESTLESS } = PLANE
/** The field set that sees every change that anybody is told. */
const SET_WIDEST = 2
/** The one that everybody may know. */
const SET_COMMON = 0
const NO_VERSION = -1
const NONE_ONLY = -1
/** Ticks without sheets after one in which not everything could be sent: what is told by sheets has no order of urgency. */
const SHORT_TICKS = 120

/** Ticks between two full rows of one object, the first of which may still arrive: who joins is not sent the world every tick. */
const FULL_GAP_TICKS = 3
/** What is added to who leaves: telling it is cheap, and a ghost is worse than a late row. */
const GONE_URGENCY = 2 ** 60
/** The least that is added a tick: a relevance that says 0 still means "some time". */
const URGENCY_MIN = 2 ** -20

export class DueList {
  /** The tick that it is of. */
  tick: Tick = NOTHING
  /** How many are due, and how many of them are done with. */
  count = 0
  cursor = 0
  /** Blocks below this have nothing left that is due. */
  block = 0
  /** Whether not everything is likely to fit: then `entries` has what is due in the order of its urgency. */
  isShort = false
  entries: Uint32Array = new Uint32Array(0)
  /** Whether blocks are told by sheets (sheet-blocks.ts) or are to be. */
  isSheeted = false
  /** Blocks that are told by sheets and were not in this tick, and the entries of those that were. */
  sheetsLeft = 0
  sheetEntries = 0
  /** By block, if so: what is to be told in one packet for it to be complete; 0 where that is of no use. */
  completes: Int32Array = new Int32Array(0)
  /** Ticks in which not everything that was due could be sent. */
  shortTicks = 0
  readonly #told: ToldObjects
  readonly #blocks: ToldBlocks
  readonly #marks: ChangeMarks
  readonly #relevance: Relevance
  readonly #walker: StateWalker
  readonly #sheets: SheetBlocks
  readonly #grid: BaselineGrid
  /** From which tick on he may be told by sheets, for who was short of room. */
  #sheetsFrom: Tick = NOTHING
  /** By block: who is relevant; and of them who is not in the field set of everybody. */
  #relevants = new Int32Array(0)
  #specials = new Int32Array(0)
  /** How many blocks were told by sheets when nothing else was. */
  #onlySheets = NONE_ONLY
  /** Blocks in which all are for him as for everybody. */
  #commonCount = 0
  #spare: Uint32Array = new Uint32Array(0)
  /** The relevance that was last walked, and in which tick. */
  #version = NO_VERSION
  #capacity = 0
  #walkTick: Tick = NOTHING
  /** The most entries that went out in one tick, all that were due: as many will fit again. */
  #provenCount = 0

  constructor(told: ToldObjects, blocks: ToldBlocks, marks: ChangeMarks, relevance: Relevance, walker: StateWalker, sheets: SheetBlocks, grid: BaselineGrid) {
    this.#walker = walker
    this.#sheets = sheets
    this.#grid = grid
    this.#told = told
    this.#blocks = blocks
    this.#marks = marks
    this.#relevance = relevance
  }

  /** Whether nothing is left to be sent. */
  get isDone(): boolean {
    return this.cursor >= this.count && (this.sheetsLeft === 0 || this.block >= this.#blocks.capacity)
  }

  /** Lists what is due in the tick that the marks are of. `isSheetable`: he may be told by sheets. @hot */
  refresh(isSheetable: boolean): void {
    const { tick, ids, censusTick } = this.#marks
    const relevance = this.#relevance
    const blocks = this.#blocks
    const walker = this.#walker
    const sheets = this.#sheets
    if (!this.isDone || ids.length > this.#capacity) walker.leave()
    const wasShort = this.#close()
    this.tick = tick
    this.isSheeted = isSheetable && this.#grid.isSheeted && tick >= this.#sheetsFrom
    sheets.enterReady()
    if (sheets.count > 0 && !this.isSheeted) sheets.leaveAll(tick)
    if (this.isSheeted) walker.leave()
    this.#reserve(ids.length)
    relevance.refresh(tick)
    const isOther = relevance.version !== this.#version || censusTick > this.#walkTick
    if (isOther || wasShort) walker.leave()
    this.#version = relevance.version
    this.#walkTick = tick
    if (!isOther && !wasShort && !this.isSheeted && walker.followBegin()) {
      this.count = walker.graph.counts[walker.state]
      this.block = 0
    } else {
      blocks.sentBefore = blocks.sentTick
      blocks.sentTick = tick
      if (isOther) this.#walk()
      this.#list()
      if (this.isSheeted) this.#listCompletely()
      else walker.addBegin(this.count)
    }
    this.#grid.count(this.count + this.sheetEntries)
    this.sheetsLeft = sheets.count
    this.sheetEntries = 0
    this.#order(wasShort)
  }

  /** Compares who is relevant with who was. */
  #walk(): void {
    const { ids, types, tick } = this.#marks
    const { count, indexes, sets } = this.#relevance
    const told = this.#told
    const blocks = this.#blocks
    const relevants = this.#relevants
    const specials = this.#specials
    this.#onlySheets = NONE_ONLY
    relevants.fill(0)
    specials.fill(0)
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      if (index >= ids.length || ids[index] === 0) continue
      relevants[index >>> SHIFT] |= 1 << index
      if (sets[at] !== SET_COMMON) specials[index >>> SHIFT] |= 1 << index
    }
    this.#commonCount = 0
    for (let block = 0; block < relevants.length; block++) {
      if (this.#isCommon(block)) this.#commonCount++
      else this.#sheets.leave(block, tick)
    }
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      const id = index < ids.length ? ids[index] : 0
      if (id === 0 || this.#sheets.has(index >>> SHIFT)) continue
      if (told.states[index] !== KNOWN || told.ids[index] !== id) {
        blocks.enter(index)
        told.enter(index, id, types[index], sets[at], tick)
      } else if (told.sets[index] !== sets[at]) {
        blocks.enter(index)
        told.restart(index, sets[at], tick)
      }
    }
    for (let block = 0; block < relevants.length; block++) {
      for (let gone = blocks.knowns[block] & ~relevants[block]; gone !== 0; gone &= gone - 1) this.#leave(block << SHIFT | 31 - Math.clz32(gone & -gone))
    }
  }

  /** Whether a block has somebody in it, and all of them are for him as for everybody. */
  #isCommon(block: number): boolean {
    return this.#relevants[block] !== 0 && this.#relevants[block] === this.#marks.alives[block] && this.#specials[block] === 0
  }

  /** Lists all that blocks lack which are to go over to sheets: what was sent and is not known to have arrived, too. */
  #listCompletely(): void {
    const sheets = this.#sheets
    const { tick } = this
    this.completes.fill(0)
    if (sheets.count === this.#commonCount || !sheets.isComplete(tick)) return
    for (let block = 0; block < this.#relevants.length; block++) {
      if (sheets.has(block) || !this.#isCommon(block) || !sheets.tryComplete(block, tick)) continue
      this.#complete(block)
      this.completes[block] = this.#blocks.pendings[block]
      // He holds all of it already.
      if (this.completes[block] === 0) sheets.hear(block, tick, this.#grid.isEnd(tick))
    }
  }

  /** Makes everybody in a block due whose newest row is not known to be held; or for so long that it may be let go of when he moves before the first sheet comes. */
  #complete(block: number): void {
    const blocks = this.#blocks
    const { changed, masks, tick, oldest } = this.#marks
    const recent = (oldest + tick) / 2
    let lacking = blocks.leavings[block] & ~blocks.cohorts[block]
    for (let rest = blocks.knowns[block]; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const base = blocks.baseOf(index)
      if (base < recent || base < changed[index << 2 | this.#told.sets[index]]) lacking |= bit
    }
    // What is sent in another tick than it changed in is not what members are sent.
    const others = lacking & ~masks.at(blocks.sets[block], block, tick)
    blocks.loosen(block, others & blocks.cohorts[block])
    this.count += countBits(lacking & ~blocks.pendings[block])
    blocks.pendings[block] |= lacking
  }

  /** Somebody who was told of an object is to forget it. */
  #leave(index: number): void {
    const told = this.#told
    told.leave(index, this.#marks.ids[index] !== told.ids[index], this.tick)
    this.#blocks.leave(index, told.states[index] !== UNKNOWN)
  }

  /** Finds what is due, block by block. */
  #list(): void {
    const { tick, oldest, masks } = this.#marks
    const blocks = this.#blocks
    const { words, capacity, levels, sentBefore } = blocks
    this.count = 0
    this.block = 0
    if (this.#isAllInSheets()) return
    // Nobody knows who changed in ticks before the window: then everybody may have.
    const isBlind = sentBefore < oldest - 1
    const hasGap = tick - sentBefore > 1
    // The slow twin asks everybody.
    const isSure = !hasGap && blocks.isJoining
    let count = 0
    const { bits } = masks
    // Where the blocks of the tick's changes begin, by field set.
    const firstRow = masks.rowOf(0, tick)
    const rowStep = masks.rowOf(1, tick) - firstRow
    for (let block = 0; block < capacity; block++) {
      const cohort = words[block]
      const pendingAt = PENDINGS * capacity + block
      if (cohort !== 0) {
        const changed = bits[firstRow + words[SETS * capacity + block] * rowStep + block]
        words[pendingAt] = cohort & changed
        if (hasGap) this.#listGap(block, cohort, changed, isBlind)
        if (levels[block] <= oldest + 1) blocks.keepUp(block)
      }
      const loose = (words[KNOWNS * capacity + block] | words[LEAVINGS * capacity + block]) & ~words[block]
      if (loose !== 0) {
        const changed = isBlind ? -1 : hasGap ? masks.since(SET_WIDEST, block, sentBefore, tick) : bits[firstRow + SET_WIDEST * rowStep + block]
        const asked = loose & (words[RESTLESS * capacity + block] | changed)
        // Who changed for all to see was not sent it yet, and his numbers, which are far away in memory, need not be asked.
        const sure = isSure ? loose & words[KNOWNS * capacity + block] & ~words[RESTLESS * capacity + block] & bits[firstRow + block] : 0
        words[pendingAt] = words[pendingAt] & ~loose | sure
        if (asked !== 0) blocks.strays++
        if ((asked & ~sure) !== 0) this.#ask(block, asked & ~sure)
      }
      if (words[pendingAt] !== 0) count += countBits(words[pendingAt])
    }
    this.count = count
  }

  /** Whether nothing at all is tracked. That is looked up once, for the words of a receiver are far away: it is so until a block leaves, or other objects are relevant. */
  #isAllInSheets(): boolean {
    const { words, capacity } = this.#blocks
    const { count } = this.#sheets
    if (count === 0) return false
    if (count !== this.#onlySheets) this.#onlySheets = isEmpty(words, KNOWNS * capacity, (LEAVINGS + 1) * capacity) ? count : NONE_ONLY
    return count === this.#onlySheets
  }

  /** Ticks were skipped: what is sent in another tick than it changed in is not what members are sent. */
  #listGap(block: number, cohort: number, changed: number, isBlind: boolean): void {
    const blocks = this.#blocks
    const { masks, tick } = this.#marks
    const due = isBlind ? cohort : cohort & masks.since(blocks.sets[block], block, blocks.sentBefore, tick)
    blocks.pendings[block] = due
    blocks.loosen(block, isBlind ? cohort : due & ~changed)
  }

  /** Asks loose objects one by one. */
  #ask(block: number, asked: number): void {
    const { changed, tick } = this.#marks
    const { pendings, restless } = this.#blocks
    const { bases, sents, sets, states, urgencies } = this.#told
    for (let rest = asked; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const sent = sents[index]
      const isFirst = states[index] === KNOWN && bases[index] === FROM_INITIAL
      let isDue = sent === NOTHING
      if (states[index] !== KNOWN) urgencies[index] = GONE_URGENCY
      else isDue = changed[index << 2 | sets[index]] > sent && (!isFirst || sent === NOTHING || tick - sent >= FULL_GAP_TICKS)
      if (isDue) pendings[block] |= bit
      // Until a row is acknowledged it is looked at in every tick.
      if (isFirst) restless[block] |= bit
      else restless[block] &= ~bit
    }
  }

  /** How the tick before went decides how the next is filled: whether not all of it could be sent. */
  #close(): boolean {
    const { isDone } = this
    const sent = this.cursor + this.sheetEntries
    if (!isDone) this.shortTicks++
    if (!isDone) this.#provenCount = sent
    else if (sent > this.#provenCount) this.#provenCount = sent
    this.cursor = 0
    if (isDone) return false
    this.#sheetsFrom = this.tick + SHORT_TICKS
    const { pendings, restless } = this.#blocks
    if (!this.isShort) this.#weigh()
    for (let block = 0; block < pendings.length; block++) {
      if (pendings[block] === 0) continue
      this.#blocks.loosen(block, pendings[block])
      restless[block] |= pendings[block]
      pendings[block] = 0
    }
    return true
  }

  /** Adds to the urgency of all who wait. */
  #weigh(): void {
    const { count, indexes, weights } = this.#relevance
    const { pendings } = this.#blocks
    const { urgencies, states } = this.#told
    for (let at = 0; at < count; at++) {
      const index = indexes[at]
      if (index >>> SHIFT >= pendings.length || (pendings[index >>> SHIFT] & 1 << index) === 0 || states[index] !== KNOWN) continue
      urgencies[index] += weights[at] > URGENCY_MIN ? weights[at] : URGENCY_MIN
    }
  }

  /** Far more than ever fitted, and nobody knows whether it will: then the order must be right from the first packet on. */
  #order(wasShort: boolean): void {
    this.isShort = this.count > 1 && (wasShort || this.count > 2 * this.#provenCount)
    if (!this.isShort) return
    if (this.isSheeted) this.#leaveSheets()
    this.#walker.leave()
    const { pendings } = this.#blocks
    const { entries } = this
    let count = 0
    for (let block = 0; block < pendings.length; block++) {
      if (pendings[block] === 0) continue
      this.#blocks.loosen(block, pendings[block])
      for (let rest = pendings[block]; rest !== 0; rest &= rest - 1) entries[count++] = block << SHIFT | 31 - Math.clz32(rest & -rest)
    }
    this.#weigh()
    orderByUrgency(entries, count, this.#told.urgencies, this.#spare)
    this.entries = this.#spare
    this.#spare = entries
  }

  /** Everything must be weighed, whatever it was told by. */
  #leaveSheets(): void {
    this.#sheets.leaveAll(this.tick)
    this.isSheeted = false
    this.sheetsLeft = 0
    this.#list()
  }

  #reserve(need: number): void {
    if (need <= this.#capacity) return
    this.#capacity = need
    this.#told.reserve(need)
    this.#blocks.reserve(need)
    this.#relevants = new Int32Array(this.#blocks.cohorts.length)
    this.#specials = new Int32Array(this.#blocks.cohorts.length)
    this.completes = new Int32Array(this.#blocks.cohorts.length)
    this.#sheets.reserve(this.#blocks.cohorts.length)
    this.entries = new Uint32Array(need)
    this.#spare = new Uint32Array(need)
    // The lists are other ones, and the walk must fill them again.
    this.#version = NO_VERSION
  }
}

/** Whether words are all 0. @hot */
function isEmpty(words: Int32Array, from: number, to: number): boolean {
  let all = 0
  for (let at = from; at < to; at++) all |= words[at]
  return all === 0
}
