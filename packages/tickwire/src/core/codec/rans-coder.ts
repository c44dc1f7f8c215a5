/**
 * Rows in a range-coded block: the output of the model (`row-model.ts`) becomes the block's symbols, everything else
 * its raw bits. The counterpart of `entropy-coder.ts` for streams that are read in order; with built-in tables.
 *
 * Deltas cannot be read alone: they are read in order, from the block that they were written to. Where the packed delta
 * is shorter, it is used instead, after the symbol that says so.
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

/** The ages in a recording: a new object, and a row against the tick before. */
const AGES = [0, 1] as const

export class RansCoder implements RowCoder {
  readonly usesOlder: boolean = true
  readonly #model: RowModel
  readonly #packed: PackedCoder
  /** Only when writing. */
  readonly #block: RansSink | undefined
  readonly #sink: SymbolSink | undefined
  /** Only when reading. */
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
    // Made now, some milliseconds each, so that a recorded match does not pause when the first object of a type spawns.
    if (block instanceof RansSink) for (const age of AGES) tables.at(ageClass(age))
    this.#bound = new PackedBound(schema)
  }

  /** `out` is the writer of the block's raw bits. @hot */
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
