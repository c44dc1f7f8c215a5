/**
 * The frame being written: its last entry, and whether the next one fits.
 *
 *   frame   tick varint | entries, ascending by object index (entry-code.ts) | zeros to a whole byte
 *
 * An entry that does not fit leaves nothing behind. The writer does not remember what was sent.
 */

import type { Tick } from '../../base/time.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import {
  AT_AGE, AT_BIT, AT_BITS, AT_COPIES, AT_DELTA, AT_DELTA_HEADS, AT_FLAGS, AT_LAST, AT_LEAD, AT_LEAD_BITS, AT_LEAD_HEADS,
  AT_LEAD_KIND, AT_LEAD_LAST, AT_MANNER, NO_ENTRY, NUMBERS_SHIFT, type BlockDeltas,
} from '../bulk/block-deltas.ts'
import { NO_BASE, type DeltaCache } from '../encode/delta-cache.ts'
import { isPlain, mannerOf, NO_MANNER, writeDeltaHead } from '../encode/delta-head.ts'
import { KIND, plainHead, plainWidth, writeGap, writeKind } from '../encode/entry-code.ts'

/** The longest head: the index, the kind, an age as a varint, and two bits. */
const HEAD_BITS_MAX = 96

export class FrameWriter {
  /** The index of the last entry; -1 before the first. */
  beforeIndex = -1
  /** The manner of the last delta (delta-head.ts). */
  #before = NO_MANNER
  #tick: Tick = 0
  #capBits = 0
  readonly #cache: DeltaCache

  constructor(cache: DeltaCache) {
    this.#cache = cache
  }

  /** Begins a frame of a tick that may take `capBits` bits, not counting its first entry. */
  begin(tick: Tick, capBits: number): void {
    this.#tick = tick
    this.#capBits = capBits
    this.beforeIndex = -1
    this.#before = NO_MANNER
  }

  /** Writes that an object is gone; false when it does not fit. @hot */
  putGone(out: BitWriter, index: number, isDespawned: boolean): boolean {
    const { bitLength } = out
    writeGap(out, index - this.beforeIndex, index)
    writeKind(out, KIND.gone)
    out.writeBits(isDespawned ? 1 : 0, 1)
    if (!this.#fits(out, bitLength)) return false
    this.beforeIndex = index
    return true
  }

  /** Writes the entry of an object; false when it does not fit. @hot */
  put(out: BitWriter, index: number, delta: number): boolean {
    const { bases, flags, bits, bitAts, words } = this.#cache
    const { bitLength } = out
    const base = bases[delta]
    const gap = index - this.beforeIndex
    const age = this.#tick - base
    if (base !== NO_BASE && isPlain(age, flags[delta], this.#before)) {
      // Most entries: the head and the row are one copy.
      out.copyWordBitsAfter(plainHead(gap, index), plainWidth(gap), words, bitAts[delta], bits[delta])
    } else {
      if (base === NO_BASE) writeFullHead(out, gap, index)
      else writeDeltaHead(out, gap, index, age, flags[delta], this.#before)
      out.copyWordBits(words, bitAts[delta], bits[delta])
    }
    if (!this.#fits(out, bitLength)) return false
    this.beforeIndex = index
    if (base !== NO_BASE) this.#before = mannerOf(age, flags[delta])
    return true
  }

  /** Writes the delta of a block that has any entries; false when it may not fit. @hot */
  putBlock(out: BitWriter, deltas: BlockDeltas, delta: number): boolean {
    const { numbers, words } = deltas
    const at = delta << NUMBERS_SHIFT
    const bits = numbers[at | AT_BITS]
    if (bits + 2 * HEAD_BITS_MAX > Math.min(out.bitsLeft, this.#capBits - out.bitLength)) return false
    const start = numbers[at | AT_BIT]
    const lead = numbers[at | AT_LEAD]
    const leadBits = numbers[at | AT_LEAD_BITS]
    let from = out.bitLength
    if (lead !== NO_ENTRY) {
      writeGap(out, lead - this.beforeIndex, lead)
      writeKind(out, numbers[at | AT_LEAD_KIND])
      numbers[at | AT_LEAD_HEADS] += out.bitLength - from
      out.copyWordBits(words, start, leadBits)
      this.beforeIndex = numbers[at | AT_LEAD_LAST]
    }
    const index = numbers[at | AT_DELTA]
    if (index !== NO_ENTRY) {
      from = out.bitLength
      writeDeltaHead(out, index - this.beforeIndex, index, numbers[at | AT_AGE], numbers[at | AT_FLAGS], this.#before)
      numbers[at | AT_DELTA_HEADS] += out.bitLength - from
      out.copyWordBits(words, start + leadBits, bits - leadBits)
      this.#before = numbers[at | AT_MANNER]
    }
    numbers[at | AT_COPIES]++
    this.beforeIndex = numbers[at | AT_LAST]
    return true
  }

  /** The first entry may overdraw the cap: otherwise a cap below the size of an entry would never send anything. */
  #fits(out: BitWriter, bitLength: number): boolean {
    if (!out.failed && (out.bitLength <= this.#capBits || this.beforeIndex < 0)) return true
    out.rewind(bitLength)
    return false
  }
}

function writeFullHead(out: BitWriter, gap: number, index: number): void {
  writeGap(out, gap, index)
  writeKind(out, KIND.full)
}
