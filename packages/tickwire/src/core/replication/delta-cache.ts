/**
 * The bits of this tick's deltas, each made once and copied to everyone who shares it.
 *
 *   heads     by object index: the first delta of it
 *   next      by delta: another one of the same object, against another baseline or for another field set
 *   words     an arena, cleared every tick: the bits of a delta from the highest bit of a word on
 *
 * In a calm network nearly all clients share a baseline, and a chain has one link. Invariant: after warm-up nothing is
 * allocated; arrays only grow, to what the busiest tick needed.
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

// A constant of this module, for speed: see schema/leaf-table.ts.
const DELTA_RESTED = DELTA.rested

const DELTAS_FIRST = 256
const WORDS_FIRST = 2048
const SCRATCH_BYTES = (DATAGRAM_BYTES_MAX + 3) & ~3

export class DeltaCache {
  heads: Int32Array = new Int32Array(0)
  /** By delta. */
  bases: Float64Array = new Float64Array(DELTAS_FIRST)
  keys: Uint8Array = new Uint8Array(DELTAS_FIRST)
  next: Int32Array = new Int32Array(DELTAS_FIRST)
  wordAts: Int32Array = new Int32Array(DELTAS_FIRST)
  bits: Int32Array = new Int32Array(DELTAS_FIRST)
  flags: Uint8Array = new Uint8Array(DELTAS_FIRST)
  words: Int32Array = new Int32Array(WORDS_FIRST)
  /** Deltas made in this tick. */
  count = 0
  #wordCount = 0
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  readonly #view = new DataView(this.#scratch.buffer)
  readonly #writer = new BitWriter(this.#scratch)

  /** Forgets everything: another tick, with so many indexes. */
  clear(capacity: number): void {
    if (capacity > this.heads.length) this.heads = new Int32Array(capacity)
    this.heads.fill(NO_DELTA)
    this.count = 0
    this.#wordCount = 0
  }

  /** The delta of an object against a baseline, for a field set and the like (`key`); `NO_DELTA` if nobody made it yet. @hot */
  find(index: number, base: Tick, key: number): number {
    const { bases, keys, next } = this
    let delta = this.heads[index]
    while (delta !== NO_DELTA && (bases[delta] !== base || keys[delta] !== key)) delta = next[delta]
    return delta
  }

  /** Begins a delta: its bits go to this writer. */
  begin(): BitWriter {
    this.#writer.reset(this.#scratch)
    return this.#writer
  }

  /** Keeps what was written since `begin`; returns the delta. */
  add(index: number, base: Tick, key: number, flags: number): number {
    const writer = this.#writer
    const bits = writer.failed || (flags & DELTA.same) !== 0 ? 0 : writer.bitLength
    const wordCount = (bits + 31) >>> 5
    this.#reserve(this.#wordCount + wordCount)
    writer.finish()
    for (let word = 0; word < wordCount; word++) this.words[this.#wordCount + word] = this.#view.getInt32(word << 2)
    const delta = this.count++
    this.bases[delta] = base
    this.keys[delta] = key
    this.next[delta] = this.heads[index]
    this.wordAts[delta] = this.#wordCount
    this.bits[delta] = bits
    this.flags[delta] = writer.failed ? flags | DELTA.oversized : flags
    this.heads[index] = delta
    this.#wordCount += wordCount
    return delta
  }

  #reserve(wordCount: number): void {
    if (wordCount > this.words.length) this.words = widen(this.words, new Int32Array(2 * this.words.length))
    if (this.count < this.bases.length) return
    const capacity = 2 * this.bases.length
    this.bases = widen(this.bases, new Float64Array(capacity))
    this.keys = widen(this.keys, new Uint8Array(capacity))
    this.next = widen(this.next, new Int32Array(capacity))
    this.wordAts = widen(this.wordAts, new Int32Array(capacity))
    this.bits = widen(this.bits, new Int32Array(capacity))
    this.flags = widen(this.flags, new Uint8Array(capacity))
  }
}

function widen<T extends Uint8Array | Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
