/**
 * Shared parts of table pooling, for tokens (pool-tables.ts) and masks (pool-masks.ts): the cheapest table for some
 * counts, and counts as a file has them.
 *
 * Files are sent while a match runs (ADR 27), so their content must be worth its bytes: counts are only as precise as
 * the codes, and contexts change tables only where that pays.
 */

import { PREFIX_BITS_MAX } from '../base/limits.ts'
import { prefixLengths } from '../bits/prefix-code.ts'
import { toShares } from './code-bank.ts'

/** The table that encodes these symbol counts in the fewest bits; `costs` are the bits of each symbol, by table. */
export function cheapest(costs: readonly Float64Array[], counts: ReadonlyMap<number, number>): number {
  let best = 0
  let least = Infinity
  costs.forEach((table, index) => {
    let cost = 0
    for (const [symbol, count] of counts) cost += count * table[symbol]
    if (cost < least) {
      least = cost
      best = index
    }
  })
  return best
}

/** The bits of these symbol counts with every table. */
export function pricesOf(costs: readonly Float64Array[], counts: ReadonlyMap<number, number>): Float64Array {
  return Float64Array.from(costs, (table) => {
    let price = 0
    for (const [symbol, count] of counts) price += count * table[symbol]
    return price
  })
}

/**
 * A table for each place, so that the sum of prices and of changes of table is least. `prices` are the bits of each
 * place, by table; a change costs `changeBits`. A context with three observations does not leave its neighbours' table
 * for two bits: recording the change would cost more, and it was most likely chance.
 */
export function cheapestWalk(prices: readonly Float64Array[], changeBits: number): number[] {
  /** Indexed by place, then by table: the table of the place before, on the cheapest path. */
  const cameFrom: Uint16Array[] = []
  let sums = new Float64Array(prices[0]?.length ?? 0)
  for (const price of prices) {
    const least = leastOf(sums)
    const changed = sums[least] + changeBits
    cameFrom.push(Uint16Array.from(sums, (sum, table) => (sum <= changed ? table : least)))
    sums = sums.map((sum, table) => Math.min(sum, changed) + price[table])
  }
  const walk: number[] = []
  let table = leastOf(sums)
  for (const from of cameFrom.reverse()) {
    walk.push(table)
    table = from[table]
  }
  return walk.reverse()
}

function leastOf(values: Float64Array): number {
  return values.indexOf(values.reduce((least, value) => Math.min(least, value), Infinity))
}

/**
 * Counts as a file has them: powers of two, from the lengths of the codes that the counts make, and 0 for the longest.
 * They make the same codes again, except for the rarest symbols, and take a third of the bytes of the counts
 * themselves.
 */
export function roughCounts(counts: readonly number[]): number[] {
  return Array.from(prefixLengths(toShares(counts)), (length) =>
    length === PREFIX_BITS_MAX ? 0 : 1 << (PREFIX_BITS_MAX - 1 - length),
  )
}
