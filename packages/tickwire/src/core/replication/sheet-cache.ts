/**
 * Sheets: everything of a block that is another than at a tick, in one string of bits, made once in a tick for all who hold the block as of
 * that tick (sheet-blocks.ts).
 *
 *   sheet   [ body | head body | ... ]  body | head body | head body ...        ascending by object index
 *             who came and who left       └ the first delta
 *             before the first delta
 *
 * Told over the rows as of that tick, its *level*, is who changed since then, or in most ticks only who did so now; who came since is told in full, who
 * left is gone. A *complete* sheet has all of them: whoever holds the block as of the level, and reads it, holds it as of now, whatever else he has read or
 * has not. Sheets are complete in the last tick of a cell (baseline-grid.ts), and in the one before it where a coder needs the row before the baseline.
 *
 * The head of the first entry depends on the entry before it, and that of the first delta on the delta before it: these two are written for each
 * receiver, all else is copied. It does not know who is told what.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { BaselineGrid } from './baseline-grid.ts'
import type { ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { DELTA, NO_BASE, type DeltaCache } from './delta-cache.ts'
import { mannerOf, NO_MANNER, writeDeltaHead } from './delta-head.ts'
import { KIND, writeGap, writeKind } from './entry-code.ts'
import { REASON, type Adder } from './probe.ts'
import type { DeltaMaker } from './strip-cache.ts'

/** No sheet: the block must be told otherwise. */
export const NO_SHEET = -1
/** In the place of an index: there is none. */
export const NO_ENTRY = -1
/** Where the numbers of a sheet stand in `sheets`, from sheet << SHEET_SHIFT on: in one place, for a receiver who comes by asks for all of them. */
export const SHEET = {
  /** How many entries, how many bits in all, and where those begin in `words`. */
  count: 0, bits: 1, bitAt: 2,
  /** Of entries before the first delta: the first and its kind, the last, and their bits. `NO_ENTRY` where there are none. */
  lead: 3, leadKind: 4, leadLast: 5, leadBits: 6,
  /** The first delta, how old its baseline is, and its flags; `NO_ENTRY` where there is none. */
  delta: 7, age: 8, flags: 9,
  /** The last entry of all, and the manner of the last delta (delta-head.ts). */
  last: 10, manner: 11,
  /** How often it was copied, and the bits of the heads that were written for that: of the first of all, and of the first delta after others. */
  copies: 12, leadHeads: 13, deltaHeads: 14,
  /** Where its notes begin. */
  note: 15,
} as const
export const SHEET_SHIFT = 4

// Constants of this module, for speed: see schema/leaf-table.ts.
const { rested: RESTED, same: SAME, oversized: OVERSIZED } = DELTA
const { delta: KIND_DELTA, full: KIND_FULL, gone: KIND_GONE } = KIND
const { entered: ENTERED, changed: CHANGED, gone: GONE } = REASON
const { bits: BITS, bitAt: BIT_AT, lead: LEAD, leadKind: LEAD_KIND, leadLast: LEAD_LAST, leadBits: LEAD_BITS, delta: FIRST_DELTA, age: AGE, flags: FLAGS, last: LAST, manner: MANNER } = SHEET
const { copies: COPIES, leadHeads: LEAD_HEADS, deltaHeads: DELTA_HEADS, note: NOTE } = SHEET
const SHIFT_16 = SHEET_SHIFT
const NOTHING = NO_SHEET
const NOBODY = NO_ENTRY
const FROM_INITIAL = NO_BASE
const SHIFT = BLOCK_SHIFT
const LEVELS_SHIFT = 6
const LEVELS_MASK = 63
/** The field set of sheets: what everybody may know. */
const SET = 0

const SHEETS_FIRST = 64
const WORDS_FIRST = 4096
/** What copying reads before and after what it copies. */
const GUARD_WORDS = 2
const SCRATCH_BYTES = 1 << 12
/** Longer ones fit no packet. */
const BITS_MAX = DATAGRAM_BYTES_MAX << 3
/** In a note the index is above the kind, and that above the bits of the entry, which are fewer than those of a packet. */
const NOTE_INDEX_SHIFT = 16
const NOTE_BITS_MASK = 0x3fff
const NOTE_KIND_SHIFT = 14
const NOTE_KIND_MASK = 3

export class SheetCache {
  /** Deltas made in this tick; and sheets, ever. */
  deltaCount = 0
  madeCount = 0
  /** Whether the sheets of this tick are complete, and it is the last of its cell. */
  isComplete = false
  isEnd = false
  sheets: Int32Array = new Int32Array(SHEETS_FIRST << SHEET_SHIFT)
  words: Int32Array = new Int32Array(WORDS_FIRST)
  #wordCount = GUARD_WORDS
  #count = 0
  #blocks = new Int32Array(SHEETS_FIRST)
  #levels = new Float64Array(SHEETS_FIRST)
  /** By block, by level modulo 64: a sheet, if it is of that. */
  #places = new Int32Array(0)
  /** Entries, sheet by sheet. */
  #notes = new Uint32Array(WORDS_FIRST)
  #noteCount = 0
  /** By object index: how often deltas of it were copied, and their bits. */
  #told = new Float64Array(0)
  /** Something in the sheet fits no packet at all. */
  #isTooLong = false
  readonly #marks: ChangeMarks
  readonly #cache: DeltaCache
  readonly #maker: DeltaMaker
  readonly #grid: BaselineGrid
  /** Whether the rows before the level are used. */
  readonly #needsOlder: boolean
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #out = new BitWriter(this.#scratch)

  constructor(marks: ChangeMarks, cache: DeltaCache, maker: DeltaMaker, grid: BaselineGrid, needsOlder: boolean) {
    this.#marks = marks
    this.#grid = grid
    this.#needsOlder = needsOlder
    this.#cache = cache
    this.#maker = maker
  }

  /** Forgets everything: another tick. */
  clear(): void {
    const { tick } = this.#marks
    this.isEnd = tick >= 0 && this.#grid.isEnd(tick)
    this.isComplete = tick >= 0 && this.#grid.isComplete(tick, this.#needsOlder)
    this.#count = 0
    this.#wordCount = GUARD_WORDS
    this.#noteCount = 0
    this.deltaCount = 0
  }

  /** The sheet of a block for who holds it as of a level, which is in the window; `NO_SHEET` when it cannot be told so. @hot */
  find(block: number, level: Tick): number {
    const place = block << LEVELS_SHIFT | level & LEVELS_MASK
    if (place >= this.#places.length) this.#reserve(block)
    const sheet = this.#places[place]
    if (sheet < this.#count && this.#blocks[sheet] === block && this.#levels[sheet] === level) return this.sheets[sheet << SHIFT_16] < 0 ? NOTHING : sheet
    return this.#make(block, level, place)
  }

  /** Tells how often entries were copied, and begins anew: of an object all deltas at once, whatever they are over. */
  tell(adder: Adder): void {
    if (this.#count === 0) return
    const { sheets } = this
    const { types } = this.#marks
    if (this.#told.length < types.length << 1) this.#told = new Float64Array(types.length << 1)
    const told = this.#told
    for (let sheet = 0; sheet < this.#count; sheet++) {
      const at = sheet << SHIFT_16
      const copies = sheets[at | COPIES]
      if (copies === 0) continue
      for (let each = sheets[at | NOTE], end = each + sheets[at]; each < end; each++) {
        const note = this.#notes[each]
        const index = note >>> NOTE_INDEX_SHIFT
        const kind = note >>> NOTE_KIND_SHIFT & NOTE_KIND_MASK
        const heads = index === sheets[at | LEAD] ? sheets[at | LEAD_HEADS] : index === sheets[at | FIRST_DELTA] ? sheets[at | DELTA_HEADS] : 0
        const bits = copies * (note & NOTE_BITS_MASK) + heads
        if (kind === KIND_DELTA) {
          told[index << 1] += copies
          told[index << 1 | 1] += bits
        } else {
          adder.onEntries(index, types[index], kind === KIND_FULL ? ENTERED : GONE, copies, bits)
        }
      }
      sheets.fill(0, at | COPIES, (at | DELTA_HEADS) + 1)
    }
    for (let index = 0; index < types.length; index++) {
      if (told[index << 1] > 0) adder.onEntries(index, types[index], CHANGED, told[index << 1], told[index << 1 | 1])
    }
    told.fill(0)
  }

  #make(block: number, level: Tick, place: number): number {
    if (this.#count === this.#blocks.length) this.#widen()
    const sheet = this.#count++
    this.madeCount++
    const at = sheet << SHIFT_16
    const { sheets } = this
    this.#places[place] = sheet
    this.#blocks[sheet] = block
    this.#levels[sheet] = level
    sheets.fill(0, at, at + (1 << SHIFT_16))
    sheets[at | LEAD] = NOBODY
    sheets[at | LEAD_LAST] = NOBODY
    sheets[at | FIRST_DELTA] = NOBODY
    sheets[at | LAST] = NOBODY
    sheets[at | MANNER] = NO_MANNER
    sheets[at | NOTE] = this.#noteCount
    this.#isTooLong = false
    this.#fill(at, block, level)
    const out = this.#out
    const bits = out.bitLength
    if (out.failed || bits > BITS_MAX || this.#isTooLong) {
      sheets[at] = NOTHING
      return NOTHING
    }
    out.finish()
    sheets[at | BITS] = bits
    if (sheets[at | FIRST_DELTA] === NOBODY) sheets[at | LEAD_BITS] = bits
    sheets[at | BIT_AT] = this.#wordCount << 5
    const wordCount = (bits + 31) >>> 5
    this.#reserveWords(this.#wordCount + wordCount + GUARD_WORDS)
    for (let word = 0; word < wordCount; word++) this.words[this.#wordCount + word] = this.#view.getInt32(word << 2)
    this.#wordCount += wordCount
    return sheet
  }

  /** Writes all entries of a sheet. */
  #fill(at: number, block: number, level: Tick): void {
    const marks = this.#marks
    const { rows } = this.#maker
    const alive = marks.alives[block]
    const isSame = marks.censusTick <= level
    const gone = isSame ? 0 : this.#since(marks.diedAt, block, level) & ~alive
    const born = isSame ? 0 : this.#since(marks.bornAt, block, level) & alive
    const from = this.isComplete ? level : Math.max(level, marks.tick - this.#grid.strideTicks)
    const changed = marks.masks.since(SET, block, from, marks.tick) & alive & ~born
    const aimed = rows.aim(block, SET, level)
    const paired = this.#needsOlder ? aimed : 0
    const others = born | gone
    this.#out.reset(this.#scratch)
    this.#reserveNotes()
    for (let rest = changed | others; rest !== 0;) {
      const next = rest & others
      // Deltas up to the first who is something else.
      const run = next === 0 ? rest : rest & (next & -next) - 1
      if (run === 0) this.#putOther(at, block << SHIFT | 31 - Math.clz32(next & -next), (gone & next & -next) !== 0)
      else this.#putDeltas(at, block, level, run, paired)
      rest &= run === 0 ? rest - 1 : ~run
    }
  }

  /** Where of a block something happened after a level. */
  #since(ticks: Float64Array, block: number, level: Tick): number {
    let mask = 0
    for (let index = block << SHIFT, end = Math.min(index + 32, ticks.length); index < end; index++) if (ticks[index] > level) mask |= 1 << index
    return mask
  }

  /** Writes deltas of some in a block, over the rows as of a level. @hot */
  #putDeltas(at: number, block: number, level: Tick, wanted: number, paired: number): void {
    const { sheets } = this
    const out = this.#out
    const maker = this.#maker
    const { rows } = maker
    const notes = this.#notes
    const age = this.#marks.tick - level
    let isFirst = sheets[at | FIRST_DELTA] === NOBODY
    let last = sheets[at | LAST]
    let manner = sheets[at | MANNER]
    let noteAt = this.#noteCount
    for (let rest = wanted; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const from = out.bitLength
      let flags = rows.prepareAimed(index, rows.keyAimed(index, SET, (paired & bit) !== 0))
      if (!isFirst) writeDeltaHead(out, index - last, index, age, flags, manner)
      if (!maker.write(out)) {
        // It is what it was: that stands in the head.
        flags = flags & RESTED | SAME
        out.rewind(from)
        if (!isFirst) writeDeltaHead(out, index - last, index, age, flags, manner)
      }
      if (isFirst) {
        isFirst = false
        sheets[at | FIRST_DELTA] = index
        sheets[at | AGE] = age
        sheets[at | FLAGS] = flags
        sheets[at | LEAD_BITS] = from
      }
      last = index
      manner = mannerOf(age, flags)
      notes[noteAt++] = index << NOTE_INDEX_SHIFT | out.bitLength - from & NOTE_BITS_MASK
    }
    const count = noteAt - this.#noteCount
    this.#noteCount = noteAt
    this.deltaCount += count
    sheets[at] += count
    sheets[at | LAST] = last
    sheets[at | MANNER] = manner
  }

  /** Writes who came or left. */
  #putOther(at: number, index: number, isGone: boolean): void {
    const out = this.#out
    const cache = this.#cache
    const from = out.bitLength
    const kind = isGone ? KIND_GONE : KIND_FULL
    if (this.sheets[at] > 0) {
      writeGap(out, index - this.sheets[at | LAST], index)
      writeKind(out, kind)
    } else {
      this.sheets[at | LEAD] = index
      this.sheets[at | LEAD_KIND] = kind
    }
    if (isGone) {
      out.writeBits(1, 1)
    } else {
      const delta = this.#maker.deltaFor(index, SET, FROM_INITIAL, false)
      if ((cache.flags[delta] & OVERSIZED) !== 0) this.#isTooLong = true
      out.copyWordBits(cache.words, cache.bitAts[delta], cache.bits[delta])
    }
    if (this.sheets[at | FIRST_DELTA] === NOBODY) this.sheets[at | LEAD_LAST] = index
    this.sheets[at | LAST] = index
    this.sheets[at]++
    this.#notes[this.#noteCount++] = index << NOTE_INDEX_SHIFT | kind << NOTE_KIND_SHIFT | out.bitLength - from & NOTE_BITS_MASK
  }

  /** Makes room for the notes of one more sheet. */
  #reserveNotes(): void {
    if (this.#noteCount + (1 << SHIFT) > this.#notes.length) this.#notes = widen(this.#notes, new Uint32Array(2 * this.#notes.length))
  }

  #reserve(block: number): void {
    let blocks = Math.max(1, this.#places.length >>> LEVELS_SHIFT)
    while (blocks <= block) blocks *= 2
    this.#places = widen(this.#places, new Int32Array(blocks << LEVELS_SHIFT))
  }

  #reserveWords(need: number): void {
    let { length } = this.words
    if (need <= length) return
    while (length < need) length *= 2
    this.words = widen(this.words, new Int32Array(length))
  }

  #widen(): void {
    const capacity = 2 * this.#blocks.length
    this.sheets = widen(this.sheets, new Int32Array(capacity << SHIFT_16))
    this.#blocks = widen(this.#blocks, new Int32Array(capacity))
    this.#levels = widen(this.#levels, new Float64Array(capacity))
  }
}

function widen<T extends Int32Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
