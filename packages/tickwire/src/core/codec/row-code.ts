/**
 * The contract of code that is made for the rows of one entity: what says the bits of `row-model.ts` without asking its tables of slots.
 *
 * Core makes none. A platform may (`node/compile-rows.ts`, by `row-code-text.ts`), where text may become code; pages with a strict content security policy
 * refuse that, and speak by the model.
 */

import type { BitWriter } from '../bits/bit-writer.ts'
import type { ValueStore } from '../schema/values.ts'
import type { PrefixSink } from './prefix-stream.ts'
import type { RowPair } from './row-coder.ts'
import type { RowModel } from './row-model.ts'
import type { AgeTables } from './row-tables.ts'

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
}

/** Says a row, as `RowModel.encode` would, in the prefix codes of `entries`; whether it differs from the baseline. */
export type EncodeRow = (out: BitWriter, pair: RowPair, age: AgeTables, entries: Uint16Array, parts: RowCodeParts, heap: ValueStore) => boolean

/** The code of an entity, by field set. */
export interface RowCode {
  readonly sets: readonly EncodeRow[]
  readonly parts: RowCodeParts
}

/** Makes the code of an entity; nothing where the platform makes none, or the entity is too large for it. */
export type CompileRows = (model: RowModel, sink: PrefixSink) => RowCode | undefined
