/**
 * Learns a game's habits from its rows: how often what is said, in which context. Offline, in seconds; the result is data.
 *
 * Three passes over the same rows: how much of a motion goes on (the weight under which residuals are shortest) and which
 * changes occur most (the activities); how motions bend; and how often each symbol occurs. Contexts that speak alike then
 * share a table: a pool of 128 serves an entity as well as thousands would.
 *
 * Never test on what you trained on.
 */

import type { Schema } from '../schema/schema.ts'
import { BendSearch } from './bend-search.ts'
import { builtInAge } from './built-in-tables.ts'
import { CodeBank, SHARES } from './code-bank.ts'
import { MASK_RARE, MASKS_MAX } from './mask-code.ts'
import { poolTables } from './pool-tables.ts'
import { PRIORS_FORM, type AgePriors, type EntityPriors, type MaskPriors } from './priors.ts'
import { schemaGrid, type MakeGrid } from './rotation.ts'
import type { RowPair } from './row-coder.ts'
import { planRow, type RowPlan } from './row-plan.ts'
import type { Habits } from './row-predictor.ts'
import * as tables from './row-tables.ts'
import { SymbolCounter } from './symbol-counter.ts'
import { WeightSearch } from './weight-search.ts'

/** Shows every row to learn from, the same each time it is called: with its baseline, age and, if held, older row. */
export type ShowRows = (see: (pair: RowPair) => void) => void

/** Rows of an age class below which built-in tables know better. */
const ROWS_MIN = 200
/** How many rows' worth of trust the habits of a chunk have against those of one of its contexts. */
const MARGINAL_ROWS = 20

/** Learns from rows. `version` tells these priors from others; it is what two sides compare. */
export function train(
  schema: Schema, ticksPerSecond: number, version: number, show: ShowRows, makeGrid: MakeGrid = schemaGrid,
): EntityPriors {
  const plan = planRow(schema, ticksPerSecond)
  const search = new WeightSearch(schema, plan, makeGrid)
  show((pair) => search.see(pair))
  const straight = Array.from({ length: tables.AGE_CLASSES }, (_, age): Habits => ({
    weights: search.rows[age] < ROWS_MIN ? builtInAge(plan, new CodeBank(), age).weights : search.weights(age),
    bends: new Int16Array(plan.count << tables.BENDS_SHIFT),
  }))
  const bendSearch = new BendSearch(plan, straight)
  show((pair) => bendSearch.see(pair))
  const ages = straight.map(({ weights }, age) => ({ weights, bends: bendSearch.bends(age), activities: search.activities(age) }))
  const counter = new SymbolCounter(schema, plan, ages, makeGrid)
  show((pair) => counter.see(pair))
  const seen = ages.map((_, age) => search.rows[age] >= ROWS_MIN)
  const pool = poolTables(plan, counter, seen)
  return {
    form: PRIORS_FORM, version, ticksPerSecond, items: plan.paths, tables: pool.tables,
    ages: ages.map(({ weights, bends, activities }, age): AgePriors | null => !seen[age] ? null : {
      weights: [...weights], bends: [...bends], activities,
      tokens: pool.tokens[age],
      dropped: Array.from({ length: plan.count }, (_, item) => dropped(counter, age, item)),
      masks: masksOf(plan, counter, age),
    }),
  }
}

function dropped(counter: SymbolCounter, age: number, item: number): readonly number[] {
  const counts = counter.dropped(age, item)
  return counts === undefined ? [] : scaled(Array.from({ length: 3 }, (_, turn) => (counts.get(turn) ?? 0) + 0.5))
}

function masksOf(plan: RowPlan, counter: SymbolCounter, age: number): (MaskPriors | null)[] {
  const chunkCount = plan.chunks.length - 1
  return Array.from({ length: chunkCount }, (_, chunk) => {
    const contexts = Array.from({ length: 1 << tables.MASK_CONTEXTS_SHIFT }, (_, context) => counter.mask(age, chunk, context))
    const marginal = new Map<number, number>()
    let sum = 0
    for (const counts of contexts) {
      for (const [mask, count] of counts ?? []) {
        marginal.set(mask, (marginal.get(mask) ?? 0) + count)
        sum += count
      }
    }
    return contexts.map((counts) => (sum === 0 ? null : maskPriors(counts ?? new Map(), marginal, sum)))
  }).flat()
}

/** The most frequent masks of a context, its few sights filled up with those of its chunk. */
function maskPriors(counts: ReadonlyMap<number, number>, marginal: ReadonlyMap<number, number>, sum: number): MaskPriors {
  const weight = (mask: number): number => (counts.get(mask) ?? 0) + (MARGINAL_ROWS * (marginal.get(mask) ?? 0)) / sum
  const all = [...marginal.keys()].sort((a, b) => weight(b) - weight(a) || a - b)
  const heard = all.reduce((total, mask) => total + weight(mask), 0)
  const frequent = all.filter((mask) => weight(mask) * MASK_RARE > heard).slice(0, MASKS_MAX)
  const rest = all.slice(frequent.length).reduce((total, mask) => total + weight(mask), 1)
  const masks = frequent.sort((a, b) => a - b)
  return { masks, counts: scaled([...masks.map(weight), rest]) }
}

/** Counts as whole shares, so that a file of them is small and the same everywhere. */
function scaled(counts: readonly number[]): number[] {
  const sum = counts.reduce((total, each) => total + each, 0)
  return counts.map((each) => (each === 0 ? 0 : Math.max(1, Math.round((each * (SHARES - 1024)) / sum))))
}
