/**
 * Frequency tables of symbols, ready for writing and reading: all tables of a coder in three flat arrays.
 *
 * ```
 * entries   by table << 8 | symbol             code << 4 | length                what is written
 * look      by table << 8 | the next 8 bits    symbol << 4 | length, or 0        what is read; 0 = the code is longer
 * ranges    by table << 8 | symbol             first << 16 | share               parts of 2^15, for range coders
 * ```
 *
 * A table is frequencies; the codes are computed from them (`prefixLengths`), the same on every machine. Every symbol
 * of a table has a code, however rare, so that everything can be encoded.
 */

import { assert } from '../base/assert.ts'
import { prefixCode, prefixLengths, type PrefixCode } from '../bits/prefix-code.ts'

/** The sum of the shares of a table. */
export const SHARES = 32_768
/** The most symbols of a table: entries are addressed by 8 bits. */
export const SYMBOLS_MAX = 256

export class CodeBank {
  entries: Uint16Array = new Uint16Array(0)
  look: Uint16Array = new Uint16Array(0)
  ranges: Uint32Array = new Uint32Array(0)
  /** For codes of more than 8 bits. */
  readonly codes: PrefixCode[] = []
  readonly #known = new Map<readonly number[], number>()

  /** The number of the table with these frequencies; the same list is stored once. */
  add(frequencies: readonly number[]): number {
    const known = this.#known.get(frequencies)
    if (known !== undefined) return known
    const shares = toShares(frequencies)
    const table = this.codes.length
    this.#known.set(frequencies, table)
    this.#room(table + 1)
    const code = prefixCode(prefixLengths(shares))
    this.codes.push(code)
    this.look.set(code.look, table << 8)
    let first = 0
    shares.forEach((share, symbol) => {
      this.entries[(table << 8) | symbol] = (code.codes[symbol] << 4) | code.lengths[symbol]
      this.ranges[(table << 8) | symbol] = (first << 16) | share
      first += share
    })
    return table
  }

  /** Doubles, so that adding tables one by one stays cheap. */
  #room(tables: number): void {
    if (this.entries.length >= tables << 8) return
    const size = Math.max(16, 1 << (32 - Math.clz32(tables - 1))) << 8
    this.entries = grown(this.entries, new Uint16Array(size))
    this.look = grown(this.look, new Uint16Array(size))
    this.ranges = grown(this.ranges, new Uint32Array(size))
  }
}

/** Whole shares of 2^15, at least 1 each, in proportion. */
export function toShares(frequencies: readonly number[]): number[] {
  const count = frequencies.length
  assert(count >= 2 && count <= SYMBOLS_MAX, 'a table has 2 to 256 symbols')
  const sum = frequencies.reduce((total, each) => total + each, 0)
  const spare = SHARES - count
  const shares = frequencies.map((each) => 1 + (sum > 0 ? Math.floor((each * spare) / sum) : 0))
  // The remainder of rounding goes to the most frequent symbol, where it matters least.
  const most = shares.indexOf(Math.max(...shares))
  shares[most] += SHARES - shares.reduce((total, each) => total + each, 0)
  return shares
}

function grown<T extends Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
