/**
 * The tables of a bank as a range-coded block uses them. They start with the bank's shares and adapt to the symbols
 * that occur, so that a game unlike those of the built-in tables costs more only at first. Both sides adapt alike, so
 * nothing of it is transmitted.
 *
 * ```
 * frequency of a symbol     its share in the bank, and 1024 for every occurrence in this block
 * shares                    computed from the frequencies, as in a bank, after 1, 2, 4, 8 and 16 uses of the table and
 *                           after every 32
 * ```
 *
 * Updating now and then instead of each time costs less than 1 % of the bits, and saves almost all of the time. Each
 * block starts over.
 */

import { SHARES, type CodeBank } from './code-bank.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const ALL = SHARES
/** The weight of one occurrence, beside the shares. */
const WEIGHT = 1024
const USES_MASK = 31

/** One adaptive table. */
class LearningTable {
  /** The block that its state belongs to. */
  block = 0
  uses = 0
  readonly frequencies: Float64Array
  /** Indexed by symbol: where its range begins; the last entry is the end of all ranges. */
  readonly bounds: Uint16Array

  constructor(count: number) {
    this.frequencies = new Float64Array(count)
    this.bounds = new Uint16Array(count + 1)
  }

  /** Computes shares from frequencies. @hot */
  renew(): void {
    const { frequencies, bounds } = this
    const count = frequencies.length
    const spare = ALL - count
    const sum = ALL + WEIGHT * this.uses
    let first = 0
    let most = 0
    let mostShare = 0
    for (let symbol = 0; symbol < count; symbol++) {
      const share = 1 + Math.floor((frequencies[symbol] * spare) / sum)
      bounds[symbol] = first
      first += share
      if (share <= mostShare) continue
      mostShare = share
      most = symbol
    }
    const left = ALL - first
    for (let symbol = most + 1; symbol <= count; symbol++) bounds[symbol] += left
    bounds[count] = ALL
  }
}

export class LearningTables {
  readonly bank: CodeBank
  readonly #tables: LearningTable[] = []
  #block = 1

  constructor(bank: CodeBank) {
    this.bank = bank
  }

  /** Starts a block. */
  begin(): void {
    this.#block++
  }

  /** The symbol whose range contains a place. @hot */
  find(table: number, place: number): number {
    const { bounds } = this.#at(table)
    let low = 0
    let high = bounds.length - 1
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (bounds[middle] <= place) low = middle
      else high = middle
    }
    return low
  }

  /** The range of a symbol, first << 16 | share, for its encoding. Counts the occurrence. @hot */
  take(table: number, symbol: number): number {
    const learning = this.#at(table)
    const { bounds } = learning
    const first = bounds[symbol]
    const range = (first << 16) | (bounds[symbol + 1] - first)
    const uses = learning.uses + 1
    learning.uses = uses
    learning.frequencies[symbol] += WEIGHT
    if ((uses & (uses - 1)) === 0 || (uses & USES_MASK) === 0) learning.renew()
    return range
  }

  #at(table: number): LearningTable {
    const learning = this.#tables[table]
    return learning !== undefined && learning.block === this.#block ? learning : this.#begin(table)
  }

  #begin(table: number): LearningTable {
    const { ranges, codes } = this.bank
    const count = codes[table].lengths.length
    const learning = (this.#tables[table] ??= new LearningTable(count))
    for (let symbol = 0; symbol < count; symbol++) {
      const range = ranges[(table << 8) | symbol]
      learning.frequencies[symbol] = range & 0xffff
      learning.bounds[symbol] = range >>> 16
    }
    learning.bounds[count] = ALL
    learning.uses = 0
    learning.block = this.#block
    return learning
  }
}
