/**
 * Block deltas: everything of a block of 32 objects that changed since a tick, in one string of bits. It is made once
 * in a tick for all clients that hold the block as of that tick, its *base* (bulk-path.ts).
 *
 *   string   [ body | head body | ... ]  body | head body | head body ...        ascending by object index
 *              spawned and despawned       └ the first delta
 *              before the first delta
 *
 * Objects that were spawned after the base are sent in full, despawned ones as gone. A *complete* delta has everything
 * that changed since the base: a client that holds the block as of the base and reads it holds the block as of now,
 * whatever else it has read or missed. In other ticks the delta has only what changed since the last snapshot.
 *
 * The head of the first entry depends on the entry before it in the packet, and that of the first delta on the delta
 * before it. These two heads are written for each client; all other bits are copied.
 */

import { DATAGRAM_BYTES_MAX } from '../../base/limits.ts'
import type { Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import { BitWriter } from '../../bits/bit-writer.ts'
import type { ChangeMarks } from '../changes/change-marks.ts'
import { BLOCK_SHIFT } from '../changes/blocks.ts'
import { DELTA, NO_BASE, type DeltaCache } from '../encode/delta-cache.ts'
import { mannerOf, NO_MANNER, writeDeltaHead } from '../encode/delta-head.ts'
import type { DeltaRows } from '../encode/delta-rows.ts'
import { KIND, writeGap, writeKind } from '../encode/entry-code.ts'
import { REASON, type Probe } from '../probe.ts'
import type { BulkSchedule } from './bulk-schedule.ts'

/** No delta: the block must be sent one by one. */
export const NO_BLOCK_DELTA = -1
/** In place of an object index: there is none. */
export const NO_ENTRY = -1
/** Numbers of a delta, in `numbers` from delta << NUMBERS_SHIFT on. */
export const NUMBERS_SHIFT = 4
/** How many entries it has, its bits, and where those begin in `words`. */
export const AT_COUNT = 0
export const AT_BITS = 1
export const AT_BIT = 2
/**
 * The entries before the first delta: the first and its kind, the last, and their bits. `NO_ENTRY` where there are
 * none.
 */
export const AT_LEAD = 3
export const AT_LEAD_KIND = 4
export const AT_LEAD_LAST = 5
export const AT_LEAD_BITS = 6
/** The first delta, the age of its baseline, and its flags. `NO_ENTRY` where there is none. */
export const AT_DELTA = 7
export const AT_AGE = 8
export const AT_FLAGS = 9
/** The last entry of all, and the manner of the last delta (delta-head.ts). */
export const AT_LAST = 10
export const AT_MANNER = 11
/** For the probe: how often it was copied, the bits of heads written for that, and where its notes begin. */
export const AT_COPIES = 12
export const AT_LEAD_HEADS = 13
export const AT_DELTA_HEADS = 14
const AT_NOTE = 15

/** The field set of block deltas: what every client may see. */
const SET = 0
const DELTAS_FIRST = 64
const WORDS_FIRST = 4096
/** Words that copying may read before and after the copied range. */
const GUARD_WORDS = 2
const SCRATCH_BYTES = 1 << 12
/** Longer strings fit no packet. */
const BITS_MAX = DATAGRAM_BYTES_MAX << 3
/** Deltas are found by block and by the last six bits of their base. */
const BASES_SHIFT = 6
const BASES_MASK = 63
/** A note for the probe: object index, kind of entry, bits of the entry. */
const NOTE_INDEX_SHIFT = 16
const NOTE_KIND_SHIFT = 14
const NOTE_KIND_MASK = 3
const NOTE_BITS_MASK = 0x3fff

/** Encodes single objects. */
export interface DeltaMaker {
  readonly rows: DeltaRows
  /** Writes the delta that `rows` has prepared; false when nothing changed. */
  write(out: BitWriter): boolean
  /** The delta of one object in the cache. */
  deltaFor(index: number, set: number, base: Tick, isPaired: boolean): number
}

export class BlockDeltas {
  /** Deltas made since the match began. */
  madeCount = 0
  /** Whether the deltas of this tick are complete. */
  isComplete = false
  numbers: Int32Array = new Int32Array(DELTAS_FIRST << NUMBERS_SHIFT)
  words: Int32Array = new Int32Array(WORDS_FIRST)
  #wordCount = GUARD_WORDS
  #count = 0
  #blocks = new Int32Array(DELTAS_FIRST)
  #bases = new Float64Array(DELTAS_FIRST)
  /** Indexed by block and base: a delta, valid only if it is of that block and base. */
  #places = new Int32Array(0)
  #notes = new Uint32Array(WORDS_FIRST)
  #noteCount = 0
  /** An entry of the delta that is being made fits no packet at all. */
  #isTooLong = false
  readonly #marks: ChangeMarks
  readonly #cache: DeltaCache
  readonly #maker: DeltaMaker
  readonly #schedule: BulkSchedule
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #out = new BitWriter(this.#scratch)

  constructor(marks: ChangeMarks, cache: DeltaCache, maker: DeltaMaker, schedule: BulkSchedule) {
    this.#marks = marks
    this.#cache = cache
    this.#maker = maker
    this.#schedule = schedule
  }

  /** Starts a tick; all deltas are discarded. */
  clear(): void {
    const { tick } = this.#marks
    this.isComplete = tick >= 0 && this.#schedule.isComplete(tick)
    this.#count = 0
    this.#wordCount = GUARD_WORDS
    this.#noteCount = 0
  }

  /** The delta of a block over a base that is in the window; `NO_BLOCK_DELTA` when it fits no packet. @hot */
  find(block: number, base: Tick): number {
    const place = block << BASES_SHIFT | base & BASES_MASK
    if (place >= this.#places.length) this.#reserve(block)
    const delta = this.#places[place]
    if (delta < this.#count && this.#blocks[delta] === block && this.#bases[delta] === base) {
      return this.countOf(delta) < 0 ? NO_BLOCK_DELTA : delta
    }
    return this.#make(block, base, place)
  }

  /** How many entries a delta has. @hot */
  countOf(delta: number): number {
    return this.numbers[delta << NUMBERS_SHIFT]
  }

  /** Reports the entries copied in this tick, all copies of an entry together. */
  report(probe: Required<Pick<Probe, 'onEntries'>>): void {
    const { numbers } = this
    const { types } = this.#marks
    for (let at = 0; at < this.#count << NUMBERS_SHIFT; at += 1 << NUMBERS_SHIFT) {
      const copies = numbers[at | AT_COPIES]
      if (copies === 0) continue
      for (let each = numbers[at | AT_NOTE], end = each + numbers[at]; each < end; each++) {
        const note = this.#notes[each]
        const index = note >>> NOTE_INDEX_SHIFT
        const kind = note >>> NOTE_KIND_SHIFT & NOTE_KIND_MASK
        const reason = kind === KIND.delta ? REASON.changed : kind === KIND.full ? REASON.entered : REASON.gone
        let bits = copies * (note & NOTE_BITS_MASK)
        if (index === numbers[at | AT_LEAD]) bits += numbers[at | AT_LEAD_HEADS]
        else if (index === numbers[at | AT_DELTA]) bits += numbers[at | AT_DELTA_HEADS]
        probe.onEntries(index, types[index], reason, copies, bits)
      }
      numbers.fill(0, at | AT_COPIES, (at | AT_DELTA_HEADS) + 1)
    }
  }

  #make(block: number, base: Tick, place: number): number {
    if (this.#count === this.#blocks.length) this.#widen()
    const delta = this.#count++
    this.madeCount++
    const at = delta << NUMBERS_SHIFT
    const { numbers } = this
    this.#places[place] = delta
    this.#blocks[delta] = block
    this.#bases[delta] = base
    numbers.fill(0, at, at + (1 << NUMBERS_SHIFT))
    numbers[at | AT_LEAD] = NO_ENTRY
    numbers[at | AT_LEAD_LAST] = NO_ENTRY
    numbers[at | AT_DELTA] = NO_ENTRY
    numbers[at | AT_LAST] = NO_ENTRY
    numbers[at | AT_MANNER] = NO_MANNER
    numbers[at | AT_NOTE] = this.#noteCount
    this.#isTooLong = false
    this.#write(at, block, base)
    const out = this.#out
    const bits = out.bitLength
    if (out.failed || bits > BITS_MAX || this.#isTooLong) {
      numbers[at | AT_COUNT] = NO_BLOCK_DELTA
      return NO_BLOCK_DELTA
    }
    out.finish()
    numbers[at | AT_BITS] = bits
    if (numbers[at | AT_DELTA] === NO_ENTRY) numbers[at | AT_LEAD_BITS] = bits
    numbers[at | AT_BIT] = this.#wordCount << 5
    const wordCount = (bits + 31) >>> 5
    this.#reserveWords(this.#wordCount + wordCount + GUARD_WORDS)
    for (let word = 0; word < wordCount; word++) this.words[this.#wordCount + word] = this.#view.getInt32(word << 2)
    this.#wordCount += wordCount
    return delta
  }

  /** Writes all entries of a delta. */
  #write(at: number, block: number, base: Tick): void {
    const { alives, censusTick, bornAt, diedAt, masks, tick } = this.#marks
    const alive = alives[block]
    const isSameCensus = censusTick <= base
    const gone = isSameCensus ? 0 : since(diedAt, block, base) & ~alive
    const born = isSameCensus ? 0 : since(bornAt, block, base) & alive
    const from = this.isComplete ? base : Math.max(base, tick - this.#schedule.strideTicks)
    const changed = masks.since(SET, block, from, tick) & alive & ~born
    this.#out.reset(this.#scratch)
    if (this.#noteCount + (1 << BLOCK_SHIFT) > this.#notes.length) {
      this.#notes = widen(this.#notes, new Uint32Array(2 * this.#notes.length))
    }
    for (let rest = changed | born | gone; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << BLOCK_SHIFT | 31 - Math.clz32(bit)
      if ((changed & bit) !== 0) this.#putDelta(at, index, base)
      else this.#putOther(at, index, (gone & bit) !== 0)
    }
  }

  /** Writes the delta of an object over its row as of the base. @hot */
  #putDelta(at: number, index: number, base: Tick): void {
    const { numbers } = this
    const out = this.#out
    const maker = this.#maker
    const age = this.#marks.tick - base
    const last = numbers[at | AT_LAST]
    const manner = numbers[at | AT_MANNER]
    const isFirst = numbers[at | AT_DELTA] === NO_ENTRY
    const from = out.bitLength
    let flags = maker.rows.prepare(index, base, SET)
    if (!isFirst) writeDeltaHead(out, index - last, index, age, flags, manner)
    if (!maker.write(out)) {
      // The row is the same again: the head says so.
      flags = flags & DELTA.rested | DELTA.same
      out.rewind(from)
      if (!isFirst) writeDeltaHead(out, index - last, index, age, flags, manner)
    }
    if (isFirst) {
      numbers[at | AT_DELTA] = index
      numbers[at | AT_AGE] = age
      numbers[at | AT_FLAGS] = flags
      numbers[at | AT_LEAD_BITS] = from
    }
    numbers[at | AT_MANNER] = mannerOf(age, flags)
    this.#note(at, index, KIND.delta, from)
  }

  /** Writes an object that was spawned or despawned since the base. */
  #putOther(at: number, index: number, isGone: boolean): void {
    const { numbers } = this
    const out = this.#out
    const cache = this.#cache
    const from = out.bitLength
    const kind = isGone ? KIND.gone : KIND.full
    if (numbers[at | AT_COUNT] > 0) {
      writeGap(out, index - numbers[at | AT_LAST], index)
      writeKind(out, kind)
    } else {
      numbers[at | AT_LEAD] = index
      numbers[at | AT_LEAD_KIND] = kind
    }
    if (isGone) {
      out.writeBits(1, 1)
    } else {
      const delta = this.#maker.deltaFor(index, SET, NO_BASE, false)
      if ((cache.flags[delta] & DELTA.oversized) !== 0) this.#isTooLong = true
      out.copyWordBits(cache.words, cache.bitAts[delta], cache.bits[delta])
    }
    if (numbers[at | AT_DELTA] === NO_ENTRY) numbers[at | AT_LEAD_LAST] = index
    this.#note(at, index, kind, from)
  }

  /** An entry was written, from bit `from` on. */
  #note(at: number, index: number, kind: number, from: number): void {
    this.numbers[at | AT_LAST] = index
    this.numbers[at | AT_COUNT]++
    const bits = this.#out.bitLength - from & NOTE_BITS_MASK
    this.#notes[this.#noteCount++] = index << NOTE_INDEX_SHIFT | kind << NOTE_KIND_SHIFT | bits
  }

  #reserve(block: number): void {
    let blocks = Math.max(1, this.#places.length >>> BASES_SHIFT)
    while (blocks <= block) blocks *= 2
    this.#places = widen(this.#places, new Int32Array(blocks << BASES_SHIFT))
  }

  #reserveWords(need: number): void {
    let { length } = this.words
    if (need <= length) return
    while (length < need) length *= 2
    this.words = widen(this.words, new Int32Array(length))
  }

  #widen(): void {
    const capacity = 2 * this.#blocks.length
    this.numbers = widen(this.numbers, new Int32Array(capacity << NUMBERS_SHIFT))
    this.#blocks = widen(this.#blocks, new Int32Array(capacity))
    this.#bases = widen(this.#bases, new Float64Array(capacity))
  }
}

/** The objects of a block for which `ticks` has a tick after a base. */
function since(ticks: Float64Array, block: number, base: Tick): number {
  let mask = 0
  for (let index = block << BLOCK_SHIFT, end = Math.min(index + 32, ticks.length); index < end; index++) {
    if (ticks[index] > base) mask |= 1 << index
  }
  return mask
}
