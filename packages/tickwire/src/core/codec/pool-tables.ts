/**
 * Contexts with similar symbol frequencies share a table.
 *
 * Starts from the built-in shape that fits each context best and groups contexts by shape. Then it moves each context
 * to the table that encodes it in the fewest bits, and makes each table the sum of its contexts again: a few rounds of
 * Lloyd's algorithm, with bits as the distance.
 */

import { log2 } from '../base/math.ts'
import { builtInToken } from './built-in-tables.ts'
import { cheapest, cheapestWalk, pricesOf, roughCounts } from './pooling.ts'
import type { RowPlan } from './row-plan.ts'
import type { SymbolCounter } from './symbol-counter.ts'
import * as tables from './row-tables.ts'
import { TOKEN_SYMBOLS } from './token.ts'

/** The most tables of one entity: 48 cost 0.5 % more, 160 save nothing (docs/adr, the snapshot codec). */
export const POOL_MAX = 128
const ROUNDS = 5
/** The contexts of an item: by its motion class, then by the residuals near it. */
const CLASSES_SHIFT = 3
const CLASS_CONTEXTS_SHIFT = tables.TOKEN_CONTEXTS_SHIFT - CLASSES_SHIFT
/** The most frequent class of nearby residual: a small one. */
const NEAR_USUAL = 2
/** How many observations a built-in shape counts as in a table, so that no symbol is impossible. */
const TRUST = 6
/** How many observations a context without any counts as. */
const UNSEEN = 4
/**
 * The cost of a run in the file as sent, including what follows it (ADR 27): 6 make the arena's a tenth longer, 24 save
 * a twentieth more and begin to cost bits.
 */
const RUN_BITS = 16

interface Context {
  readonly age: number
  readonly place: number
  readonly counts: ReadonlyMap<number, number>
  readonly shape: readonly number[]
  readonly total: number
}

/** Pooled tables, and by age class and context the index of the table to use. */
export interface Pool {
  readonly tables: readonly (readonly number[])[]
  readonly tokens: readonly (readonly number[])[]
}

export function poolTables(plan: RowPlan, counter: SymbolCounter, seen: readonly boolean[]): Pool {
  const contexts = contextsOf(plan, counter, seen)
  const byShape = new Map<readonly number[], Context[]>()
  for (const context of contexts) byShape.set(context.shape, [...(byShape.get(context.shape) ?? []), context])
  const weight = (group: readonly Context[]): number => group.reduce((sum, { total }) => sum + total, 0)
  const groups = [...byShape.values()].sort((a, b) => weight(b) - weight(a)).slice(0, POOL_MAX)
  // The remaining places go to the contexts with the most symbols.
  const single = contexts
    .toSorted((a, b) => b.total - a.total)
    .slice(0, POOL_MAX - groups.length)
    .map((context) => [context])
  let members = [...groups, ...single]
  let frequencies = members.map(sumOf)
  for (let round = 0; round < ROUNDS; round++) {
    const costs = frequencies.map(costsOf)
    members = frequencies.map(() => [])
    for (const context of contexts) members[cheapest(costs, context.counts)].push(context)
    members = members.filter((group) => group.length > 0)
    frequencies = members.map(sumOf)
  }
  const used = frequencies.length > 0 ? frequencies : [builtInToken(plan, 0, 1, 0, 0)]
  return {
    // Symbols at the end that never occur are left out.
    tables: used.map(roughCounts).map((table) => table.slice(0, 1 + table.findLastIndex((share) => share > 0))),
    tokens: seen.map((isSeen, age) => (isSeen ? assign(plan, counter, age, used) : [])),
  }
}

function contextsOf(plan: RowPlan, counter: SymbolCounter, seen: readonly boolean[]): Context[] {
  const found: Context[] = []
  for (let age = 0; age < seen.length; age++) {
    if (!seen[age]) continue
    for (let place = 0; place < plan.count << tables.TOKEN_CONTEXTS_SHIFT; place++) {
      const item = place >> tables.TOKEN_CONTEXTS_SHIFT
      const counts = counter.tokens(age, item, place & 255)
      if (counts === undefined) continue
      found.push({
        age,
        place,
        counts,
        total: totalOf(counts),
        shape: builtInToken(plan, item, age, (place >> 5) & 7, place & 7),
      })
    }
  }
  return found
}

/**
 * The table of each context of an age class: the cheapest for the symbols counted there, with the built-in shape as a
 * prior, and preferring runs of the same table. For a context without symbols, those of its whole class count a little,
 * or the built-in shape.
 */
function assign(plan: RowPlan, counter: SymbolCounter, age: number, used: readonly (readonly number[])[]): number[] {
  const costs = used.map(costsOf)
  const leaning = (item: number, motion: number, near: number, seen: Map<number, number>): Map<number, number> => {
    builtInToken(plan, item, age, motion, near).forEach((share, symbol) => {
      if (share > 1e-4) seen.set(symbol, (seen.get(symbol) ?? 0) + share * TRUST)
    })
    return seen
  }
  return cheapestWalk(
    Array.from({ length: plan.count << CLASSES_SHIFT }, (_, place): Float64Array[] => {
      const item = place >> CLASSES_SHIFT
      const motion = place & 7
      const contexts = Array.from({ length: 1 << CLASS_CONTEXTS_SHIFT }, (_, context) =>
        counter.tokens(age, item, (motion << CLASS_CONTEXTS_SHIFT) | context),
      )
      const seen = new Map<number, number>()
      for (const counts of contexts)
        for (const [symbol, count] of counts ?? []) seen.set(symbol, (seen.get(symbol) ?? 0) + count)
      const share = UNSEEN / (TRUST + totalOf(seen))
      const unseen = pricesOf(costs, leaning(item, motion, NEAR_USUAL, seen)).map((bits) => bits * share)
      return contexts.map((counts, context) =>
        counts === undefined ? unseen : pricesOf(costs, leaning(item, motion, context & 7, new Map(counts))),
      )
    }).flat(),
    RUN_BITS,
  )
}

function totalOf(counts: ReadonlyMap<number, number>): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0)
}

function sumOf(group: readonly Context[]): number[] {
  const sum = new Array<number>(TOKEN_SYMBOLS).fill(0)
  for (const { counts, shape } of group) {
    for (const [symbol, count] of counts) sum[symbol] += count
    const total = shape.reduce((all, each) => all + each, 0)
    shape.forEach((share, symbol) => { sum[symbol] += (share / total) * (TRUST / group.length) })
  }
  return sum
}

function costsOf(frequencies: readonly number[]): Float64Array {
  const sum = frequencies.reduce((total, each) => total + each, 0)
  return Float64Array.from(frequencies, (each) => Math.min(14, log2(sum / Math.max(each, sum / 16_384))))
}
