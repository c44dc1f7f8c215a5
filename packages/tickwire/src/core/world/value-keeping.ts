/**
 * Garbage collection of texts, lists and other values of variable size.
 *
 * A heap does not know where its handles are stored. All places are registered here: the stores of a world, its save
 * slots, its Timelines. Each marks the values it refers to, and the heap frees the rest. That takes time in proportion
 * to the live values, so it is done when the heap has twice the values, or twice the bytes, that were live the last
 * time. A match of hours with ever new texts stays within a small multiple of what it needs, and a quiet match never
 * pays.
 */

import {
  VALUE_HEAP_BYTES_MAX, VALUE_HEAP_ENTRIES_MAX, VALUE_SWEEP_BYTES_MIN, VALUE_SWEEP_ENTRIES_MIN,
} from '../base/limits.ts'
import type { ValueHeap } from '../schema/value-heap.ts'

/** A place that stores handles of values. */
export interface ValueKeeper {
  /** Marks every value that it refers to: `heap.markRow`, `heap.markCells`. */
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

/** Twice the live amount or, if the heap's limit is nearer, half way to the limit. */
function nextDue(held: number, least: number, limit: number): number {
  return Math.max(least, Math.min(2 * held, Math.floor((held + limit) / 2)))
}
