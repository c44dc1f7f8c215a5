/**
 * One object in 64 bits: its id, its owner and its row, texts and lists by their content and never by their handle.
 *
 *   start    id | owner | seed | seed        the four lanes of the hash before the first word
 *   words    lanes of the row, in order      a heap lane is replaced by the two halves of its value's hash
 *
 * Some lanes in a row by themselves, without id and owner, are what a search within an object compares.
 */

import { hashWords } from '../base/hash.ts'
import { finishLanes, tailA, tailB, tailC } from '../base/hash-lanes.ts'
import type { EntityStore } from './entity-store.ts'

const SEED = 0x7157_a7e5 | 0

export class ObjectHasher {
  readonly #words: Int32Array
  readonly #value = new Uint32Array(2)

  constructor(stores: readonly EntityStore[]) {
    const wordsOf = ({ schema }: EntityStore): number => schema.laneCount + schema.heapLeaves.length
    this.#words = new Int32Array(stores.reduce((most, store) => Math.max(most, wordsOf(store)), 0))
  }

  /** Hashes the object in a slot, its id and owner being at `table[at]`: out[to] is the low half. Never 0, which is nobody's. @hot */
  hashObject(store: EntityStore, slot: number, table: Uint32Array, at: number, out: Uint32Array, to: number): void {
    const { laneCount, heapLeaves } = store.schema
    if (heapLeaves.length === 0) {
      hashRow(store.rows, slot * laneCount, laneCount, table, at, out, to)
    } else {
      const count = this.#collect(store, 0, laneCount, slot * laneCount)
      hashRow(this.#words, 0, count, table, at, out, to)
    }
    if ((out[to] | out[to + 1]) === 0) out[to] = 1
  }

  /** Hashes the lanes `first` to `end` of the object in a slot. */
  hashLanes(store: EntityStore, slot: number, first: number, end: number, out: Uint32Array): void {
    const count = this.#collect(store, first, end, slot * store.schema.laneCount)
    hashWords(this.#words, 0, count, SEED, out, 0)
  }

  /** Copies the words of lanes; returns how many. @hot */
  #collect(store: EntityStore, first: number, end: number, rowAt: number): number {
    const words = this.#words
    const { rows, heap } = store
    const { heapLeaves } = store.schema
    let to = 0
    let lane = first
    for (let index = 0; index < heapLeaves.length; index++) {
      const leaf = heapLeaves[index]
      if (leaf.lane < first) continue
      if (leaf.lane >= end) break
      while (lane < leaf.lane) words[to++] = rows[rowAt + lane++]
      heap.hash(leaf, rows[rowAt + lane++], this.#value)
      words[to++] = this.#value[0]
      words[to++] = this.#value[1]
    }
    while (lane < end) words[to++] = rows[rowAt + lane++]
    return to
  }
}

// The constants of MurmurHash3 x86_128, as in base/hash-lanes.ts.
const MIX_A = 0x239b961b | 0
const MIX_B = 0xab0e9789 | 0
const MIX_C = 0x38b34ae5 | 0
const MIX_D = 0xa1e38b93 | 0

/**
 * Hashes words with an identity for a seed. The lanes of base/hash-lanes.ts, written out: whether the compiler inlines
 * twelve small functions through three callers is a matter of luck, which made the state hash 76 or 135 ns an object from
 * run to run (bench/world.bench.ts). The clear twin is test/reference/world-hash.ts; world-games.test.ts holds them together. @hot
 */
function hashRow(
  words: Int32Array, at: number, count: number, table: Uint32Array, tableAt: number, out: Uint32Array, to: number,
): void {
  let a = table[tableAt] | 0
  let b = table[tableAt + 1] | 0
  let c = SEED
  let d = SEED
  let lane = at
  const end = at + count
  for (; lane + 4 <= end; lane += 4) {
    let word = Math.imul(words[lane], MIX_A)
    a ^= Math.imul((word << 15) | (word >>> 17), MIX_B)
    a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0
    word = Math.imul(words[lane + 1], MIX_B)
    b ^= Math.imul((word << 16) | (word >>> 16), MIX_C)
    b = (Math.imul(((b << 17) | (b >>> 15)) + c, 5) + 0x0bcaa747) | 0
    word = Math.imul(words[lane + 2], MIX_C)
    c ^= Math.imul((word << 17) | (word >>> 15), MIX_D)
    c = (Math.imul(((c << 15) | (c >>> 17)) + d, 5) + 0x96cd1c35) | 0
    word = Math.imul(words[lane + 3], MIX_D)
    d ^= Math.imul((word << 18) | (word >>> 14), MIX_A)
    d = (Math.imul(((d << 13) | (d >>> 19)) + a, 5) + 0x32ac3b17) | 0
  }
  if (lane < end) a = tailA(a, words[lane])
  if (lane + 1 < end) b = tailB(b, words[lane + 1])
  if (lane + 2 < end) c = tailC(c, words[lane + 2])
  finishLanes(a, b, c, d, count * 4, out, to)
}
