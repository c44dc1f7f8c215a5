/**
 * Trains priors on a game's rows: how often each symbol occurs, in which context. Offline, in seconds; the result is
 * data.
 *
 * Three passes over the same rows. First: how much of a motion continues (the weight with the shortest residuals) and
 * which changes occur most (the activities). Second: how motions bend. Third: how often each symbol occurs. Contexts
 * with similar frequencies then share a table: a pool of 128 serves an entity as well as thousands would.
 *
 * Never test on the training data.
 */

import type { Schema } from '../schema/schema.ts'
import { BendSearch } from './bend-search.ts'
import { builtInAge } from './built-in-tables.ts'
import { CodeBank } from './code-bank.ts'
import { poolMasks } from './pool-masks.ts'
import { poolTables } from './pool-tables.ts'
import { roughCounts } from './pooling.ts'
import { PRIORS_FORM, toRuns, type AgePriors, type EntityPriors } from './priors.ts'
import { schemaGrid, type MakeGrid } from './rotation.ts'
import type { RowPair } from './row-coder.ts'
import { planRow } from './row-plan.ts'
import type { Habits } from './row-predictor.ts'
import * as tables from './row-tables.ts'
import { SymbolCounter } from './symbol-counter.ts'
import { WeightSearch } from './weight-search.ts'

/**
 * Calls `see` for every row to train on, the same rows at each call: with baseline, age and, if available, older row.
 */
export type ShowRows = (see: (pair: RowPair) => void) => void

/** With fewer rows in an age class the built-in tables are better. */
const ROWS_MIN = 200

/** Trains on rows. `version` identifies these priors; the two sides compare it. */
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
  const ages = straight.map(({ weights }, age) => ({
    weights,
    bends: bendSearch.bends(age),
    activities: search.activities(age),
  }))
  const counter = new SymbolCounter(schema, plan, ages, makeGrid)
  show((pair) => counter.see(pair))
  const seen = ages.map((_, age) => search.rows[age] >= ROWS_MIN)
  const pool = poolTables(plan, counter, seen)
  const masks = poolMasks(plan, counter, seen)
  return {
    form: PRIORS_FORM, version, ticksPerSecond, items: plan.paths, tables: pool.tables, masks: masks.masks,
    ages: ages.map(({ weights, bends, activities }, age): AgePriors | null => !seen[age] ? null : {
      weights: toRuns([...weights]), bends: toRuns([...bends]), activities,
      tokens: toRuns(pool.tokens[age]),
      dropped: Array.from({ length: plan.count }, (_, item) => dropped(counter, age, item)),
      masks: toRuns(masks.places[age]),
    }),
  }
}

function dropped(counter: SymbolCounter, age: number, item: number): readonly number[] {
  const counts = counter.dropped(age, item)
  return counts === undefined ? [] : roughCounts(Array.from({ length: 3 }, (_, turn) => (counts.get(turn) ?? 0) + 0.5))
}
