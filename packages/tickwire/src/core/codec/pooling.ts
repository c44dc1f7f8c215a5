/** What pools of tables have in common, of tokens (pool-tables.ts) and of masks (pool-masks.ts): which table is cheapest for what was counted, and counts as a file holds them. */

import { SHARES } from './code-bank.ts'

/** What shares in a file add up to, about: the longest code is of what occurs once in so many times. */
const FILE_SHARES = SHARES >> 3

/** The table that says these symbols, so often each, in fewest bits; `costs` are the bits of each symbol, by table. */
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

/** Counts as whole shares, so that a file of them is small and the same everywhere. */
export function wholeShares(counts: readonly number[]): number[] {
  const sum = counts.reduce((total, each) => total + each, 0)
  return counts.map((each) => Math.round((each * FILE_SHARES) / sum))
}
