/**
 * The codec with the fewest bits: rows predicted by motion, residuals in prefix codes by context (`row-model.ts`).
 *
 * A delta is self-delimiting and depends only on its rows and the tables, so it is made once and copied. Where
 * prediction fails altogether (an object that jumped, a new one) the packed delta is used instead, after a symbol that
 * says so: no delta is longer than that by more than 12 bits.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { BuiltInTables } from './built-in-tables.ts'
import type { CodeBank } from './code-bank.ts'
import { PackedBound } from './packed-bound.ts'
import { PackedCoder } from './packed-coder.ts'
import { PrefixSink, PrefixSource } from './prefix-stream.ts'
import { schemaGrid, type MakeGrid } from './rotation.ts'
import type { CompileRows, RowSpeech } from './row-code.ts'
import type { FieldSet, RowCoder, RowPair } from './row-coder.ts'
import { RowModel } from './row-model.ts'
import { planRow, type RowPlan } from './row-plan.ts'
import type { RowTables } from './row-tables.ts'

/**
 * The longest symbol that says that a packed delta follows: a smaller saving is not tried. In a crowd one delta in
 * fifty would be written twice for that, and one in four thousand would be shorter, by three bits.
 */
const RAW_BITS_MAX = 12

/** Options of an entropy coder beside its schema. */
export interface EntropyOptions {
  /** Tables for the planned rows. Default: the built-in ones. */
  readonly tables?: (plan: RowPlan) => RowTables
  readonly grid?: MakeGrid
}

export class EntropyCoder implements RowCoder {
  readonly usesOlder: boolean = true
  readonly model: RowModel
  /** For other streams of the same symbols (`rans-stream.ts`). */
  readonly bank: CodeBank
  /** The version of its tables: 0 = built in. */
  readonly version: number
  readonly #packed: PackedCoder
  readonly #sink: PrefixSink
  readonly #source: PrefixSource
  readonly #bound: PackedBound
  /** The model, or code generated for this entity where a platform supports it. */
  #speech: RowSpeech

  constructor(schema: Schema, ticksPerSecond: number, options: EntropyOptions = {}) {
    const plan = planRow(schema, ticksPerSecond)
    const tables = options.tables === undefined ? new BuiltInTables(plan) : options.tables(plan)
    this.model = new RowModel(schema, plan, tables, options.grid ?? schemaGrid)
    this.#speech = this.model
    this.bank = tables.bank
    this.version = tables.version
    this.#packed = new PackedCoder(schema, options.grid ?? schemaGrid)
    this.#sink = new PrefixSink(tables.bank)
    this.#source = new PrefixSource(tables.bank)
    this.#bound = new PackedBound(schema)
  }

  /** Uses code generated for this entity from now on: the same bits in less time. */
  compile(compile: CompileRows): void {
    if (this.#speech === this.model) this.#speech = compile(this.model, this.#sink, this.#source) ?? this.model
  }

  /** @hot */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const start = out.bitLength
    this.#sink.to(out)
    const isChanged = this.#speech.encode(this.#sink, set, pair, heap)
    const bits = out.bitLength - start
    if (!out.failed && this.#bound.isDoubtful(set, pair, bits, RAW_BITS_MAX))
      this.#writeShorter(out, start, set, pair, heap)
    return isChanged
  }

  /** @hot */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    this.#source.from(reader)
    if (!this.#speech.decode(this.#source, set, pair, heap)) this.#packed.read(reader, set, pair, heap)
  }

  account(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore, leafBits: Float64Array): boolean {
    const start = out.bitLength
    this.write(out, set, pair, heap)
    const bits = out.bitLength - start
    out.rewind(start)
    this.model.encode(this.#sink, set, pair, heap)
    const isPacked = out.bitLength - start !== bits
    out.rewind(start)
    if (isPacked) this.write(out, set, pair, heap)
    else this.model.encode(this.#sink, set, pair, heap, leafBits)
    return !isPacked
  }

  /** Tries the packed delta, and keeps the shorter one. */
  #writeShorter(out: BitWriter, start: number, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    if (this.model.plan.chunkCounts[set] === 0) return
    const bits = out.bitLength - start
    out.rewind(start)
    this.model.encodeRaw(this.#sink, pair)
    this.#packed.write(out, set, pair, heap)
    if (!out.failed && out.bitLength - start < bits) return
    out.rewind(start)
    this.#speech.encode(this.#sink, set, pair, heap)
  }
}
