/**
 * Rows in a range-coded block: what the model says (`row-model.ts`) goes to the block's symbols, everything else to its raw
 * bits. The twin of `entropy-coder.ts` for who is read in order; by built-in tables.
 *
 * Deltas do not stand alone: they are read back by the twin of the block that they were written to, in order. Where the
 * packed delta is shorter, it is taken instead, after the symbol that says so.
 */

import { assert } from '../base/assert.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { BuiltInTables } from './built-in-tables.ts'
import { PackedCoder } from './packed-coder.ts'
import { RansSink, RansSource } from './rans-stream.ts'
import type { FieldSet, RowCoder, RowPair } from './row-coder.ts'
import { RowModel } from './row-model.ts'
import { planRow } from './row-plan.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** A block for who only reads, and one for who only writes. */
const NO_SINK = new RansSink(new BitWriter(new Uint8Array(0)))
const NO_SOURCE = new RansSource(new BitReader(new Uint8Array(0)))

export class RansCoder implements RowCoder {
  readonly usesOlder: boolean = true
  readonly #block: RansSink
  readonly #model: RowModel
  readonly #packed: PackedCoder
  readonly #sink: SymbolSink
  readonly #source: SymbolSource
  /** By field set: bits above which the packed delta may be shorter: half of what all numbers of it have. */
  readonly #doubtful: readonly number[]

  constructor(schema: Schema, ticksPerSecond: number, block: RansSink | RansSource) {
    const plan = planRow(schema, ticksPerSecond)
    const tables = new BuiltInTables(plan)
    this.#block = block instanceof RansSink ? block : NO_SINK
    this.#model = new RowModel(schema, plan, tables)
    this.#packed = new PackedCoder(schema)
    this.#sink = this.#block.of(tables.bank)
    this.#source = (block instanceof RansSource ? block : NO_SOURCE).of(tables.bank)
    this.#doubtful = schema.masks.map(({ members }) =>
      members.reduce((bits, { firstLeaf, leafCount }) =>
        bits + schema.leaves.slice(firstLeaf, firstLeaf + leafCount).reduce((sum, { width }) => sum + Math.max(width, 1), 0), 0) >> 1)
  }

  /** `out` is where the block's raw bits go. @hot */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    assert(out === this.#sink.raw(), 'rows are written to their block')
    const start = out.bitLength
    const { count } = this.#block
    const isChanged = this.#model.encode(this.#sink, set, pair, heap)
    const bits = out.bitLength - start + this.#block.bitsSince(count)
    // That packed is shorter is rare, and most often seen without writing it.
    if (bits > this.#doubtful[set] && !out.failed && this.#packed.bitsAtLeast(set, pair) < bits) this.#writeShorter(out, start, count, bits, set, pair, heap)
    return isChanged
  }

  /** @hot */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    if (!this.#model.decode(this.#source, set, pair, heap)) this.#packed.read(reader, set, pair, heap)
  }

  /** Tries the packed delta, and keeps what is shorter. */
  #writeShorter(out: BitWriter, start: number, count: number, bits: number, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    if (this.#model.plan.chunkCounts[set] === 0) return
    out.rewind(start)
    this.#block.rewind(count)
    this.#model.encodeRaw(this.#sink, pair)
    this.#packed.write(out, set, pair, heap)
    if (!out.failed && out.bitLength - start + this.#block.bitsSince(count) < bits) return
    out.rewind(start)
    this.#block.rewind(count)
    this.#model.encode(this.#sink, set, pair, heap)
  }
}
