/**
 * Rows in a range-coded block: what the model says (`row-model.ts`) goes to the block's symbols, everything else to its raw
 * bits. The twin of `entropy-coder.ts` for who is read in order; by built-in tables.
 *
 * Deltas do not stand alone: they are read back by the twin of the block that they were written to, in order. Where the
 * packed delta is shorter, it is taken instead, after the symbol that says so.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { BuiltInTables } from './built-in-tables.ts'
import { PackedBound } from './packed-bound.ts'
import { PackedCoder } from './packed-coder.ts'
import { RansSink, RansSource } from './rans-stream.ts'
import type { FieldSet, RowCoder, RowPair } from './row-coder.ts'
import { RowModel } from './row-model.ts'
import { planRow } from './row-plan.ts'
import { ageClass } from './row-tables.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** Of rows in a recording: born, and told against the tick before. */
const AGES = [0, 1] as const

export class RansCoder implements RowCoder {
  readonly usesOlder: boolean = true
  readonly #model: RowModel
  readonly #packed: PackedCoder
  /** Of who writes. */
  readonly #block: RansSink | undefined
  readonly #sink: SymbolSink | undefined
  /** Of who reads. */
  readonly #source: SymbolSource | undefined
  readonly #bound: PackedBound

  /** Writes to a block, or reads from one. */
  constructor(schema: Schema, ticksPerSecond: number, block: RansSink | RansSource) {
    const plan = planRow(schema, ticksPerSecond)
    const tables = new BuiltInTables(plan)
    this.#model = new RowModel(schema, plan, tables)
    this.#packed = new PackedCoder(schema)
    this.#block = block instanceof RansSink ? block : undefined
    this.#sink = block instanceof RansSink ? block.of(tables.bank) : undefined
    this.#source = block instanceof RansSource ? block.of(tables.bank) : undefined
    // Made now, some milliseconds each: a match that is recorded does not wait for them when the first of a kind is born.
    if (block instanceof RansSink) for (const age of AGES) tables.at(ageClass(age))
    this.#bound = new PackedBound(schema)
  }

  /** `out` is where the block's raw bits go. @hot */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const block = this.#block
    const sink = this.#sink
    assert(block !== undefined && sink !== undefined && out === sink.raw(), 'rows are written to their block')
    const start = out.bitLength
    const { count } = block
    const isChanged = this.#model.encode(sink, set, pair, heap)
    const bits = out.bitLength - start + block.bitsSince(count)
    if (out.failed || !this.#bound.isDoubtful(set, pair, bits)) return isChanged
    if (this.#model.plan.chunkCounts[set] === 0) return isChanged
    out.rewind(start)
    block.rewind(count)
    this.#model.encodeRaw(sink, pair)
    this.#packed.write(out, set, pair, heap)
    if (!out.failed && out.bitLength - start + block.bitsSince(count) < bits) return isChanged
    out.rewind(start)
    block.rewind(count)
    return this.#model.encode(sink, set, pair, heap)
  }

  /** @hot */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    const source = this.#source
    assert(source !== undefined && reader === source.raw(), 'rows are read from their block')
    if (!this.#model.decode(source, set, pair, heap)) this.#packed.read(reader, set, pair, heap)
  }
}
