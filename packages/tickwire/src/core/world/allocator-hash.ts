/**
 * A 64-bit hash of a world's id allocator: everything that decides which id the next spawn gets.
 *
 *   words    highWater | length of the free queue | free ids in queue order
 *            | ids that died since the last tick, in order
 *
 * An id stands for its index and the generation that was last used there. Two worlds with equal words give equal ids to
 * the same spawns.
 */

import { WORD, type ObjectTable } from './object-table.ts'
import { hashRow } from './row-hash.ts'

const WORDS_FIRST = 64

export class AllocatorHash {
  #words = new Int32Array(WORDS_FIRST)
  #count = 0

  /** Hashes the allocator of a table: out[at] is the low half. O(free indexes). @hot */
  hash(objects: ObjectTable, out: Uint32Array, at: number): void {
    this.#count = 0
    for (let index = objects.freeFirst; index >= 0; index = objects.nextFree(index))
      this.#add(objects.words[index << WORD.shift])
    const freeCount = this.#count
    for (let each = 0; each < objects.buriedCount; each++)
      this.#add(objects.words[(objects.buried[2 * each] >>> 8) << WORD.shift])
    hashRow(this.#words, 0, this.#count, objects.highWater, freeCount, out, at)
  }

  #add(id: number): void {
    if (this.#count === this.#words.length) this.#grow()
    this.#words[this.#count++] = id
  }

  #grow(): void {
    const words = new Int32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
  }
}
