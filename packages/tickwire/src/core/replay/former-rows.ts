/**
 * The rows of two ticks ago of a world that is read tick by tick: what deltas of the entropy codec know beside their baselines.
 *
 * Kept are, for each object, the row before his last change and when that was. Whoever rested in the tick before had the same row two
 * ticks ago; whoever was born in it had none, and in a key everyone is born. So it holds what its writer holds, wherever reading began.
 *
 * Values that are no numbers are compared by their handles only, and those of a former row may have been let go: a handle in use is
 * never given to another value.
 */

import type { RowPair } from '../codec/row-coder.ts'
import type { EntityStore } from '../world/entity-store.ts'
import type { World } from '../world/world.ts'

const INDEXES_FIRST = 64

export class FormerRows {
  /** By type: rows where the store has its own. */
  readonly #rows: Int32Array[]
  /** By type: one row, for a pair. */
  readonly #older: readonly Int32Array[]
  /** By object index: the tick of the last change, negative if that was a birth. */
  #changed = new Int32Array(INDEXES_FIRST)
  /** Ticks read, of whichever chunks. */
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

  /** Gives a pair the row of two ticks ago, if there is one, and keeps that of one tick ago, at `at` of its store. @hot */
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
