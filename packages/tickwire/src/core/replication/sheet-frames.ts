/**
 * Whole packets of sheets (sheet-cache.ts): of neighbouring blocks, all from one level, as many as fit. What one receiver was sent is copied to all others
 * who hold these blocks as of that level, in one stroke.
 *
 *   slot   by first block and level: where the run ends, its entries, and of each sheet in it the bits of the heads that were written before it
 *
 * Packets need not be of the same size: a frame that was filled for a smaller one is good in a larger. It does not know who is told what.
 */

import type { Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { FrameStore } from './frame-store.ts'
import { SHEET, SHEET_SHIFT, type SheetCache } from './sheet-cache.ts'

/** No frame. */
export const NO_SHEET_FRAME = -1

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOTHING = NO_SHEET_FRAME
const SHIFT = SHEET_SHIFT
const { copies: COPIES, leadHeads: LEAD_HEADS, deltaHeads: DELTA_HEADS } = SHEET
const SLOT_BITS = 6
const SLOTS = 1 << SLOT_BITS
/** Places that are looked at for a frame. */
const PROBES = 4
/** Sheets in a frame at most, and words that are noted of each. */
const SHEETS_MAX = 64
const NOTE_WORDS = 3
const NO_LEVEL = -1

export class SheetFrames {
  /** Frames that were copied, ever. */
  copyCount = 0
  /** By slot: the block after the last of its run, and its entries. */
  readonly ends: Int32Array = new Int32Array(SLOTS)
  readonly counts: Int32Array = new Int32Array(SLOTS)
  readonly #firsts = new Int32Array(SLOTS)
  readonly #levels = new Float64Array(SLOTS).fill(NO_LEVEL)
  readonly #copies = new Int32Array(SLOTS)
  /** By slot: how many sheets; then of each its number, and the bits of its two heads. */
  readonly #noteCounts = new Int32Array(SLOTS)
  readonly #notes = new Int32Array(SLOTS * SHEETS_MAX * NOTE_WORDS)
  readonly #store = new FrameStore(SLOTS)
  /** The packet that is being filled: whether it is such a frame so far, of which blocks, and what was noted. */
  #isRun = false
  #byteOffset = 0
  #first = 0
  #end = 0
  #level: Tick = NO_LEVEL
  #count = 0
  #noteCount = 0
  readonly #log = new Int32Array(SHEETS_MAX * NOTE_WORDS)

  /** Forgets everything: another tick. */
  clear(): void {
    this.#levels.fill(NO_LEVEL)
  }

  /** The frame that begins with a block, from a level, and has no more than so many bits; `NO_SHEET_FRAME` if nobody was sent one. @hot */
  find(first: number, level: Tick, room: number): number {
    const slot = this.#place(first, level)
    return slot !== NOTHING && this.#levels[slot] === level && this.#store.bits[slot] <= room ? slot : NOTHING
  }

  /** Writes a frame that was found. @hot */
  put(slot: number, out: BitWriter): void {
    this.copyCount++
    this.#copies[slot]++
    this.#store.put(slot, out)
  }

  /** A packet begins, from a byte on, with a block that is told from a level. @hot */
  begin(first: number, level: Tick, byteOffset: number): void {
    this.#isRun = true
    this.#byteOffset = byteOffset
    this.#first = first
    this.#end = first
    this.#level = level
    this.#count = 0
    this.#noteCount = 0
  }

  /** Something else was written, and nobody else may be sent just this. @hot */
  spoil(): void {
    this.#isRun = false
  }

  /** The sheet of a block was written, from a level, with so many entries after heads of so many bits; or there is nothing in it. @hot */
  add(block: number, level: Tick, sheet: number, count: number, leadHeadBits: number, deltaHeadBits: number): void {
    if (block !== this.#end || level !== this.#level || this.#noteCount === SHEETS_MAX) this.#isRun = false
    if (!this.#isRun) return
    this.#end++
    if (count === 0) return
    this.#count += count
    const at = this.#noteCount++ * NOTE_WORDS
    this.#log[at] = sheet
    this.#log[at + 1] = leadHeadBits
    this.#log[at + 2] = deltaHeadBits
  }

  /** Keeps the packet that was filled, if it is such a frame. */
  keep(out: BitWriter): void {
    const isRun = this.#isRun && this.#count > 0
    this.#isRun = false
    if (!isRun) return
    const slot = this.#place(this.#first, this.#level)
    if (slot === NOTHING || !this.#store.keep(slot, out, this.#byteOffset)) return
    this.#firsts[slot] = this.#first
    this.#levels[slot] = this.#level
    this.#copies[slot] = 0
    this.ends[slot] = this.#end
    this.counts[slot] = this.#count
    this.#noteCounts[slot] = this.#noteCount
    const at = slot * SHEETS_MAX * NOTE_WORDS
    for (let word = 0; word < this.#noteCount * NOTE_WORDS; word++) this.#notes[at + word] = this.#log[word]
  }

  /** Counts what was copied with the sheets of this tick. */
  tell({ sheets }: SheetCache): void {
    for (let slot = 0; slot < SLOTS; slot++) {
      const copies = this.#copies[slot]
      if (this.#levels[slot] === NO_LEVEL || copies === 0) continue
      this.#copies[slot] = 0
      for (let note = 0, at = slot * SHEETS_MAX * NOTE_WORDS; note < this.#noteCounts[slot]; note++, at += NOTE_WORDS) {
        const sheet = this.#notes[at] << SHIFT
        sheets[sheet | COPIES] += copies
        sheets[sheet | LEAD_HEADS] += copies * this.#notes[at + 1]
        sheets[sheet | DELTA_HEADS] += copies * this.#notes[at + 2]
      }
    }
  }

  /** The slot of a frame, or a free one for it; `NO_SHEET_FRAME` when all its places are taken. */
  #place(first: number, level: Tick): number {
    const from = Math.imul(first * 0x2f0b + 1 ^ level, 0x9e37_79b1) >>> 32 - SLOT_BITS
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = from + probe & SLOTS - 1
      if (this.#levels[slot] === NO_LEVEL || (this.#levels[slot] === level && this.#firsts[slot] === first)) return slot
    }
    return NOTHING
  }
}
