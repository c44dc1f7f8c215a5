/**
 * Symbols as prefix codes in a packet: this form is made once and copied bit by bit.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readSymbol } from '../bits/prefix-code.ts'
import type { CodeBank } from './code-bank.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

const NO_WRITER = new BitWriter(new Uint8Array(0))
const NO_READER = new BitReader(new Uint8Array(0))

export class PrefixSink implements SymbolSink {
  readonly #bank: CodeBank
  #writer = NO_WRITER

  constructor(bank: CodeBank) {
    this.#bank = bank
  }

  to(writer: BitWriter): void {
    this.#writer = writer
  }

  /** @hot */
  symbol(table: number, symbol: number, raw: number, width: number): void {
    const entry = this.#bank.entries[(table << 8) | symbol]
    // At most 12 bits of code and 18 raw bits: one write.
    this.#writer.writeBits(((entry >>> 4) << width) | raw, (entry & 15) + width)
  }

  raw(): BitWriter {
    return this.#writer
  }
}

export class PrefixSource implements SymbolSource {
  readonly #bank: CodeBank
  #reader = NO_READER

  constructor(bank: CodeBank) {
    this.#bank = bank
  }

  from(reader: BitReader): void {
    this.#reader = reader
  }

  /** @hot */
  symbol(table: number): number {
    const reader = this.#reader
    const entry = this.#bank.look[(table << 8) | reader.peekBits(8)]
    if (entry === 0) return readSymbol(reader, this.#bank.codes[table])
    reader.skipBits(entry & 15)
    return reader.failed ? 0 : entry >>> 4
  }

  raw(): BitReader {
    return this.#reader
  }
}
