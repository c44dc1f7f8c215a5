/**
 * The contract of code that is generated for the rows of one entity: it writes and reads the bits of `row-model.ts`
 * without the lookups in its slots.
 *
 * Core generates none. A platform may (`node/compile-rows.ts`, with `row-code-text.ts`), where text may become code.
 * Pages with a strict content security policy refuse that, and use the model.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { ValueStore } from '../schema/values.ts'
import type { PrefixSink, PrefixSource } from './prefix-stream.ts'
import type { FieldSet, RowPair } from './row-coder.ts'
import type { RowModel } from './row-model.ts'
import type { AgeTables, MaskCode } from './row-tables.ts'

/** What such code needs of the model: items that are not whole numbers, and rare cases. */
export interface RowCodeParts {
  /**
   * Indexed by residual size below 256: the symbol of its token without the sign, times 16, plus the number of raw
   * bits.
   */
  readonly spelling: Uint16Array
  /** `SPREADS` of row-contexts.ts. */
  readonly spreads: Uint8Array
  readonly residuals: Int32Array
  readonly classes: Uint8Array
  /** Computes the residual and the class of an item; returns whether it has a residual. */
  compare(item: number, age: AgeTables, pair: RowPair): boolean
  /** How fast a vector moved, for lanes that may wrap. */
  vectorClass(item: number, pair: RowPair): number
  /** Writes a token of any size. */
  token(table: number, residual: number): void
  /** Writes an item that has no token. */
  write(chunk: number, item: number, age: AgeTables, pair: RowPair, heap: ValueStore): void
  /** Reads the mask of a chunk as transmitted, before the bits in motion are inverted back. */
  readMask(code: MaskCode, width: number): number
  /** Sets the model's masks of items with a residual and of items in motion: `readOther` uses them. */
  share(chunk: number, mask: number, motion: number): void
  readToken(table: number): number
  /** Reads an item that is not a whole number. */
  readOther(chunk: number, item: number, isOff: boolean, age: AgeTables, pair: RowPair, heap: ValueStore): void
  /** Resets the values of an absent group to those of a new object. */
  leave(item: number, pair: RowPair): void
}

/**
 * Encodes a row, as `RowModel.encode` does, in the prefix codes of `entries`; returns whether it differs from the
 * baseline.
 */
export type WriteRow = (
  out: BitWriter,
  pair: RowPair,
  age: AgeTables,
  entries: Uint16Array,
  parts: RowCodeParts,
  heap: ValueStore,
) => boolean

/** Decodes a row, as `RowModel.decode` does; false where a packed delta follows. */
export type ReadRow = (
  reader: BitReader,
  pair: RowPair,
  age: AgeTables,
  parts: RowCodeParts,
  heap: ValueStore,
) => boolean

/** Encodes and decodes rows: the model, or generated code in its place. */
export interface RowSpeech {
  encode(sink: PrefixSink, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
  decode(source: PrefixSource, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
}

/**
 * Generates code in place of a model, with the streams of its coder; undefined if the platform does not support it, or
 * the entity is too large.
 */
export type CompileRows = (model: RowModel, sink: PrefixSink, source: PrefixSource) => RowSpeech | undefined
