/**
 * The result of training, as plain data for a JSON file that a game ships with its schema.
 *
 * It has frequencies, only as precise as the codes that are made of them (pooling.ts). Both sides must have the same
 * priors; their fingerprint is computed from `priorsText`.
 *
 * Thousands of contexts share a few tables, and neighbours mostly use the same. A file lists them as runs, which makes
 * it small enough for a page.
 *
 * Nothing here is trusted: a file may be stale or torn. `checkPriors` reports what is wrong with it, by path.
 */

import { ConfigError } from '../base/assert.ts'
import { maskCodeOf, MASKS_MAX } from './mask-code.ts'
import { builtInAge } from './built-in-tables.ts'
import { CodeBank, SHARES, SYMBOLS_MAX } from './code-bank.ts'
import type { RowPlan } from './row-plan.ts'
import * as tables from './row-tables.ts'
import { TOKEN_SYMBOLS } from './token.ts'

/** In place of a mask table: the built-in one. */
export const BUILT_IN = -1
/** The format of this file; a different number is a different format. */
export const PRIORS_FORM = 3
export const PRIORS_VERSION_MAX: number = 2 ** 31 - 1

/** The masks that have symbols, the count of each, and last the count of all others. */
export interface MaskPriors {
  readonly masks: readonly number[]
  readonly counts: readonly number[]
}

/** A list as values and repeat counts: 7, 7, 7, 2 is 7, 3, 2, 1. */
export type Runs = readonly number[]

/** The result for one age class. */
export interface AgePriors {
  /** Eight per item, as `AgeTables.weights`. */
  readonly weights: Runs
  /** Sixteen per item, as `AgeTables.bends`. */
  readonly bends: Runs
  /** Indexed by item and context: an index into `EntityPriors.tables`. */
  readonly tokens: Runs
  /**
   * Indexed by item: counts of the dropped component where it is not the predicted one, counted from that one; empty
   * for other items.
   */
  readonly dropped: readonly (readonly number[])[]
  /** Indexed by chunk: the changes (older row to baseline) that are activities 1, 2, …; every other is activity 0. */
  readonly activities: readonly (readonly number[])[]
  /** Indexed by chunk and context: an index into `EntityPriors.masks`, or `BUILT_IN` without observations. */
  readonly masks: Runs
}

/** The result for one entity. */
export interface EntityPriors {
  readonly form: typeof PRIORS_FORM
  /** The version of this training, which both sides compare. Never 0, which means no training. */
  readonly version: number
  readonly ticksPerSecond: number
  /** The items that were counted, in order: a schema with different items needs different priors. */
  readonly items: readonly string[]
  /** The frequency of each token, table by table; trailing tokens that never occur are left out. */
  readonly tables: readonly (readonly number[])[]
  /** Mask tables, each of one chunk. */
  readonly masks: readonly MaskPriors[]
  /** Indexed by age class; null where there were too few rows, and built-in tables are used. */
  readonly ages: readonly (AgePriors | null)[]
}

/** Throws a ConfigError unless these priors are complete and fit this plan. */
export function checkPriors(priors: EntityPriors, plan: RowPlan, path: string): void {
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) throw new ConfigError(path, problem, 'train again: npx tickwire train.')
  }
  check(
    typeof priors === 'object' && priors !== null && priors.form === PRIORS_FORM,
    `not priors of form ${PRIORS_FORM}`,
  )
  check(isWhole(priors.version, 1, PRIORS_VERSION_MAX), `version ${priors.version}`)
  check(sameTexts(priors.items, plan.paths), 'trained for other fields')
  // There are never more tables than contexts; an entity that sends nothing still has one table.
  const tokensMax = Math.max(1, plan.count << tables.TOKEN_CONTEXTS_SHIFT)
  const masksMax = ((plan.chunks.length - 1) * tables.AGE_CLASSES) << tables.MASK_CONTEXTS_SHIFT
  check(
    isList(priors.tables)
      && priors.tables.length >= 1
      && priors.tables.length <= tokensMax
      && priors.tables.every((table) => areCounts(table, 0, TOKEN_SYMBOLS)),
    'a table of tokens is torn',
  )
  check(
    isList(priors.masks) && priors.masks.length <= masksMax && priors.masks.every(isMasks),
    'a table of masks is torn',
  )
  check(isList(priors.ages) && priors.ages.length === tables.AGE_CLASSES, 'not one entry for each class of age')
  priors.ages.forEach((age, index) => {
    if (age !== null) check(isAge(age, plan, priors), `age class ${index} is torn`)
  })
}

function isMasks(priors: MaskPriors): boolean {
  const { masks, counts } = priors ?? {}
  return (
    isList(masks)
    && masks.length >= 1
    && masks.length <= MASKS_MAX
    && areCounts(counts, masks.length + 1, masks.length + 1)
    && masks.every((each, at) => isWhole(each, at === 0 ? 0 : masks[at - 1] + 1, 0xffff))
  )
}

function isAge(age: AgePriors, plan: RowPlan, { tables: counts, masks }: EntityPriors): boolean {
  const chunkCount = plan.chunks.length - 1
  const masksOf = (chunk: number): number => 1 << (plan.chunks[chunk + 1] - plan.chunks[chunk])
  return (
    areRuns(age.weights, plan.count << tables.WEIGHTS_SHIFT, 0, tables.WEIGHT_MAX)
    && areRuns(age.bends, plan.count << tables.BENDS_SHIFT, -tables.BEND_MAX, tables.BEND_MAX)
    && areRuns(age.tokens, plan.count << tables.TOKEN_CONTEXTS_SHIFT, 0, counts.length - 1)
    && isList(age.dropped)
    && age.dropped.length === plan.count
    && age.dropped.every((each) => isList(each) && (each.length === 0 || areCounts(each, 3, 3)))
    && isList(age.activities)
    && age.activities.length === chunkCount
    && age.activities.every(
      (list, chunk) =>
        isList(list)
        && list.length < tables.ACTIVITIES_MAX
        && list.every((each) => isWhole(each, 0, masksOf(chunk) - 1)),
    )
    && areRuns(age.masks, chunkCount << tables.MASK_CONTEXTS_SHIFT, BUILT_IN, masks.length - 1)
    && fromRuns(age.masks).every(
      (table, context) =>
        table === BUILT_IN || masks[table].masks.every((mask) => mask < masksOf(context >> tables.MASK_CONTEXTS_SHIFT)),
    )
  )
}

/** A list as runs. */
export function toRuns(list: readonly number[]): Runs {
  const runs: number[] = []
  for (const value of list) {
    if (runs.at(-2) === value) runs[runs.length - 1]++
    else runs.push(value, 1)
  }
  return runs
}

/** The list that runs encode. */
export function fromRuns(runs: Runs): number[] {
  const list: number[] = []
  for (let at = 0; at < runs.length; at += 2) for (let times = runs[at + 1]; times > 0; times--) list.push(runs[at])
  return list
}

/** The tables made from priors. */
export class TrainedTables implements tables.RowTables {
  readonly version: number
  readonly bank: CodeBank = new CodeBank()
  readonly #plan: RowPlan
  readonly #priors: EntityPriors
  readonly #tokens: readonly (readonly number[])[]
  /** Indexed by chunk, then by mask table. */
  readonly #masks: (tables.MaskCode | undefined)[][]
  readonly #ages: (tables.AgeTables | undefined)[] = new Array<undefined>(tables.AGE_CLASSES).fill(undefined)

  constructor(plan: RowPlan, priors: EntityPriors, path: string = 'priors') {
    checkPriors(priors, plan, path)
    this.version = priors.version
    this.#plan = plan
    this.#priors = priors
    this.#tokens = priors.tables.map((counts) =>
      Array.from({ length: TOKEN_SYMBOLS }, (_, symbol) => counts[symbol] ?? 0),
    )
    this.#masks = Array.from({ length: plan.chunks.length - 1 }, () => [])
  }

  at(age: number): tables.AgeTables {
    return (this.#ages[age] ??= this.#make(age))
  }

  #make(age: number): tables.AgeTables {
    const plan = this.#plan
    const bank = this.bank
    const found = this.#priors.ages[age]
    const builtIn = builtInAge(plan, bank, age)
    if (found === null) return builtIn
    return {
      weights: Int8Array.from(fromRuns(found.weights)),
      bends: Int16Array.from(fromRuns(found.bends)),
      tokens: Uint16Array.from(fromRuns(found.tokens), (table) => bank.add(this.#tokens[table])),
      dropped: Uint16Array.from(found.dropped, (counts, item) =>
        counts.length === 0 ? builtIn.dropped[item] : bank.add(counts),
      ),
      activities: found.activities.map((list, chunk) => {
        const activities = new Uint8Array(1 << (plan.chunks[chunk + 1] - plan.chunks[chunk]))
        list.forEach((changed, index) => {
          activities[changed] = index + 1
        })
        return activities
      }),
      masks: fromRuns(found.masks).map((table, context) =>
        table === BUILT_IN ? builtIn.masks[context] : this.#maskCode(context >> tables.MASK_CONTEXTS_SHIFT, table),
      ),
    }
  }

  /** One code for all contexts that share a table. */
  #maskCode(chunk: number, table: number): tables.MaskCode {
    const { chunks } = this.#plan
    const { masks, counts } = this.#priors.masks[table]
    return (this.#masks[chunk][table] ??= maskCodeOf(
      this.bank,
      masks,
      counts,
      chunk === 0,
      chunks[chunk + 1] - chunks[chunk],
    ))
  }
}

/**
 * The canonical text of priors: equal text, equal bits. Invalid priors give an arbitrary text: no coder is made of
 * them.
 */
export function priorsText(priors: EntityPriors): string {
  const { form, version, ticksPerSecond, items, tables: counts, masks, ages } = priors ?? {}
  const age = (found: AgePriors | null): unknown =>
    found === null || found === undefined
      ? null
      : [found.weights, found.bends, found.tokens, found.dropped, found.activities, found.masks]
  return JSON.stringify([
    form,
    version,
    ticksPerSecond,
    items,
    counts,
    isList(masks) ? masks.map((each) => [each?.masks, each?.counts]) : null,
    isList(ages) ? ages.map(age) : null,
  ])
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

/**
 * Whether these are runs of a list of `length` values. Nothing is expanded before this check: a few bytes may claim a
 * billion values.
 */
function areRuns(runs: unknown, length: number, min: number, max: number): boolean {
  if (!isList(runs) || runs.length % 2 !== 0) return false
  let count = 0
  for (let at = 0; at < runs.length; at += 2) {
    const times = runs[at + 1]
    if (!isWhole(runs[at], min, max) || !isWhole(times, 1, length)) return false
    count += times as number
  }
  return count === length
}

function areCounts(list: unknown, lengthMin: number, lengthMax: number): boolean {
  return (
    isList(list)
    && list.length >= lengthMin
    && list.length <= Math.min(lengthMax, SYMBOLS_MAX)
    && list.every((each) => isWhole(each, 0, SHARES))
  )
}

function sameTexts(a: unknown, b: readonly string[]): boolean {
  return isList(a) && a.length === b.length && b.every((text, index) => a[index] === text)
}
