/**
 * The same symbols at their price, fractions of a bit included: for streams that one receiver reads in order, such as
 * recordings. A tenth smaller than prefix codes where the baseline is the tick before; not copyable.
 *
 * ```
 * raw bits, then zeros to a whole byte  ->  |  <-  16-bit words, low byte first  |  state, 32 bits, low byte first
 * ```
 *
 * A range coder of the asymmetric kind (rANS): a state of 31 bits, renormalised by 16, shares of 2^15. It encodes from the
 * last symbol to the first, so symbols are collected and written by `finish`; it decodes from the first, and takes its words
 * from the end of the block backwards. Raw bits are written and read in order, from the block's beginning. So neither part
 * says how long it is: they end where they meet.
 *
 * A block may hold symbols of many tables, and bits whose chances the caller keeps.
 *
 * Invariant: a block begins and ends in the least state; the reader refuses any other.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import type { CodeBank } from './code-bank.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** The least state: renormalising keeps it at or above. It is also what all shares add up to. */
const STATE_MIN = 32_768
const SHARE_BITS = 15
const SHARE_MASK = 32_767
const STATE_BYTES = 4
const SYMBOLS_FIRST = 4096
/** Places of a table are looked up by their highest bits, and searched from there. */
const BUCKET_SHIFT = 7

/** Collects symbols and writes them as one block. Raw bits go where `to` said. */
export class RansSink {
  /** Symbols in the block. */
  count = 0
  /** By symbol: first << 16 | share, as in `CodeBank.ranges`. */
  #ranges = new Uint32Array(SYMBOLS_FIRST)
  readonly #raw: BitWriter

  constructor(raw: BitWriter) {
    this.#raw = raw
  }

  /** Where symbols of a bank's tables go. */
  of(bank: CodeBank): SymbolSink {
    return new RansBankSink(this, bank, this.#raw)
  }

  /** Bytes that the words of the block take at most: a symbol costs at most one word. */
  get tailBytesMax(): number {
    return STATE_BYTES + 2 * this.count
  }

  /** @hot */
  push(range: number): void {
    if (this.count === this.#ranges.length) this.#grow()
    this.#ranges[this.count++] = range
  }

  /** A yes or no; `share` of 2^15, neither none nor all, is for yes. @hot */
  bit(isYes: boolean, share: number): void {
    this.push(isYes ? share : (share << 16) | (STATE_MIN - share))
  }

  /** Forgets all symbols after the first `count`. */
  rewind(count: number): void {
    this.count = count
  }

  /** What symbols from the one at `count` on cost, about, in bits. */
  bitsSince(count: number): number {
    let halves = 0
    for (let index = count; index < this.count; index++) halves += 2 * Math.clz32(this.#ranges[index] & 0xffff) - 33
    return halves >> 1
  }

  /** Ends the raw bits at a whole byte, writes the words behind them, and begins another block. */
  finish(): void {
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
    this.count = 0
  }

  #grow(): void {
    const ranges = new Uint32Array(this.#ranges.length * 2)
    ranges.set(this.#ranges)
    this.#ranges = ranges
  }
}

class RansBankSink implements SymbolSink {
  readonly #block: RansSink
  readonly #bank: CodeBank
  readonly #raw: BitWriter

  constructor(block: RansSink, bank: CodeBank, raw: BitWriter) {
    this.#block = block
    this.#bank = bank
    this.#raw = raw
  }

  /** @hot */
  symbol(table: number, symbol: number, raw: number, width: number): void {
    this.#block.push(this.#bank.ranges[(table << 8) | symbol])
    if (width > 0) this.#raw.writeBits(raw, width)
  }

  raw(): BitWriter {
    return this.#raw
  }
}

/** Reads a block's symbols; its raw bits are read by the reader that it was made with. */
export class RansSource {
  readonly #raw: BitReader
  /** The byte behind the next word. */
  #at = 0
  #state = STATE_MIN

  constructor(raw: BitReader) {
    this.#raw = raw
  }

  /** Where symbols of a bank's tables come from. */
  of(bank: CodeBank): SymbolSource {
    return new RansBankSource(this, bank, this.#raw)
  }

  /** Begins a block that ends where the reader's bytes end. On nonsense the reader has failed. */
  begin(): void {
    this.#at = this.#raw.bytes.length
    this.#state = STATE_MIN
    const high = this.#next()
    const state = this.#next() + high * 65_536
    if (state < STATE_MIN || state > 0x7fff_ffff) this.#raw.fail()
    else this.#state = state
  }

  /** Where the next symbol stands among the shares of its table. @hot */
  get place(): number {
    return this.#state & SHARE_MASK
  }

  /** Takes the symbol that has this range, which holds the place. @hot */
  take(range: number): void {
    const state = (range & 0xffff) * (this.#state >>> SHARE_BITS) + (this.#state & SHARE_MASK) - (range >>> 16)
    this.#state = state < STATE_MIN ? (state << 16) | this.#next() : state
  }

  /** The twin of `RansSink.bit`; no once the reader has failed. @hot */
  bit(share: number): boolean {
    if (this.#raw.failed) return false
    const isYes = this.place < share
    this.take(isYes ? share : (share << 16) | (STATE_MIN - share))
    return isYes
  }

  /** Whether the block was read to its end and is what its writer made. */
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
  readonly #bank: CodeBank
  readonly #raw: BitReader
  /** By table, then by the highest bits of a place: the symbol whose range holds the first such place. Made when first asked for. */
  readonly #buckets: (Uint8Array | undefined)[] = []

  constructor(block: RansSource, bank: CodeBank, raw: BitReader) {
    this.#block = block
    this.#bank = bank
    this.#raw = raw
  }

  /** @hot */
  symbol(table: number): number {
    if (this.#raw.failed) return 0
    const { place } = this.#block
    const { ranges } = this.#bank
    let symbol = (this.#buckets[table] ?? this.#bucketsOf(table))[place >>> BUCKET_SHIFT]
    let range = ranges[(table << 8) | symbol]
    // Shares add up to all places, so that one symbol holds this.
    while (place >= (range >>> 16) + (range & 0xffff)) range = ranges[(table << 8) | ++symbol]
    this.#block.take(range)
    return symbol
  }

  raw(): BitReader {
    return this.#raw
  }

  #bucketsOf(table: number): Uint8Array {
    const buckets = new Uint8Array(STATE_MIN >>> BUCKET_SHIFT)
    const { ranges } = this.#bank
    let symbol = 0
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      while (bucket << BUCKET_SHIFT >= (ranges[(table << 8) | symbol] >>> 16) + (ranges[(table << 8) | symbol] & 0xffff)) symbol++
      buckets[bucket] = symbol
    }
    this.#buckets[table] = buckets
    return buckets
  }
}

function writeWord(out: BitWriter, word: number): void {
  out.writeBits(((word & 0xff) << 8) | (word >>> 8), 16)
}
