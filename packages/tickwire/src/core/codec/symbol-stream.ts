/**
 * Where the symbols of rows go and come from. The model (`row-model.ts`) decides what is said; a stream, how it is spelt:
 * by prefix codes into a packet (`prefix-stream.ts`), by a range coder into a recording (`rans-stream.ts`), or into
 * counters (`training.ts`).
 *
 * A symbol belongs to one table of a `CodeBank`. What no table helps with (a text, the low bits of a number) is raw.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

export interface SymbolSink {
  /** Takes a symbol of a table, and `width` (0..18) raw bits that follow it. */
  symbol(table: number, symbol: number, raw: number, width: number): void
  /** Where raw bits of any length are to be written. */
  raw(): BitWriter
}

export interface SymbolSource {
  /** The next symbol of a table. On nonsense, or past the end, 0 and the raw reader has failed. */
  symbol(table: number): number
  /** Where raw bits are read; its failure is the stream's. */
  raw(): BitReader
}
