/**
 * The third pass of training: the model writes to counters, with a separate table for every context.
 */

import { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { CodeBank } from './code-bank.ts'
import type { MakeGrid } from './rotation.ts'
import type { RowPair } from './row-coder.ts'
import { RowModel } from './row-model.ts'
import { ITEM, SLOT, type RowPlan } from './row-plan.ts'
import type { Habits } from './row-predictor.ts'
import * as tables from './row-tables.ts'
import type { SymbolSink } from './symbol-stream.ts'

/** The result of the first two passes for one age class. */
interface Settled extends Habits {
  readonly activities: readonly (readonly number[])[]
}

type Counts = Map<number, number>

/** Values are raw, and raw bits are not counted. */
const NO_VALUES: ValueStore = { put: () => 0, get: () => undefined, write: () => {}, read: () => 0 }

export class SymbolCounter implements SymbolSink {
  readonly #plan: RowPlan
  readonly #model: RowModel
  /** Indexed by context of any kind. */
  readonly #counts = new Map<number, Counts>()
  readonly #scratch = new BitWriter(new Uint8Array(1 << 16))
  /** The number of contexts of one age class: tokens, then dropped components, then masks. */
  readonly #contexts: number

  constructor(schema: Schema, plan: RowPlan, settled: readonly Settled[], makeGrid: MakeGrid) {
    this.#plan = plan
    this.#contexts =
      (plan.count << tables.TOKEN_CONTEXTS_SHIFT)
      + plan.count
      + ((plan.chunks.length - 1) << tables.MASK_CONTEXTS_SHIFT)
    const ages = settled.map((each, age) => this.#tablesOf(age, each))
    const all: tables.RowTables = { version: 0, bank: new CodeBank(), at: (age) => ages[age] }
    this.#model = new RowModel(schema, plan, all, makeGrid)
  }

  see(pair: RowPair): void {
    this.#scratch.reset(this.#scratch.bytes)
    this.#model.encode(this, 2, pair, NO_VALUES)
  }

  symbol(context: number, symbol: number): void {
    let counts = this.#counts.get(context)
    if (counts === undefined) this.#counts.set(context, (counts = new Map()))
    counts.set(symbol, (counts.get(symbol) ?? 0) + 1)
  }

  raw(): BitWriter {
    return this.#scratch
  }

  /** The token counts of an item in a context, by symbol. */
  tokens(age: number, item: number, context: number): Counts | undefined {
    return this.#counts.get(age * this.#contexts + (item << tables.TOKEN_CONTEXTS_SHIFT) + context)
  }

  dropped(age: number, item: number): Counts | undefined {
    const counts = this.#counts.get(this.#droppedContext(age, item))
    return this.#plan.slots[(item << SLOT.shift) + SLOT.kind] === ITEM.dropped ? counts : undefined
  }

  /** The mask counts of a chunk in a context, by mask. */
  mask(age: number, chunk: number, context: number): Counts | undefined {
    return this.#counts.get(
      this.#droppedContext(age, this.#plan.count) + (chunk << tables.MASK_CONTEXTS_SHIFT) + context,
    )
  }

  #droppedContext(age: number, item: number): number {
    return age * this.#contexts + (this.#plan.count << tables.TOKEN_CONTEXTS_SHIFT) + item
  }

  /** Tables in which every context has its own table, and every mask its own symbol. */
  #tablesOf(age: number, { weights, bends, activities }: Settled): tables.AgeTables {
    const { count, chunks } = this.#plan
    const first = age * this.#contexts
    const firstMask = this.#droppedContext(age, count)
    return {
      weights, bends,
      tokens: counting(count << tables.TOKEN_CONTEXTS_SHIFT, first),
      dropped: counting(count, this.#droppedContext(age, 0)),
      activities: activities.map((list, chunk) => {
        const places = new Uint8Array(1 << (chunks[chunk + 1] - chunks[chunk]))
        list.forEach((changed, index) => { places[changed] = index + 1 })
        return places
      }),
      masks: Array.from({ length: (chunks.length - 1) << tables.MASK_CONTEXTS_SHIFT }, (_, context) => {
        const chunk = context >> tables.MASK_CONTEXTS_SHIFT
        const all = Uint16Array.from({ length: 1 << (chunks[chunk + 1] - chunks[chunk]) }, (_, mask) => mask)
        return { table: firstMask + context, masks: all, symbols: all }
      }),
    }
  }
}

function counting(length: number, first: number): Uint32Array {
  return Uint32Array.from({ length }, (_, index) => first + index)
}
