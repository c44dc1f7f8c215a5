/**
 * The same symbols at their price, fractions of a bit included: for streams that one receiver reads in order, such as
 * recordings. A tenth smaller than prefix codes where the baseline is the tick before; not copyable.
 *
 * ```
 * words, varint | so many 16-bit words, low byte first | raw bits
 * ```
 *
 * A range coder of the asymmetric kind (rANS): a state of 32 bits, renormalised by 16, shares of 2^15. It encodes
 * backwards, so a block is collected first and written by `finish`; it decodes forwards. Raw bits stand after the words,
 * in order.
 *
 * Invariant: a block ends in the state that it began with; the reader refuses any other.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { CodeBank } from './code-bank.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'

/** The least state: renormalising keeps it at or above. */
const STATE_MIN = 65_536
const SHARE_BITS = 15
const SHARE_MASK = 32_767
/** Symbols of one block: what a recording writes at a time. */
const BLOCK_SYMBOLS_MAX: number = 1 << 18

/** Collects symbols and writes them as one block. */
export class RansSink implements SymbolSink {
  readonly #bank: CodeBank
  /** By symbol: its table and itself, as an index of `CodeBank.ranges`. */
  readonly #symbols = new Uint32Array(BLOCK_SYMBOLS_MAX)
  readonly #words = new Uint16Array(BLOCK_SYMBOLS_MAX)
  readonly #raw: BitWriter
  #count = 0

  /** `rawBytes`: room for the raw bits of a block. */
  constructor(bank: CodeBank, rawBytes: number = 1 << 20) {
    this.#bank = bank
    this.#raw = new BitWriter(new Uint8Array(rawBytes))
  }

  /** A block that would not hold everything, or whose raw bits did not fit: finish earlier. */
  get failed(): boolean {
    return this.#raw.failed || this.#count > BLOCK_SYMBOLS_MAX
  }

  /** @hot */
  symbol(table: number, symbol: number, raw: number, width: number): void {
    this.#symbols[this.#count++] = (table << 8) | symbol
    this.#raw.writeBits(raw, width)
  }

  raw(): BitWriter {
    return this.#raw
  }

  /** Writes the block and begins another. */
  finish(out: BitWriter): void {
    const { ranges } = this.#bank
    const words = this.#words
    let state = STATE_MIN
    let at = words.length
    for (let index = Math.min(this.#count, BLOCK_SYMBOLS_MAX) - 1; index >= 0; index--) {
      const range = ranges[this.#symbols[index]]
      const share = range & 0xffff
      // The state stays below 2^32: a share of 2^15 may take 2^17 times itself.
      if (state >= share * 131_072) {
        words[--at] = state & 0xffff
        state = Math.floor(state / 65_536)
      }
      state = Math.floor(state / share) * 32_768 + (state % share) + (range >>> 16)
    }
    writeVarint(out, words.length - at + 2)
    writeWord(out, state & 0xffff)
    writeWord(out, Math.floor(state / 65_536))
    for (; at < words.length; at++) writeWord(out, words[at])
    this.#raw.finish()
    out.copyBits(this.#raw.bytes, 0, this.#raw.bitLength)
    this.#count = 0
    this.#raw.reset(this.#raw.bytes)
  }
}

/** Reads a block's symbols. */
export class RansSource implements SymbolSource {
  readonly #bank: CodeBank
  /** By table, then by place: the symbol whose range holds it. Made when first asked for. */
  readonly #places: (Uint8Array | undefined)[] = []
  readonly #words = new Uint16Array(BLOCK_SYMBOLS_MAX)
  #raw = new BitReader(new Uint8Array(0))
  #count = 0
  #at = 0
  #state = STATE_MIN

  constructor(bank: CodeBank) {
    this.#bank = bank
  }

  /** Begins a block; the reader goes on with its raw bits. On nonsense it has failed. */
  from(reader: BitReader): void {
    this.#raw = reader
    this.#at = 0
    this.#count = readVarint(reader)
    if (this.#count < 2 || this.#count > BLOCK_SYMBOLS_MAX || this.#count * 16 > reader.bitsLeft) reader.fail()
    if (reader.failed) this.#count = 0
    for (let word = 0; word < this.#count; word++) this.#words[word] = readWord(reader)
    this.#state = this.#next() + this.#next() * 65_536
    if (this.#state < STATE_MIN) reader.fail()
  }

  /** @hot */
  symbol(table: number): number {
    if (this.#raw.failed) return 0
    const place = this.#state % 32_768
    const symbol = this.#placesOf(table)[place]
    const range = this.#bank.ranges[(table << 8) | symbol]
    this.#state = (range & 0xffff) * Math.floor(this.#state / 32_768) + (place & SHARE_MASK) - (range >>> 16)
    if (this.#state < STATE_MIN) this.#state = this.#state * 65_536 + this.#next()
    return symbol
  }

  raw(): BitReader {
    return this.#raw
  }

  /** Whether the block was read to its end and is what its writer made. */
  finish(): boolean {
    if (this.#at !== this.#count || this.#state !== STATE_MIN) this.#raw.fail()
    return !this.#raw.failed
  }

  #next(): number {
    if (this.#at < this.#count) return this.#words[this.#at++]
    this.#raw.fail()
    return 0
  }

  #placesOf(table: number): Uint8Array {
    const known = this.#places[table]
    if (known !== undefined) return known
    const places = new Uint8Array(1 << SHARE_BITS)
    const { ranges, codes } = this.#bank
    for (let symbol = 0; symbol < codes[table].lengths.length; symbol++) {
      const range = ranges[(table << 8) | symbol]
      places.fill(symbol, range >>> 16, (range >>> 16) + (range & 0xffff))
    }
    this.#places[table] = places
    return places
  }
}

function writeWord(out: BitWriter, word: number): void {
  out.writeBits(((word & 0xff) << 8) | (word >>> 8), 16)
}

function readWord(reader: BitReader): number {
  const bytes = reader.readBits(16)
  return ((bytes & 0xff) << 8) | (bytes >>> 8)
}
