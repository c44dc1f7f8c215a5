/**
 * When texts, lists and other values of variable size are let go of.
 *
 * A heap does not know who holds a handle. Here all who do are listed: the stores of a world, its save slots, its
 * Timelines. Each marks what it holds, and the heap forgets the rest. That takes time in proportion to what is held, so it
 * is done when the heap has twice the values, or twice the bytes, that were held the last time: a match of hours with
 * ever new texts stays within a small multiple of what it needs, and a quiet one never pays.
 */

import { VALUE_HEAP_BYTES_MAX, VALUE_HEAP_ENTRIES_MAX, VALUE_SWEEP_BYTES_MIN, VALUE_SWEEP_ENTRIES_MIN } from '../base/limits.ts'
import type { ValueHeap } from '../schema/value-heap.ts'

/** Whoever holds handles of values. */
export interface ValueKeeper {
  /** Marks every value held: `heap.markRow`, `heap.markCells`. */
  markValues(heap: ValueHeap): void
}

export class ValueKeeping {
  readonly #heap: ValueHeap
  readonly #keepers = new Set<ValueKeeper>()
  #dueEntries = VALUE_SWEEP_ENTRIES_MIN
  #dueBytes = VALUE_SWEEP_BYTES_MIN

  constructor(heap: ValueHeap) {
    this.#heap = heap
  }

  add(keeper: ValueKeeper): void {
    this.#keepers.add(keeper)
  }

  remove(keeper: ValueKeeper): void {
    this.#keepers.delete(keeper)
  }

  collectIfDue(): void {
    if (this.#heap.size < this.#dueEntries && this.#heap.sizeBytes < this.#dueBytes) return
    for (const keeper of this.#keepers) keeper.markValues(this.#heap)
    this.#heap.sweep()
    this.#dueEntries = nextDue(this.#heap.size, VALUE_SWEEP_ENTRIES_MIN, VALUE_HEAP_ENTRIES_MAX)
    this.#dueBytes = nextDue(this.#heap.sizeBytes, VALUE_SWEEP_BYTES_MIN, VALUE_HEAP_BYTES_MAX)
  }
}

/** Twice what is held, and where the heap's limit is nearer than that, half way to it. */
function nextDue(held: number, least: number, limit: number): number {
  return Math.max(least, Math.min(2 * held, Math.floor((held + limit) / 2)))
}
