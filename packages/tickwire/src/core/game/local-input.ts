/**
 * The input of who plays in this very process: asked once a tick, and brought to the same form as one that came by wire.
 *
 * Bots and the player of a listen host are such; a client samples its own inputs with the same function.
 */

import type { Tick } from '../base/time.ts'
import { quantizeCells } from '../schema/cells.ts'
import type { Shape } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { InitOf } from '../schema/value-types.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import type { HeldInput } from './input-table.ts'

/** Quantises what a player holds into a row. */
export class InputSampler<I extends Shape> {
  readonly #schema: Schema<I>
  readonly #heap: ValueHeap
  readonly #cells: Float64Array

  constructor(schema: Schema<I>, heap: ValueHeap) {
    this.#schema = schema
    this.#heap = heap
    this.#cells = new Float64Array(schema.cellCount)
  }

  sample(values: InitOf<I>, rows: Int32Array, at: number): void {
    this.#cells.set(this.#schema.initialCells)
    storeValues(this.#schema, values, this.#cells, 0, this.#heap)
    quantizeCells(this.#schema, this.#cells, 0, rows, at)
  }
}

export class LocalInput<I extends Shape> implements HeldInput {
  readonly current: Int32Array
  readonly isHeld = false
  viewTick = 0
  readonly #schema: Schema<I>
  readonly #sampler: InputSampler<I>
  /** What he holds now. */
  sample: () => InitOf<I>

  constructor(schema: Schema<I>, heap: ValueHeap, sample: () => InitOf<I>) {
    this.#schema = schema
    this.#sampler = new InputSampler(schema, heap)
    this.current = schema.initialRow.slice()
    this.sample = sample
  }

  take(tick: Tick): void {
    this.#sampler.sample(this.sample(), this.current, 0)
    // He looks at the authority's own world, as it stood before this tick.
    this.viewTick = tick - 1
  }

  markValues(heap: ValueHeap): void {
    heap.markRow(this.#schema, this.current, 0)
  }
}
