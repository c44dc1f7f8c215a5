/**
 * The frame that is being written: what its last entry was, and whether the next one fits.
 *
 *   frame   tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * Entries are written one by one, or in runs of a strip (strip-cache.ts). What does not fit leaves nothing behind. It does not
 * remember who was told what.
 */

import type { PeerId, Tick } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { BLOCK_SHIFT } from './change-masks.ts'
import { NO_BASE, type DeltaCache } from './delta-cache.ts'
import { isPlain, mannerOf, NO_MANNER, writeDeltaHead } from './delta-head.ts'
import { KIND, PLAIN_BITS_MAX, plainHead, plainWidth, writeGap, writeKind } from './entry-code.ts'
import { REASON, type Probe } from './probe.ts'
import { NO_ENTRY, SHEET, SHEET_SHIFT, type SheetCache } from './sheet-cache.ts'
import type { StripCache } from './strip-cache.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { full: KIND_FULL, gone: KIND_GONE } = KIND
const { changed: CHANGED } = REASON
const FROM_INITIAL = NO_BASE
const SHIFT = BLOCK_SHIFT
const HEAD_BITS_MAX = PLAIN_BITS_MAX
const NONE = NO_MANNER
const NOBODY = NO_ENTRY
const SHEETS_SHIFT = SHEET_SHIFT
const { bits: BITS, bitAt: BIT_AT, lead: LEAD, leadKind: LEAD_KIND, leadLast: LEAD_LAST, leadBits: LEAD_BITS, delta: FIRST_DELTA, age: AGE, flags: FLAGS, last: LAST, manner: MANNER } = SHEET
const { copies: COPIES, leadHeads: LEAD_HEADS, deltaHeads: DELTA_HEADS } = SHEET
/** The longest head of all: the index, the kind, an age as a varint, and two bits. */
const ANY_HEAD_BITS_MAX = 96

export class SnapshotFrame {
  /** The index of the last entry; -1 before the first. */
  beforeIndex = -1
  /** A run was cut short because there is no room for its next entry: nothing fits any more. */
  isFull = false
  /** Bits of the heads that were written for the last sheet: of its first entry, and of its first delta after others. */
  leadHeadBits = 0
  deltaHeadBits = 0
  /** The manner of the last delta (delta-head.ts). */
  #before = NO_MANNER
  #tick: Tick = 0
  #capBits = 0
  readonly #cache: DeltaCache
  readonly #strips: StripCache

  constructor(cache: DeltaCache, strips: StripCache) {
    this.#cache = cache
    this.#strips = strips
  }

  /** Begins a frame of a tick that may take so many bits, its first entry aside. */
  begin(tick: Tick, capBits: number): void {
    this.#tick = tick
    this.#capBits = capBits
    this.beforeIndex = -1
    this.isFull = false
    this.#before = NONE
  }

  /** Writes that an object is gone; false when it does not fit. @hot */
  putGone(out: BitWriter, index: number, isDespawned: boolean): boolean {
    const { bitLength } = out
    writeGap(out, index - this.beforeIndex, index)
    writeKind(out, KIND_GONE)
    out.writeBits(isDespawned ? 1 : 0, 1)
    if (!this.#fits(out, bitLength)) return false
    this.beforeIndex = index
    return true
  }

  /** Writes an entry; false when it does not fit. @hot */
  put(out: BitWriter, index: number, delta: number): boolean {
    const { bases, flags, bits, bitAts, words } = this.#cache
    const { bitLength } = out
    const base = bases[delta]
    const gap = index - this.beforeIndex
    const age = this.#tick - base
    if (base === FROM_INITIAL) {
      writeGap(out, gap, index)
      writeKind(out, KIND_FULL)
    } else {
      writeDeltaHead(out, gap, index, age, flags[delta], this.#before)
    }
    out.copyWordBits(words, bitAts[delta], bits[delta])
    if (!this.#fits(out, bitLength)) return false
    this.beforeIndex = index
    if (base !== FROM_INITIAL) this.#before = mannerOf(age, flags[delta])
    return true
  }

  /**
   * Writes entries from the lowest of `wanted` on, as far as the strip has them without somebody between, and as they fit. Gives
   * those that were written: 0 when the first does not fit, or only by overdrawing the cap. The strip has the lowest. Those in `unfit` it
   * has for others. @hot
   */
  putRun(out: BitWriter, block: number, wanted: number, strip: number, unfit: number): number {
    const { masks, deltas, starts, ends, manners } = this.#strips
    const { bases, flags, words } = this.#cache
    const low = wanted & -wanted
    // Whoever is in only one of the two stands between.
    const between = (masks[strip] ^ wanted | wanted & unfit) & -low
    let run = between === 0 ? wanted : wanted & ((between & -between) - 1)
    const first = 31 - Math.clz32(low)
    const index = block << SHIFT | first
    const at = strip << SHIFT | first
    const { bitLength } = out
    const delta = deltas[at]
    writeDeltaHead(out, index - this.beforeIndex, index, this.#tick - bases[delta], flags[delta], this.#before)
    let last = 31 - Math.clz32(run)
    let end = ends[strip << SHIFT | last]
    const room = Math.min(out.bitsLeft, this.#capBits - out.bitLength)
    while (end - starts[at] > room) {
      run &= ~(1 << last)
      if (out.failed || run === 0) {
        out.rewind(bitLength)
        return 0
      }
      last = 31 - Math.clz32(run)
      end = ends[strip << SHIFT | last]
    }
    out.copyWordBits(words, starts[at], end - starts[at])
    if (out.failed) {
      out.rewind(bitLength)
      return 0
    }
    this.beforeIndex = block << SHIFT | last
    this.#before = manners[strip << SHIFT | last]
    return run
  }

  /**
   * Writes those of `wanted` that a strip has, run by run; gives those that were written. It stops before the first that is not in
   * the strip, or `unfit`, or does not fit the packet. As `putRun` again and again, with a shorter way for most: for each receiver and tick
   * these are fifty to a hundred runs. @hot
   */
  putRuns(out: BitWriter, block: number, wanted: number, strip: number, unfit: number): number {
    const { masks, plains, starts, ends, manners, adder, tally } = this.#strips
    const { words } = this.#cache
    const mask = masks[strip]
    const plain = plains[strip]
    const places = strip << SHIFT
    let rest = wanted
    while (rest !== 0) {
      const low = rest & -rest
      if ((mask & ~unfit & low) === 0) break
      const between = (mask ^ rest | rest & unfit) & -low
      const run = between === 0 ? rest : rest & ((between & -between) - 1)
      const at = places | 31 - Math.clz32(low)
      const last = places | 31 - Math.clz32(run)
      const bitCount = ends[last] - starts[at]
      // The head of the first stands in no strip.
      if ((plain & low) === 0 || manners[at] !== this.#before || bitCount + HEAD_BITS_MAX > Math.min(out.bitsLeft, this.#capBits - out.bitLength)) {
        const { bitLength } = out
        const sent = this.putRun(out, block, rest, strip, unfit)
        if (sent === 0) break
        if (adder !== undefined) this.count(out, bitLength, strip, sent)
        rest ^= sent
        this.isFull = sent !== run
        if (this.isFull) break
        continue
      }
      const index = block << SHIFT | at & 31
      const gap = index - this.beforeIndex
      const width = plainWidth(gap)
      out.copyWordBitsAfter(plainHead(gap, index), width, words, starts[at], bitCount)
      if (adder !== undefined) tally.add(at, last, width)
      this.beforeIndex = block << SHIFT | last & 31
      this.#before = manners[last]
      rest ^= run
    }
    return wanted ^ rest
  }

  /** Writes all that a strip has; false when it may not fit: then `putRuns` writes what does. @hot */
  putStrip(out: BitWriter, block: number, strip: number): boolean {
    const { masks, plains, starts, ends, deltas, manners, adder, tally } = this.#strips
    const { bases, flags, words } = this.#cache
    const mask = masks[strip]
    const low = mask & -mask
    const at = strip << SHIFT | 31 - Math.clz32(low)
    const last = strip << SHIFT | 31 - Math.clz32(mask)
    const start = starts[at]
    const bitCount = ends[last] - start
    const { bitLength } = out
    if (bitCount + ANY_HEAD_BITS_MAX > Math.min(out.bitsLeft, this.#capBits - bitLength)) return false
    const index = block << SHIFT | at & 31
    const gap = index - this.beforeIndex
    let width = plainWidth(gap)
    if ((plains[strip] & low) !== 0 && manners[at] === this.#before) {
      out.copyWordBitsAfter(plainHead(gap, index), width, words, start, bitCount)
    } else {
      const delta = deltas[at]
      writeDeltaHead(out, gap, index, this.#tick - bases[delta], flags[delta], this.#before)
      width = out.bitLength - bitLength
      out.copyWordBits(words, start, bitCount)
    }
    if (adder !== undefined) tally.add(at, last, width)
    this.beforeIndex = block << SHIFT | last & 31
    this.#before = manners[last]
    return true
  }

  /** Writes a sheet that has anything in it; false when it may not fit. @hot */
  putSheet(out: BitWriter, cache: SheetCache, sheet: number): boolean {
    const { sheets, words } = cache
    const at = sheet << SHEETS_SHIFT
    const { bitLength } = out
    const bits = sheets[at | BITS]
    if (bits + 2 * ANY_HEAD_BITS_MAX > Math.min(out.bitsLeft, this.#capBits - bitLength)) return false
    const start = sheets[at | BIT_AT]
    const lead = sheets[at | LEAD]
    let leadBits = 0
    this.leadHeadBits = 0
    this.deltaHeadBits = 0
    if (lead !== NOBODY) {
      leadBits = sheets[at | LEAD_BITS]
      writeGap(out, lead - this.beforeIndex, lead)
      writeKind(out, sheets[at | LEAD_KIND])
      this.leadHeadBits = out.bitLength - bitLength
      sheets[at | LEAD_HEADS] += this.leadHeadBits
      out.copyWordBits(words, start, leadBits)
      this.beforeIndex = sheets[at | LEAD_LAST]
    }
    const index = sheets[at | FIRST_DELTA]
    if (index !== NOBODY) {
      const gap = index - this.beforeIndex
      const age = sheets[at | AGE]
      const flags = sheets[at | FLAGS]
      const from = out.bitLength
      if (isPlain(age, flags, this.#before)) {
        this.deltaHeadBits = plainWidth(gap)
        out.copyWordBitsAfter(plainHead(gap, index), this.deltaHeadBits, words, start + leadBits, bits - leadBits)
      } else {
        writeDeltaHead(out, gap, index, age, flags, this.#before)
        this.deltaHeadBits = out.bitLength - from
        out.copyWordBits(words, start + leadBits, bits - leadBits)
      }
      sheets[at | DELTA_HEADS] += this.deltaHeadBits
      this.#before = sheets[at | MANNER]
    }
    sheets[at | COPIES]++
    this.beforeIndex = sheets[at | LAST]
    return true
  }

  /** Counts a run that was written last, from bit `from` on. */
  count(out: BitWriter, from: number, strip: number, run: number): void {
    const { starts, ends, tally } = this.#strips
    const first = strip << SHIFT | 31 - Math.clz32(run & -run)
    const last = strip << SHIFT | 31 - Math.clz32(run)
    // What the first head took is what is not in the strip.
    tally.add(first, last, out.bitLength - from - (ends[last] - starts[first]))
  }

  /** Tells of the entries of a run that was written last, from bit `from` on. */
  tell(probe: Probe, out: BitWriter, from: number, strip: number, run: number, peer: PeerId, block: number, types: Uint8Array): void {
    const { starts, ends } = this.#strips
    const firstAt = starts[strip << SHIFT | 31 - Math.clz32(run & -run)]
    const last = 31 - Math.clz32(run)
    // What the first head took is what is not in the strip.
    let before = firstAt - (out.bitLength - from - (ends[strip << SHIFT | last] - firstAt))
    for (let rest = run; rest !== 0; rest &= rest - 1) {
      const place = 31 - Math.clz32(rest & -rest)
      const end = ends[strip << SHIFT | place]
      probe.onEntry(peer, block << SHIFT | place, types[block << SHIFT | place], CHANGED, end - before)
      before = end
    }
  }

  /** The first entry may overdraw the cap: else a cap below the size of an entry would be silence. */
  #fits(out: BitWriter, bitLength: number): boolean {
    if (!out.failed && (out.bitLength <= this.#capBits || this.beforeIndex < 0)) return true
    out.rewind(bitLength)
    return false
  }
}
