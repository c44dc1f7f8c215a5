/**
 * One object in 64 bits: its id, its owner and its row, texts and lists by their content and never by their handle.
 *
 *   words    id | owner | lanes of the row, in order; a heap lane is replaced by the two halves of its value's hash
 *
 * The same words without id and owner, for some fields in a row, are what a search within an object compares.
 */

import { hashWords } from '../base/hash.ts'
import type { EntityStore } from './entity-store.ts'

const SEED = 0x7157_a7e5
const IDENTITY_WORDS = 2

export class ObjectHasher {
  readonly #words: Int32Array
  readonly #value = new Uint32Array(2)

  constructor(stores: readonly EntityStore[]) {
    const wordsOf = ({ schema }: EntityStore): number => IDENTITY_WORDS + schema.laneCount + schema.heapLeaves.length
    this.#words = new Int32Array(stores.reduce((most, store) => Math.max(most, wordsOf(store)), 0))
  }

  /** Hashes the object in a slot: out[0] is the low half. Never 0, which is nobody's. @hot */
  hashObject(store: EntityStore, slot: number, id: number, owner: number, out: Uint32Array): void {
    const { laneCount } = store.schema
    this.#words[0] = id
    this.#words[1] = owner
    const count = this.#collect(store, 0, laneCount, slot * laneCount, IDENTITY_WORDS)
    hashWords(this.#words, 0, count, SEED, out, 0)
    if ((out[0] | out[1]) === 0) out[0] = 1
  }

  /** Hashes the lanes `first` to `end` of the object in a slot. */
  hashLanes(store: EntityStore, slot: number, first: number, end: number, out: Uint32Array): void {
    const count = this.#collect(store, first, end, slot * store.schema.laneCount, 0)
    hashWords(this.#words, 0, count, SEED, out, 0)
  }

  /** Copies the words of lanes; returns where they end. @hot */
  #collect(store: EntityStore, first: number, end: number, rowAt: number, at: number): number {
    const words = this.#words
    const { rows, heap } = store
    const { heapLeaves } = store.schema
    let to = at
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
