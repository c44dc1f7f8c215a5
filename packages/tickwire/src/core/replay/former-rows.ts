/**
 * The rows of two ticks ago, for a world that is read tick by tick. Deltas of the entropy codec use them beside their
 * baselines.
 *
 * For each object it keeps the row before the last change, and the tick of that change. An object at rest in the tick
 * before had the same row two ticks ago. An object born in the tick before had none; in a key every object is born. So
 * the reader has the same rows as the writer, wherever reading began.
 *
 * Values that are not numbers are compared by handle only, and those of a former row may have been freed: a handle in
 * use is never given to a different value.
 */

import type { RowPair } from '../codec/row-coder.ts'
import type { EntityStore } from '../world/entity-store.ts'
import type { World } from '../world/world.ts'

const INDEXES_FIRST = 64

export class FormerRows {
  /** Indexed by type: the former rows, at the same offsets as in the store. */
  readonly #rows: Int32Array[]
  /** Indexed by type: one row, for a pair. */
  readonly #older: readonly Int32Array[]
  /** Indexed by object index: the tick of the last change, negative if it was a birth. */
  #changed = new Int32Array(INDEXES_FIRST)
  /** Number of ticks read, over all chunks. */
  #tick = 1

  constructor(world: World) {
    this.#rows = world.stores.map(() => new Int32Array(0))
    this.#older = world.stores.map(({ schema }) => new Int32Array(schema.laneCount))
  }

  beginTick(): void {
    this.#tick++
  }

  /** An object was born at an index. */
  forget(index: number): void {
    if (index >= this.#changed.length) this.#grow(index + 1)
    this.#changed[index] = -this.#tick
  }

  /**
   * Sets the pair's row of two ticks ago, if there is one, and saves the row of one tick ago, at `at` of its store.
   * @hot
   */
  find(index: number, store: EntityStore, at: number, pair: RowPair): void {
    const { type, rows } = store
    const { laneCount } = store.schema
    if (this.#rows[type].length < rows.length) this.#growRows(type, rows.length)
    const former = this.#rows[type]
    const older = this.#older[type]
    const changed = this.#changed[index]
    const isRested = changed !== this.#tick - 1 && changed !== 1 - this.#tick
    for (let lane = 0; lane < laneCount; lane++) {
      older[lane] = isRested ? rows[at + lane] : former[at + lane]
      former[at + lane] = rows[at + lane]
    }
    this.#changed[index] = this.#tick
    pair.olderRows = older
    pair.olderAt = changed === 1 - this.#tick ? -1 : 0
  }

  #grow(count: number): void {
    const changed = new Int32Array(Math.max(count, this.#changed.length * 2))
    changed.set(this.#changed)
    this.#changed = changed
  }

  #growRows(type: number, length: number): void {
    const rows = new Int32Array(length)
    rows.set(this.#rows[type])
    this.#rows[type] = rows
  }
}
