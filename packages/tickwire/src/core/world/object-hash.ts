/**
 * A 64-bit hash of one object: its id, its owner and its row, with texts and lists by their content and not by their
 * handle.
 *
 *   words    id | owner | 0 | 0 | lanes of the row, in order     a heap lane becomes the two halves of its value's hash
 *
 * A search within an object compares hashes of some of its lanes, without id and owner.
 */

import type { EntityStore } from './entity-store.ts'
import { hashRow } from './row-hash.ts'

export class ObjectHasher {
  readonly #words: Int32Array
  readonly #value = new Uint32Array(2)

  constructor(stores: readonly EntityStore[]) {
    const wordsOf = ({ schema }: EntityStore): number => schema.laneCount + schema.heapLeaves.length
    this.#words = new Int32Array(stores.reduce((most, store) => Math.max(most, wordsOf(store)), 0))
  }

  /**
   * Hashes the object in a slot, whose id and owner are at `table[at]`: out[to] is the low half. Never 0, which means
   * no object. @hot
   */
  hashObject(store: EntityStore, slot: number, table: Uint32Array, at: number, out: Uint32Array, to: number): void {
    const { laneCount, heapLeaves } = store.schema
    if (heapLeaves.length === 0) {
      hashRow(store.rows, slot * laneCount, laneCount, table[at] | 0, table[at + 1] | 0, out, to)
    } else {
      const count = this.#collect(store, 0, laneCount, slot * laneCount)
      hashRow(this.#words, 0, count, table[at] | 0, table[at + 1] | 0, out, to)
    }
    if ((out[to] | out[to + 1]) === 0) out[to] = 1
  }

  /** Hashes the lanes `first` to `end` of the object in a slot. */
  hashLanes(store: EntityStore, slot: number, first: number, end: number, out: Uint32Array): void {
    const count = this.#collect(store, first, end, slot * store.schema.laneCount)
    hashRow(this.#words, 0, count, 0, 0, out, 0)
  }

  /** Copies the words of lanes. Returns how many there are. @hot */
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
