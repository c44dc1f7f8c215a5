/**
 * Entries of neighbours, one after the other with their heads, made once in a tick and copied in one stroke to everyone who is
 * told them all.
 *
 *   strip     body | head body | head body | ...        of objects of one block, in one field set, from baselines of one level
 *                    └──────── run ────────┘
 *
 * A head depends on the entry before it, so a receiver copies the longest runs in which he is told of everybody, and writes only
 * the head of a run's first. The very first of a strip has none. Whoever is told of somebody that the strip has not makes it grow.
 *
 * Bits are those of delta-cache.ts, and like those are forgotten with the tick. It does not know who is told what.
 */

import type { Tick } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { LONG_AGO, type ChangeMarks } from './change-marks.ts'
import { BLOCK_SHIFT, countBits } from './change-masks.ts'
import { DELTA, isPairedBy, NO_BASE, NO_DELTA, type DeltaCache } from './delta-cache.ts'
import { isPlain, mannerOf, NO_MANNER, writeDeltaHead } from './delta-head.ts'

/** No strip: entries must be written one by one. */
export const NO_STRIP = -1

/** Who finds or makes the delta for who holds a row, and perhaps the one before another. */
export interface DeltaFinder {
  deltaFor(index: number, set: number, base: Tick, pair: Tick): number
}

// Constants of this module, for speed: see schema/leaf-table.ts.
const { oversized: OVERSIZED } = DELTA
const NOTHING = NO_STRIP
const NOT_THERE = NO_DELTA
const FROM_INITIAL = NO_BASE
const FORGOTTEN = LONG_AGO
const SHIFT = BLOCK_SHIFT

/** Fewer entries than this are written one by one. */
const MEMBERS_MIN = 4
/** How often a strip grows: views that have next to nothing in common gain nothing from it. */
const GROWTH_MAX = 6
const STRIPS_FIRST = 64
const WORDS_FIRST = 4096
/** What copying reads before and after what it copies. */
const GUARD_WORDS = 2
const SCRATCH_BYTES = 1 << 13

export class StripCache {
  /** By strip: the objects in it; those that the deltas are paired for; those with whose rows the one of the tick before is held. */
  masks: Int32Array = new Int32Array(STRIPS_FIRST)
  paireds: Int32Array = new Int32Array(STRIPS_FIRST)
  helds: Int32Array = new Int32Array(STRIPS_FIRST)
  /** Those that are plain where the delta before is of the same manner (delta-head.ts). */
  plains: Int32Array = new Int32Array(STRIPS_FIRST)
  /** By strip << 5 | place in the block: the delta, where its bits begin and end in `words`, and its manner. */
  deltas: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  starts: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  ends: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  manners: Int32Array = new Int32Array(STRIPS_FIRST << SHIFT)
  words: Int32Array = new Int32Array(WORDS_FIRST)
  #heads = new Int32Array(0)
  #next = new Int32Array(STRIPS_FIRST)
  #levels = new Float64Array(STRIPS_FIRST)
  #sets = new Uint8Array(STRIPS_FIRST)
  #growths = new Uint8Array(STRIPS_FIRST)
  #count = 0
  #wordCount = 0
  readonly #marks: ChangeMarks
  readonly #cache: DeltaCache
  readonly #finder: DeltaFinder
  readonly #strideTicks: number
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #writer = new BitWriter(this.#scratch)

  constructor(marks: ChangeMarks, cache: DeltaCache, finder: DeltaFinder, strideTicks: number) {
    this.#strideTicks = strideTicks
    this.#marks = marks
    this.#cache = cache
    this.#finder = finder
  }

  /** Forgets everything: another tick, with so many indexes. */
  clear(capacity: number): void {
    const blocks = (capacity + 31) >>> SHIFT
    if (blocks > this.#heads.length) this.#heads = new Int32Array(blocks)
    this.#heads.fill(NOTHING)
    this.#count = 0
    this.#wordCount = GUARD_WORDS
  }

  /** A strip with some of these objects, whose baselines are of a level, for a field set; `NO_STRIP` when none is worth it. @hot */
  find(block: number, set: number, level: Tick, wanted: number, paired: number): number {
    let strip = this.#heads[block]
    while (strip !== NOTHING && (this.#levels[strip] !== level || this.#sets[strip] !== set || ((this.paireds[strip] ^ paired) & wanted & this.masks[strip]) !== 0)) {
      strip = this.#next[strip]
    }
    if (strip === NOTHING) return countBits(wanted) < MEMBERS_MIN ? NOTHING : this.#make(block, set, level, wanted, paired)
    const missing = wanted & ~this.masks[strip]
    if (missing !== 0 && this.#growths[strip] < GROWTH_MAX && countBits(wanted) >= MEMBERS_MIN) {
      this.#growths[strip]++
      this.paireds[strip] = this.paireds[strip] & this.masks[strip] | paired & ~this.masks[strip]
      this.#fill(strip, block, this.masks[strip] | missing)
    }
    return strip
  }

  /** The delta of an object of a block at a level; `NO_DELTA` when its baseline is gone. */
  deltaAt(index: number, set: number, level: Tick, isPaired: boolean): number {
    const base = this.#marks.lastChange(index, set, level)
    return base === FORGOTTEN ? NOT_THERE : this.#finder.deltaFor(index, set, base, isPaired ? base : FROM_INITIAL)
  }

  #make(block: number, set: number, level: Tick, wanted: number, paired: number): number {
    if (this.#count === this.masks.length) this.#widen()
    const strip = this.#count++
    this.#next[strip] = this.#heads[block]
    this.#heads[block] = strip
    this.#levels[strip] = level
    this.#sets[strip] = set
    this.#growths[strip] = 0
    this.paireds[strip] = paired
    this.#fill(strip, block, wanted)
    return strip
  }

  /** Puts entries into a strip: as many as there is room for, and not those that fit no packet. */
  #fill(strip: number, block: number, wanted: number): void {
    const cache = this.#cache
    const out = this.#writer
    out.reset(this.#scratch)
    const { tick } = this.#marks
    const origin = this.#wordCount << 5
    let mask = 0
    let held = 0
    let plain = 0
    let before = -1
    let manner = NO_MANNER
    for (let rest = wanted; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      const index = block << SHIFT | 31 - Math.clz32(bit)
      const delta = this.deltaAt(index, this.#sets[strip], this.#levels[strip], (this.paireds[strip] & bit) !== 0)
      if (delta === NOT_THERE || (cache.flags[delta] & OVERSIZED) !== 0) continue
      const { bitLength } = out
      const base = cache.bases[delta]
      const flags = cache.flags[delta]
      if (mask !== 0) writeDeltaHead(out, index - before, index, tick - base, flags, manner)
      const at = strip << SHIFT | index & 31
      this.starts[at] = origin + out.bitLength
      out.copyWords(cache.words, cache.wordAts[delta], cache.bits[delta])
      if (out.failed) {
        out.rewind(bitLength)
        break
      }
      before = index
      manner = mannerOf(tick - base, flags)
      mask |= bit
      if (isPairedBy(base, tick, flags, this.#strideTicks)) held |= bit
      if (isPlain(tick - base, flags, manner)) plain |= bit
      this.deltas[at] = delta
      this.ends[at] = origin + out.bitLength
      this.manners[at] = manner
    }
    this.masks[strip] = mask
    this.helds[strip] = held
    this.plains[strip] = plain
    this.#keep((out.finish() + 3) >>> 2)
  }

  /** Moves what was written into the arena. */
  #keep(wordCount: number): void {
    const first = this.#wordCount
    this.#wordCount += wordCount
    if (this.#wordCount + GUARD_WORDS > this.words.length) {
      let length = this.words.length
      while (length < this.#wordCount + GUARD_WORDS) length *= 2
      this.words = widen(this.words, new Int32Array(length))
    }
    for (let word = 0; word < wordCount; word++) this.words[first + word] = this.#view.getInt32(word << 2)
  }

  #widen(): void {
    const capacity = 2 * this.masks.length
    this.masks = widen(this.masks, new Int32Array(capacity))
    this.paireds = widen(this.paireds, new Int32Array(capacity))
    this.helds = widen(this.helds, new Int32Array(capacity))
    this.plains = widen(this.plains, new Int32Array(capacity))
    this.deltas = widen(this.deltas, new Int32Array(capacity << SHIFT))
    this.starts = widen(this.starts, new Int32Array(capacity << SHIFT))
    this.ends = widen(this.ends, new Int32Array(capacity << SHIFT))
    this.manners = widen(this.manners, new Int32Array(capacity << SHIFT))
    this.#next = widen(this.#next, new Int32Array(capacity))
    this.#levels = widen(this.#levels, new Float64Array(capacity))
    this.#sets = widen(this.#sets, new Uint8Array(capacity))
    this.#growths = widen(this.#growths, new Uint8Array(capacity))
  }
}

function widen<T extends Int32Array | Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
