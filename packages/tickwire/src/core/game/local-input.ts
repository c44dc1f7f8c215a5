/**
 * The input of a player in this process. It is sampled once per tick and quantised like an input from the network.
 *
 * Bots and the player of a listen host use it. A client samples its own inputs with the same function.
 */

import type { PeerId, Tick } from '../base/time.ts'
import { refusePromise, type UserCode } from '../base/user-code.ts'
import { quantizeCells } from '../schema/cells.ts'
import type { Shape } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { InitOf } from '../schema/value-types.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import { storeValues } from '../schema/values.ts'
import type { HeldInput } from './input-table.ts'

/** Quantises a player's input into a row. If the input function throws, the input of that tick is empty. */
export class InputSampler<I extends Shape> {
  readonly #schema: Schema<I>
  readonly #heap: ValueHeap
  readonly #cells: Float64Array
  readonly #code: UserCode
  readonly #callback: string

  /** `callback`: the name of the input function, for error reports. */
  constructor(schema: Schema<I>, heap: ValueHeap, code: UserCode, callback: string) {
    this.#schema = schema
    this.#heap = heap
    this.#code = code
    this.#callback = callback
    this.#cells = new Float64Array(schema.cellCount)
  }

  /** `peer`: the player, for error reports. */
  sample(read: () => InitOf<I>, peer: PeerId, rows: Int32Array, at: number): void {
    this.#cells.set(this.#schema.initialCells)
    try {
      const values = read()
      refusePromise(this.#callback, values)
      storeValues(this.#schema, values, this.#cells, 0, this.#heap)
    } catch (error) {
      this.#cells.set(this.#schema.initialCells)
      this.#code.report(this.#callback, error, peer)
    }
    quantizeCells(this.#schema, this.#cells, 0, rows, at)
  }
}

export class LocalInput<I extends Shape> implements HeldInput {
  readonly current: Int32Array
  readonly isHeld = false
  viewTick = 0
  readonly #schema: Schema<I>
  readonly #sampler: InputSampler<I>
  readonly #peer: PeerId
  /** Returns the player's current input. */
  sample: () => InitOf<I>

  constructor(schema: Schema<I>, heap: ValueHeap, code: UserCode, peer: PeerId, sample: () => InitOf<I>) {
    this.#schema = schema
    this.#peer = peer
    this.#sampler = new InputSampler(schema, heap, code, 'addBot')
    this.current = schema.initialRow.slice()
    this.sample = sample
  }

  take(tick: Tick): void {
    this.#sampler.sample(this.sample, this.#peer, this.current, 0)
    // The player sees the authority's own world, as it was before this tick.
    this.viewTick = tick - 1
  }

  markValues(heap: ValueHeap): void {
    heap.markRow(this.#schema, this.current, 0)
  }
}
