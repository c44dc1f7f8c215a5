/**
 * The contract of code that is made for the rows of one entity: what says and hears the bits of `row-model.ts` without asking its tables of slots.
 *
 * Core makes none. A platform may (`node/compile-rows.ts`, by `row-code-text.ts`), where text may become code; pages with a strict content security policy
 * refuse that, and speak by the model.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { ValueStore } from '../schema/values.ts'
import type { PrefixSink, PrefixSource } from './prefix-stream.ts'
import type { FieldSet, RowPair } from './row-coder.ts'
import type { RowModel } from './row-model.ts'
import type { AgeTables, MaskCode } from './row-tables.ts'

/** What such code asks of the model: items that are no whole numbers, and what is rare. */
export interface RowCodeParts {
  /** By size of a residual below 256: the symbol of its token without the sign, times 16, and how many bits follow. */
  readonly spelling: Uint16Array
  /** Of row-contexts.ts. */
  readonly spreads: Uint8Array
  readonly residuals: Int32Array
  readonly classes: Uint8Array
  /** Finds the residual and the class of an item; whether it came off. */
  compare(item: number, age: AgeTables, pair: RowPair): boolean
  /** How fast a vector moved whose lanes may go round. */
  vectorClass(item: number, pair: RowPair): number
  /** Writes a token of any size. */
  token(table: number, residual: number): void
  /** Writes an item that has no token. */
  write(chunk: number, item: number, age: AgeTables, pair: RowPair, heap: ValueStore): void
  /** Reads which items of a chunk came off, as they are said. */
  readMask(code: MaskCode, width: number): number
  /** Tells the model which items of a chunk came off, and which were in motion: `readOther` looks there. */
  share(chunk: number, mask: number, motion: number): void
  readToken(table: number): number
  /** Reads an item that is no whole number. */
  readOther(chunk: number, item: number, isOff: boolean, age: AgeTables, pair: RowPair, heap: ValueStore): void
  /** Makes what was in a group that is gone what it is in a fresh object. */
  leave(item: number, pair: RowPair): void
}

/** Says a row, as `RowModel.encode` would, in the prefix codes of `entries`; whether it differs from the baseline. */
export type WriteRow = (out: BitWriter, pair: RowPair, age: AgeTables, entries: Uint16Array, parts: RowCodeParts, heap: ValueStore) => boolean

/** Hears a row, as `RowModel.decode` would; false where a packed delta follows. */
export type ReadRow = (reader: BitReader, pair: RowPair, age: AgeTables, parts: RowCodeParts, heap: ValueStore) => boolean

/** What rows are said and heard by: the model, or code that stands for it. */
export interface RowSpeech {
  encode(sink: PrefixSink, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
  decode(source: PrefixSource, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
}

/** Makes code that stands for a model, with the streams of its coder; nothing where the platform makes none, or the entity is too large for it. */
export type CompileRows = (model: RowModel, sink: PrefixSink, source: PrefixSource) => RowSpeech | undefined
