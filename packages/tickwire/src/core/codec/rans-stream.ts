/**
 * Symbols at their exact cost, including fractions of a bit: for streams that one receiver reads in order, such as
 * recordings. Their bits cannot be copied between streams.
 *
 * ```
 * raw bits, then zeros to a whole byte  ->  |  <-  16-bit words, low byte first  |  state, 32 bits, low byte first
 * ```
 *
 * An asymmetric range coder (rANS): a state of 31 bits, renormalised by 16, shares of 2^15. It encodes from the last
 * symbol to the first, so symbols are collected and written by `finish`. It decodes from the first, and reads its words
 * from the end of the block backwards. Raw bits are written and read in order, from the block's beginning. So neither
 * part needs a length: they end where they meet.
 *
 * A block may have symbols of many tables, which adapt as they are used (`learning-tables.ts`), and bits whose
 * probabilities the caller keeps. A symbol gets its share when it is settled: until then it can be taken back, and no
 * table has adapted to it.
 *
 * Invariant: a block begins and ends in the least state; the reader refuses any other.
 */

import { assert } from '../base/assert.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { CodeBank } from './code-bank.ts'
import { LearningTables } from './learning-tables.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** The least state: renormalisation keeps the state at or above it. It is also the sum of all shares. */
const STATE_MIN = 32_768
const SHARE_BITS = 15
const SHARE_MASK = 32_767
const STATE_BYTES = 4
const SYMBOLS_FIRST = 4096
/** A symbol that is not settled: ~(its bank | table 15 | symbol 8). */
const BANK_SHIFT = 23
const SLOT_MASK = 0x7f_ffff

/** Collects symbols and writes them as one block, after the raw bits that were written to the same writer meanwhile. */
export class RansSink {
  /** Symbols in the block. */
  count = 0
  /** Indexed by symbol: first << 16 | share; negative until it is settled. */
  #ranges = new Int32Array(SYMBOLS_FIRST)
  #settled = 0
  readonly #tables: LearningTables[] = []
  readonly #raw: BitWriter

  constructor(raw: BitWriter) {
    this.#raw = raw
  }

  /** A sink for symbols of a bank's tables. */
  of(bank: CodeBank): SymbolSink {
    this.#tables.push(new LearningTables(bank))
    return new RansBankSink(this, this.#tables.length - 1, this.#raw)
  }

  /** The most bytes that the words of the block take: a symbol costs at most one word. */
  get tailBytesMax(): number {
    return STATE_BYTES + 2 * this.count
  }

  /** Adds a range, or an unsettled symbol. @hot */
  push(range: number): void {
    if (this.count === this.#ranges.length) this.#grow()
    this.#ranges[this.count++] = range
  }

  /** Adds a yes or no; `share`, of 2^15, is that of yes, and is neither none nor all. @hot */
  bit(isYes: boolean, share: number): void {
    this.push(isYes ? share : (share << 16) | (STATE_MIN - share))
  }

  /** Discards all symbols after the first `count`; settled ones cannot be discarded. */
  rewind(count: number): void {
    assert(count >= this.#settled && count <= this.count, 'what is settled is not taken back')
    this.count = count
  }

  /** The approximate cost, in bits, of the symbols from `count` on. */
  bitsSince(count: number): number {
    let halves = 0
    for (let index = count; index < this.count; index++)
      halves += 2 * Math.clz32(this.#shareOf(this.#ranges[index])) - 33
    return halves >> 1
  }

  /** Makes all symbols final. @hot */
  settle(): void {
    const ranges = this.#ranges
    for (let index = this.#settled; index < this.count; index++) {
      if (ranges[index] >= 0) continue
      const slot = ~ranges[index]
      ranges[index] = this.#tables[slot >>> BANK_SHIFT].take((slot & SLOT_MASK) >>> 8, slot & 0xff)
    }
    this.#settled = this.count
  }

  /** Starts a block. */
  clear(): void {
    this.count = 0
    this.#settled = 0
    for (const tables of this.#tables) tables.begin()
  }

  /** Pads the raw bits to a whole byte, writes the words after them, and starts a new block. */
  finish(): void {
    this.settle()
    const ranges = this.#ranges
    const out = this.#raw
    out.writeBits(0, -out.bitLength & 7)
    let state = STATE_MIN
    for (let index = this.count - 1; index >= 0; index--) {
      const share = ranges[index] & 0xffff
      // The state stays below 2^31: a share of 2^15 may take 2^16 times itself.
      if (state >= share << 16) {
        writeWord(out, state & 0xffff)
        state >>>= 16
      }
      const times = (state / share) | 0
      state = (times << SHARE_BITS) + (state - times * share) + (ranges[index] >>> 16)
    }
    writeWord(out, state & 0xffff)
    writeWord(out, state >>> 16)
    this.clear()
  }

  /** For an unsettled symbol, its share in the bank. */
  #shareOf(range: number): number {
    return (range >= 0 ? range : this.#tables[~range >>> BANK_SHIFT].bank.ranges[~range & SLOT_MASK]) & 0xffff
  }

  #grow(): void {
    const ranges = new Int32Array(this.#ranges.length * 2)
    ranges.set(this.#ranges)
    this.#ranges = ranges
  }
}

class RansBankSink implements SymbolSink {
  readonly #block: RansSink
  readonly #first: number
  readonly #raw: BitWriter

  constructor(block: RansSink, bank: number, raw: BitWriter) {
    this.#block = block
    this.#first = bank << BANK_SHIFT
    this.#raw = raw
  }

  /** @hot */
  symbol(table: number, symbol: number, raw: number, width: number): void {
    this.#block.push(~(this.#first | (table << 8) | symbol))
    if (width > 0) this.#raw.writeBits(raw, width)
  }

  raw(): BitWriter {
    return this.#raw
  }
}

/** Reads a block's symbols. The caller reads the raw bits with the reader given to the constructor. */
export class RansSource {
  readonly #raw: BitReader
  readonly #tables: LearningTables[] = []
  /** The offset after the next word. */
  #at = 0
  #state = STATE_MIN

  constructor(raw: BitReader) {
    this.#raw = raw
  }

  /** A source of symbols of a bank's tables. */
  of(bank: CodeBank): SymbolSource {
    const tables = new LearningTables(bank)
    this.#tables.push(tables)
    return new RansBankSource(this, tables, this.#raw)
  }

  /** Starts a block that ends where the reader's bytes end. On invalid input the reader has failed. */
  begin(): void {
    for (const tables of this.#tables) tables.begin()
    this.#at = this.#raw.bytes.length
    this.#state = STATE_MIN
    const high = this.#next()
    const state = this.#next() + high * 65_536
    if (state < STATE_MIN || state > 0x7fff_ffff) this.#raw.fail()
    else this.#state = state
  }

  /** The position of the next symbol among the shares of its table. @hot */
  get place(): number {
    return this.#state & SHARE_MASK
  }

  /** Consumes the symbol with this range, which contains `place`. @hot */
  take(range: number): void {
    const state = (range & 0xffff) * (this.#state >>> SHARE_BITS) + (this.#state & SHARE_MASK) - (range >>> 16)
    this.#state = state < STATE_MIN ? (state << 16) | this.#next() : state
  }

  /** The counterpart of `RansSink.bit`; false once the reader has failed. @hot */
  bit(share: number): boolean {
    if (this.#raw.failed) return false
    const isYes = this.place < share
    this.take(isYes ? share : (share << 16) | (STATE_MIN - share))
    return isYes
  }

  /** Whether the block was read to its end and is valid. */
  finish(): boolean {
    const raw = this.#raw
    if (raw.readBits(-raw.bitPosition & 7) !== 0) raw.fail()
    if (this.#at !== raw.bitPosition >>> 3 || this.#state !== STATE_MIN) raw.fail()
    return !raw.failed
  }

  #next(): number {
    const { bytes } = this.#raw
    if (this.#at < 2) {
      this.#raw.fail()
      return 0
    }
    this.#at -= 2
    return bytes[this.#at] | (bytes[this.#at + 1] << 8)
  }
}

class RansBankSource implements SymbolSource {
  readonly #block: RansSource
  readonly #tables: LearningTables
  readonly #raw: BitReader

  constructor(block: RansSource, tables: LearningTables, raw: BitReader) {
    this.#block = block
    this.#tables = tables
    this.#raw = raw
  }

  /** @hot */
  symbol(table: number): number {
    if (this.#raw.failed) return 0
    const symbol = this.#tables.find(table, this.#block.place)
    this.#block.take(this.#tables.take(table, symbol))
    return symbol
  }

  raw(): BitReader {
    return this.#raw
  }
}

function writeWord(out: BitWriter, word: number): void {
  out.writeBits(((word & 0xff) << 8) | (word >>> 8), 16)
}
