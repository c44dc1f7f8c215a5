/** Random tables, not trained on a match: any valid priors, for every entity of a game. */

import {
  BUILT_IN, PRIORS_FORM, toRuns, type AgePriors, type EntityPriors, type MaskPriors,
} from '../../packages/tickwire/src/core/codec/priors.ts'
import { ITEM, planRow, SLOT, type RowPlan } from '../../packages/tickwire/src/core/codec/row-plan.ts'
import * as tables from '../../packages/tickwire/src/core/codec/row-tables.ts'
import type { Priors } from '../../packages/tickwire/src/core/codec/snapshot-codec.ts'
import { TOKEN_SYMBOLS } from '../../packages/tickwire/src/core/codec/token.ts'
import type { Entity } from '../../packages/tickwire/src/core/schema/definition.ts'

/** A source of random whole numbers and decisions. */
export interface Chances {
  word(): number
  chance(part: number): boolean
}

const TABLES = 4

/** Draws priors. `version` distinguishes them from others. */
export function drawPriors(entities: readonly Entity[], tickRate: number, version: number, dice: Chances): Priors {
  return Object.fromEntries(
    entities
      .filter(() => dice.chance(0.8))
      .map(({ schema }) => [schema.name, drawEntity(planRow(schema, tickRate), tickRate, version, dice)]),
  )
}

/** Draws those of one entity. */
export function drawEntity(plan: RowPlan, ticksPerSecond: number, version: number, dice: Chances): EntityPriors {
  const chunkCount = plan.chunks.length - 1
  const below = (count: number): number => dice.word() % count
  const counts = (length: number): number[] =>
    Array.from({ length }, () => (dice.chance(0.3) ? 0 : below(1 << below(13))))
  const widthOf = (chunk: number): number => plan.chunks[chunk + 1]! - plan.chunks[chunk]!
  const someMasks = (chunk: number): number[] =>
    [...new Set(Array.from({ length: 1 + below(9) }, () => below(1 << widthOf(chunk))))].sort((a, b) => a - b)
  const masks = Array.from({ length: chunkCount * TABLES }, (_, at): MaskPriors => {
    const listed = someMasks(Math.floor(at / TABLES))
    return { masks: listed, counts: counts(listed.length + 1) }
  })
  const list = (length: number, draw: (at: number) => number): readonly number[] =>
    toRuns(Array.from({ length }, (_, at) => draw(at)))
  /** Neighbours are often alike. */
  const inRows = (draw: (at: number) => number): ((at: number) => number) => {
    let last = draw(0)
    let lastRow = 0
    return (at) => {
      if (at >> tables.MASK_CONTEXTS_SHIFT !== lastRow || dice.chance(0.2)) last = draw(at)
      lastRow = at >> tables.MASK_CONTEXTS_SHIFT
      return last
    }
  }
  const drawAge = (): AgePriors => ({
    weights: list(plan.count << tables.WEIGHTS_SHIFT, () => below(tables.WEIGHT_MAX + 1)),
    bends: list(plan.count << tables.BENDS_SHIFT, () =>
      dice.chance(0.9) ? 0 : below(2 * tables.BEND_MAX + 1) - tables.BEND_MAX,
    ),
    tokens: list(
      plan.count << tables.TOKEN_CONTEXTS_SHIFT,
      inRows(() => below(TABLES)),
    ),
    dropped: Array.from({ length: plan.count }, (_, item) =>
      plan.slots[(item << SLOT.shift) + SLOT.kind] === ITEM.dropped && dice.chance(0.5) ? counts(3) : [],
    ),
    activities: Array.from({ length: chunkCount }, (_, chunk) => someMasks(chunk)),
    masks: list(
      chunkCount << tables.MASK_CONTEXTS_SHIFT,
      inRows((at) => (dice.chance(0.2) ? BUILT_IN : (at >> tables.MASK_CONTEXTS_SHIFT) * TABLES + below(TABLES))),
    ),
  })
  return {
    form: PRIORS_FORM,
    version,
    ticksPerSecond,
    items: plan.paths,
    tables: Array.from({ length: plan.count === 0 ? 1 : TABLES }, () => counts(below(TOKEN_SYMBOLS + 1))),
    masks,
    ages: Array.from({ length: tables.AGE_CLASSES }, () => (dice.chance(0.4) ? null : drawAge())),
  }
}
