/**
 * The bits of this tick's deltas, each made once and copied to everyone who shares it.
 *
 *   places    by baseline modulo 64 and key, a row by object index: the newest delta made there
 *   next      by delta: the one that was in its place before, against a baseline 64 ticks or more away
 *   words     an arena, cleared every tick: bits of deltas by themselves, and of those that were made in strips (strip-cache.ts)
 *
 * Receivers on lines of their own have a dozen baselines: a chain by object would be walked to its end before each new delta. Invariant: after
 * warm-up nothing is allocated; arrays only grow, to what the busiest tick needed.
 *
 * It does not know what the bits mean.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import type { Tick } from '../base/time.ts'
import { BitWriter } from '../bits/bit-writer.ts'

/** No delta. */
export const NO_DELTA = -1
/** In the place of a baseline: the initial row, of who never held the object. */
export const NO_BASE = -1
/** What there is to know of a delta beside its bits. */
export const DELTA = {
  /** Nothing changed: there are no bits. */
  same: 1,
  /** The baseline's row still held one tick before. */
  rested: 2,
  /** The owner is another one than at the baseline; he stands before the row. */
  owned: 4,
  /** It does not fit any packet. */
  oversized: 8,
  /** The row a stride before the baseline is used too. */
  older: 16,
} as const

/** Whether who reads a delta of a tick then holds the row of a stride before too: it is the baseline's. @hot */
export function isPairedBy(base: Tick, tick: Tick, flags: number, strideTicks: number): boolean {
  return base === tick - strideTicks || ((flags & DELTA_RESTED) !== 0 && base < tick - strideTicks)
}

// Constants of this module, for speed: see schema/leaf-table.ts.
const DELTA_RESTED = DELTA.rested
const NONE = NO_DELTA

/** Places of baselines, and bits of a key. */
const SLOTS_MASK = 63
const KEY_BITS = 3
const ROWS = (SLOTS_MASK + 1) << KEY_BITS
const NO_PLACES = new Int32Array(0)
const DELTAS_FIRST = 256
const WORDS_FIRST = 4096
/** What copying reads before and after what it copies. */
const GUARD_WORDS = 2
const SCRATCH_BYTES = (DATAGRAM_BYTES_MAX + 3) & ~3

export class DeltaCache {
  /** By delta. */
  bases: Float64Array = new Float64Array(DELTAS_FIRST)
  next: Int32Array = new Int32Array(DELTAS_FIRST)
  /** Where in `words` its bits begin. */
  bitAts: Int32Array = new Int32Array(DELTAS_FIRST)
  bits: Int32Array = new Int32Array(DELTAS_FIRST)
  flags: Uint8Array = new Uint8Array(DELTAS_FIRST)
  words: Int32Array = new Int32Array(WORDS_FIRST)
  /** Deltas made in this tick. */
  count = 0
  #wordCount = GUARD_WORDS
  #capacity = 0
  /** Rows of places, made when first needed; which are in use in this tick. */
  readonly #places: Int32Array[] = new Array<Int32Array>(ROWS).fill(NO_PLACES)
  readonly #isUsed = new Uint8Array(ROWS)
  readonly #used = new Uint16Array(ROWS)
  #usedCount = 0
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #writer = new BitWriter(this.#scratch)

  /** Forgets everything: another tick, with so many indexes. */
  clear(capacity: number): void {
    for (let at = 0; at < this.#usedCount; at++) this.#isUsed[this.#used[at]] = 0
    this.#usedCount = 0
    this.#capacity = capacity
    this.count = 0
    this.#wordCount = GUARD_WORDS
  }

  /** The delta of an object against a baseline, for a field set and the like (`key`); `NO_DELTA` if nobody made it yet. @hot */
  find(index: number, base: Tick, key: number): number {
    const row = (base & SLOTS_MASK) << KEY_BITS | key
    if (this.#isUsed[row] === 0) return NONE
    const { bases, next } = this
    let delta = this.#places[row][index]
    while (delta !== NONE && bases[delta] !== base) delta = next[delta]
    return delta
  }

  /** Begins a delta: its bits go to this writer. */
  begin(): BitWriter {
    this.#writer.reset(this.#scratch)
    return this.#writer
  }

  /** Keeps what was written since `begin`; returns the delta. */
  keep(index: number, base: Tick, key: number, flags: number): number {
    const writer = this.#writer
    const { failed } = writer
    const bits = failed || (flags & DELTA.same) !== 0 ? 0 : writer.bitLength
    writer.finish()
    const bitAt = this.append(this.#view, (bits + 31) >>> 5)
    return this.add(index, base, key, failed ? flags | DELTA.oversized : flags, bitAt, bits)
  }

  /** Where the next words that are appended will begin, in bits. */
  get end(): number {
    return this.#wordCount << 5
  }

  /** Puts words into the arena; where they begin, in bits. @hot */
  append(view: DataView, wordCount: number): number {
    const first = this.#wordCount
    this.#wordCount += wordCount
    this.#reserve(this.#wordCount + GUARD_WORDS)
    const { words } = this
    for (let word = 0; word < wordCount; word++) words[first + word] = view.getInt32(word << 2)
    return first << 5
  }

  /** Keeps a delta whose bits stand in the arena, or will; returns it. @hot */
  add(index: number, base: Tick, key: number, flags: number, bitAt: number, bits: number): number {
    if (this.count === this.bases.length) this.#widen()
    const delta = this.count++
    const row = (base & SLOTS_MASK) << KEY_BITS | key
    if (this.#isUsed[row] === 0) this.#use(row)
    const places = this.#places[row]
    this.bases[delta] = base
    this.next[delta] = places[index]
    this.bitAts[delta] = bitAt
    this.bits[delta] = bits
    this.flags[delta] = flags
    places[index] = delta
    return delta
  }

  /** Nobody has a place in a row yet. */
  #use(row: number): void {
    if (this.#places[row].length < this.#capacity) this.#places[row] = new Int32Array(this.#capacity)
    this.#places[row].fill(NONE)
    this.#isUsed[row] = 1
    this.#used[this.#usedCount++] = row
  }

  #reserve(wordCount: number): void {
    let { length } = this.words
    if (wordCount <= length) return
    while (length < wordCount) length *= 2
    this.words = widen(this.words, new Int32Array(length))
  }

  #widen(): void {
    const capacity = 2 * this.bases.length
    this.bases = widen(this.bases, new Float64Array(capacity))
    this.next = widen(this.next, new Int32Array(capacity))
    this.bitAts = widen(this.bitAts, new Int32Array(capacity))
    this.bits = widen(this.bits, new Int32Array(capacity))
    this.flags = widen(this.flags, new Uint8Array(capacity))
  }
}

function widen<T extends Uint8Array | Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
