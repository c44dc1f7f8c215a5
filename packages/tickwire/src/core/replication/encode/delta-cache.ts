/**
 * The bits of this tick's deltas, each made once and copied to every client that shares its baseline.
 *
 *   places    by baseline modulo 64 and key, a row by object index: the newest delta made there
 *   next      by delta: the one that was in its place before, against a baseline 64 ticks or more away
 *   words     an arena, cleared every tick
 *
 * Clients have a dozen different baselines: a chain by object alone would be walked to its end before each new delta.
 * Invariant: after warm-up nothing is allocated; arrays only grow, to what the busiest tick needed.
 *
 * It does not know what the bits mean.
 */

import { DATAGRAM_BYTES_MAX } from '../../base/limits.ts'
import type { Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
import { BitWriter } from '../../bits/bit-writer.ts'

/** No delta. */
export const NO_DELTA = -1
/** In the place of a baseline: the initial row. The client does not hold the object. */
export const NO_BASE = -1
/** Properties of a delta beside its bits. */
export const DELTA = {
  /** Nothing changed: there are no bits. */
  same: 1,
  /** The baseline's row was still valid one tick before. */
  rested: 2,
  /** The owner differs from that at the baseline; the new owner comes before the row. */
  owned: 4,
  /** It does not fit any packet. */
  oversized: 8,
  /** The row one stride before the baseline is used too. */
  older: 16,
} as const

/**
 * Whether a client that reads a delta of a tick then also holds the row of one stride before: it is the baseline's.
 * @hot
 */
export function isPairedBy(base: Tick, tick: Tick, flags: number, strideTicks: number): boolean {
  return base === tick - strideTicks || ((flags & DELTA.rested) !== 0 && base < tick - strideTicks)
}

/** The number of places of baselines, and the bits of a key. */
const SLOTS_MASK = 63
const KEY_BITS = 3
const ROWS = (SLOTS_MASK + 1) << KEY_BITS
const NO_PLACES = new Int32Array(0)
const DELTAS_FIRST = 256
const WORDS_FIRST = 4096
/** Words that copying may read before and after the copied range. */
const GUARD_WORDS = 2
const SCRATCH_BYTES = (DATAGRAM_BYTES_MAX + 3) & ~3

export class DeltaCache {
  /** Indexed by delta. */
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

  /** Starts a tick with room for `capacity` object indexes; all deltas are discarded. */
  clear(capacity: number): void {
    for (let at = 0; at < this.#usedCount; at++) this.#isUsed[this.#used[at]] = 0
    this.#usedCount = 0
    this.#capacity = capacity
    this.count = 0
    this.#wordCount = GUARD_WORDS
  }

  /**
   * The delta of an object against a baseline, for a field set and options (`key`); `NO_DELTA` if it does not exist
   * yet. @hot
   */
  find(index: number, base: Tick, key: number): number {
    const row = (base & SLOTS_MASK) << KEY_BITS | key
    if (this.#isUsed[row] === 0) return NO_DELTA
    const { bases, next } = this
    let delta = this.#places[row][index]
    while (delta !== NO_DELTA && bases[delta] !== base) delta = next[delta]
    return delta
  }

  /** Begins a delta: its bits go to this writer. */
  begin(): BitWriter {
    this.#writer.reset(this.#scratch)
    return this.#writer
  }

  /** Stores what was written since `begin`; returns the delta. */
  keep(index: number, base: Tick, key: number, flags: number): number {
    const writer = this.#writer
    const { failed } = writer
    const bits = failed || (flags & DELTA.same) !== 0 ? 0 : writer.bitLength
    writer.finish()
    const delta = this.#add(index, base, key)
    this.bitAts[delta] = this.#append((bits + 31) >>> 5)
    this.bits[delta] = bits
    this.flags[delta] = failed ? flags | DELTA.oversized : flags
    return delta
  }

  /** Stores the bits of a delta under one more key, so that the next client finds them at once. */
  keepAlso(index: number, key: number, other: number): number {
    const delta = this.#add(index, this.bases[other], key)
    this.bitAts[delta] = this.bitAts[other]
    this.bits[delta] = this.bits[other]
    this.flags[delta] = this.flags[other]
    return delta
  }

  #add(index: number, base: Tick, key: number): number {
    if (this.count === this.bases.length) this.#widen()
    const delta = this.count++
    const row = (base & SLOTS_MASK) << KEY_BITS | key
    if (this.#isUsed[row] === 0) this.#use(row)
    const places = this.#places[row]
    this.bases[delta] = base
    this.next[delta] = places[index]
    places[index] = delta
    return delta
  }

  /** Copies words of the scratch buffer into the arena; returns where they begin, in bits. */
  #append(wordCount: number): number {
    const first = this.#wordCount
    this.#wordCount += wordCount
    this.#reserve(this.#wordCount + GUARD_WORDS)
    const { words } = this
    for (let word = 0; word < wordCount; word++) words[first + word] = this.#view.getInt32(word << 2)
    return first << 5
  }

  /** Begins to use a row of places. */
  #use(row: number): void {
    if (this.#places[row].length < this.#capacity) this.#places[row] = new Int32Array(this.#capacity)
    this.#places[row].fill(NO_DELTA)
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
