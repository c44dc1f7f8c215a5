/**
 * The destination and the source of a row's symbols. The model (`row-model.ts`) decides which symbols there are; a
 * stream decides how they are encoded: as prefix codes in a packet (`prefix-stream.ts`), by a range coder in a
 * recording (`rans-stream.ts`), or as counts (`training.ts`).
 *
 * A symbol belongs to one table of a `CodeBank`. Data that no table helps with (a text, the low bits of a number) is
 * raw.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

export interface SymbolSink {
  /** Takes a symbol of a table, and `width` (0..18) raw bits that follow it. */
  symbol(table: number, symbol: number, raw: number, width: number): void
  /** The writer for raw bits of any length. */
  raw(): BitWriter
}

export interface SymbolSource {
  /** The next symbol of a table. On invalid input, or past the end, returns 0 and the raw reader has failed. */
  symbol(table: number): number
  /** The reader of raw bits; its failure is the stream's. */
  raw(): BitReader
}
