/**
 * Contexts with similar masks share a table, as contexts of tokens do (pool-tables.ts).
 *
 * A chunk has 64 contexts in each age class. A match fills a few dozen of them, many with very little. Each context
 * uses the totals of the chunk at that age as a prior. Equal contexts become one; the others are grouped by the bits
 * that they would cost with each other's table.
 */

import { log2 } from '../base/math.ts'
import { MASK_RARE, MASKS_MAX } from './mask-code.ts'
import { cheapest, roughCounts } from './pooling.ts'
import { BUILT_IN, type MaskPriors } from './priors.ts'
import type { RowPlan } from './row-plan.ts'
import type { SymbolCounter } from './symbol-counter.ts'
import * as tables from './row-tables.ts'

/**
 * The most tables of one chunk's masks: 24 cost 0.15 to 0.4 % more for a file that is a seventh smaller, 96 save
 * nothing (docs/adr/0018).
 */
const POOL_MAX = 48
const ROUNDS = 4
/** How many rows the totals of a chunk count as, against those of one of its contexts. */
const MARGINAL_ROWS = 20
/** Rows in which a mask must occur to be listed: to encode it bit by bit once costs no more than to list it. */
const LISTED_ROWS = 2
/** A code has 12 bits at most. */
const COST_MAX = 12
const CONTEXTS = 1 << tables.MASK_CONTEXTS_SHIFT

/** The counts of one context, including its prior. */
interface Context {
  /** The places that it stands for: age class << MASK_CONTEXTS_SHIFT | context. */
  readonly places: number[]
  readonly weights: ReadonlyMap<number, number>
  readonly total: number
}

/** Pooled tables, and by age class, then by chunk and context, the index of the table to use, or `BUILT_IN`. */
export interface MaskPool {
  readonly masks: readonly MaskPriors[]
  readonly places: readonly (readonly number[])[]
}

export function poolMasks(plan: RowPlan, counter: SymbolCounter, seen: readonly boolean[]): MaskPool {
  const chunkCount = plan.chunks.length - 1
  const masks: MaskPriors[] = []
  const places = seen.map((isSeen) => (isSeen ? new Array<number>(chunkCount * CONTEXTS).fill(BUILT_IN) : []))
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const contexts = contextsOf(counter, seen, chunk)
    for (const group of gather(contexts, plan.chunks[chunk + 1] - plan.chunks[chunk])) {
      for (const place of group.flatMap((context) => context.places)) {
        places[place >> tables.MASK_CONTEXTS_SHIFT][chunk * CONTEXTS + (place & (CONTEXTS - 1))] = masks.length
      }
      masks.push(priorsOf(sumOf(group)))
    }
  }
  return { masks, places }
}

/** The contexts of a chunk. Those without observations are one context in each age class. */
function contextsOf(counter: SymbolCounter, seen: readonly boolean[], chunk: number): Context[] {
  return seen.flatMap((isSeen, age): Context[] => {
    if (!isSeen) return []
    const counts = Array.from({ length: CONTEXTS }, (_, context) => counter.mask(age, chunk, context))
    const habits = new Map<number, number>()
    for (const each of counts) for (const [mask, count] of each ?? []) habits.set(mask, (habits.get(mask) ?? 0) + count)
    const sum = [...habits.values()].reduce((total, each) => total + each, 0)
    if (sum === 0) return []
    const leaning = (own: ReadonlyMap<number, number>): Map<number, number> =>
      new Map([...habits].map(([mask, count]) => [mask, (own.get(mask) ?? 0) + (MARGINAL_ROWS * count) / sum]))
    const unseen: Context = { places: [], weights: leaning(new Map()), total: MARGINAL_ROWS }
    const found = [unseen]
    counts.forEach((own, context) => {
      const place = age << tables.MASK_CONTEXTS_SHIFT | context
      if (own === undefined) unseen.places.push(place)
      else
        found.push({
          places: [place],
          weights: leaning(own),
          total: MARGINAL_ROWS + [...own.values()].reduce((total, each) => total + each, 0),
        })
    })
    return found
  })
}

/** Groups of contexts that are cheapest with one table. */
function gather(contexts: readonly Context[], width: number): (readonly Context[])[] {
  let groups: Context[][] = contexts
    .toSorted((a, b) => b.total - a.total)
    .slice(0, POOL_MAX)
    .map((context) => [context])
  for (let round = 0; round < ROUNDS; round++) {
    const costs = groups.map((group) => costsOf(sumOf(group), width))
    groups = groups.map(() => [])
    for (const context of contexts) groups[cheapest(costs, context.weights)].push(context)
    groups = groups.filter((group) => group.length > 0)
  }
  return groups
}

function sumOf(group: readonly Context[]): ReadonlyMap<number, number> {
  const sum = new Map<number, number>()
  for (const { weights } of group) for (const [mask, weight] of weights) sum.set(mask, (sum.get(mask) ?? 0) + weight)
  return sum
}

/** The bits of each mask of a chunk. Masks that are not listed are encoded bit by bit. */
function costsOf(weights: ReadonlyMap<number, number>, width: number): Float64Array {
  const sum = [...weights.values()].reduce((total, each) => total + each, 0)
  const costs = new Float64Array(1 << width).fill(Math.min(COST_MAX, log2(sum + 1)) + width)
  for (const [mask, weight] of weights) costs[mask] = Math.min(costs[mask], Math.min(COST_MAX, log2(sum / weight)))
  return costs
}

/** The most frequent masks, the count of each, and last the count of all others. */
function priorsOf(weights: ReadonlyMap<number, number>): MaskPriors {
  const all = [...weights].sort(([a, more], [b, less]) => less - more || a - b)
  const sum = all.reduce((total, [, weight]) => total + weight, 0)
  const frequent = all
    .filter(([, weight], at) => (weight >= LISTED_ROWS || at === 0) && weight * MASK_RARE > sum)
    .slice(0, MASKS_MAX)
  const rest = all.slice(frequent.length).reduce((total, [, weight]) => total + weight, 1)
  const listed = frequent.sort(([a], [b]) => a - b)
  return { masks: listed.map(([mask]) => mask), counts: roughCounts([...listed.map(([, weight]) => weight), rest]) }
}
