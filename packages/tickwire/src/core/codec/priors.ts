/**
 * What training found, as plain data that a JSON file holds and a game ships with its schema.
 *
 * Frequencies, never codes: codes are made of them when a coder is made, and a range coder needs the frequencies
 * themselves. Both sides must hold the same priors; `priorsText` is what their fingerprint is made of.
 *
 * Nothing here is trusted: a file may be stale or torn. `checkPriors` says what is wrong with it, by path.
 */

import { ConfigError } from '../base/assert.ts'
import { maskCodeOf, MASKS_MAX } from './mask-code.ts'
import { builtInAge } from './built-in-tables.ts'
import { CodeBank, SHARES, SYMBOLS_MAX } from './code-bank.ts'
import type { RowPlan } from './row-plan.ts'
import * as tables from './row-tables.ts'
import { TOKEN_SYMBOLS } from './token.ts'

/** The form of this file; another number is another form. */
export const PRIORS_FORM = 2

/** Masks that have symbols, how often each occurs, and last how often none of them. */
export interface MaskPriors {
  readonly masks: readonly number[]
  readonly counts: readonly number[]
}

/** What was found for one class of age. */
export interface AgePriors {
  /** By item, eight each, as `AgeTables.weights`. */
  readonly weights: readonly number[]
  /** By item, sixteen each, as `AgeTables.bends`. */
  readonly bends: readonly number[]
  /** By item and context: an index of `EntityPriors.tables`. */
  readonly tokens: readonly number[]
  /** By item: how often which component is dropped where it is not the predicted one, counted on from that; empty for all else. */
  readonly dropped: readonly (readonly number[])[]
  /** By chunk: the changes (older row to baseline) that are activities 1, 2, …; every other is activity 0. */
  readonly activities: readonly (readonly number[])[]
  /** By chunk and context; null where nothing was seen. */
  readonly masks: readonly (MaskPriors | null)[]
}

/** What was found for one entity. */
export interface EntityPriors {
  readonly form: typeof PRIORS_FORM
  /** Which training this is: what two sides compare. Never 0, which is no training. */
  readonly version: number
  readonly ticksPerSecond: number
  /** The items that were counted, in order: a schema with others needs other priors. */
  readonly items: readonly string[]
  /** How often each token occurs, table by table. */
  readonly tables: readonly (readonly number[])[]
  /** By class of age; null where too little was seen, and built-in tables serve. */
  readonly ages: readonly (AgePriors | null)[]
}

/** Throws a ConfigError unless these priors are whole and of this plan. */
export function checkPriors(priors: EntityPriors, plan: RowPlan, path: string): void {
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) throw new ConfigError(path, problem, 'Train again: npx tickwire train.')
  }
  check(typeof priors === 'object' && priors !== null && priors.form === PRIORS_FORM, `not priors of form ${PRIORS_FORM}`)
  check(isWhole(priors.version, 1, 2 ** 31 - 1), `version ${priors.version}`)
  check(sameTexts(priors.items, plan.paths), 'trained for other fields')
  check(isList(priors.tables) && priors.tables.length >= 1 && priors.tables.every((table) => areCounts(table, TOKEN_SYMBOLS)), 'a table of tokens is torn')
  check(isList(priors.ages) && priors.ages.length === tables.AGE_CLASSES, 'not one entry for each class of age')
  priors.ages.forEach((age, index) => {
    if (age !== null) check(isAge(age, plan, priors.tables.length), `age class ${index} is torn`)
  })
}

function isAge(age: AgePriors, plan: RowPlan, tableCount: number): boolean {
  const chunkCount = plan.chunks.length - 1
  const width = (chunk: number): number => plan.chunks[chunk + 1] - plan.chunks[chunk]
  const isMask = (mask: MaskPriors | null, chunk: number): boolean => mask === null || (
    isList(mask.masks) && mask.masks.length <= MASKS_MAX && mask.masks.every((each, at) => isWhole(each, 0, (1 << width(chunk)) - 1) && (at === 0 || each > mask.masks[at - 1]))
    && areCounts(mask.counts, mask.masks.length + 1) && mask.masks.length >= 1)
  return areWhole(age.weights, plan.count << tables.WEIGHTS_SHIFT, 0, tables.WEIGHT_MAX)
    && areWhole(age.bends, plan.count << tables.BENDS_SHIFT, -tables.BEND_MAX, tables.BEND_MAX)
    && areWhole(age.tokens, plan.count << tables.TOKEN_CONTEXTS_SHIFT, 0, tableCount - 1)
    && isList(age.dropped) && age.dropped.length === plan.count && age.dropped.every((each) => isList(each) && (each.length === 0 || areCounts(each, 3)))
    && isList(age.activities) && age.activities.length === chunkCount
    && age.activities.every((list, chunk) => areWhole(list, Math.min(list.length, tables.ACTIVITIES_MAX - 1), 0, (1 << width(chunk)) - 1))
    && isList(age.masks) && age.masks.length === chunkCount << tables.MASK_CONTEXTS_SHIFT
    && age.masks.every((mask, context) => isMask(mask, context >> tables.MASK_CONTEXTS_SHIFT))
}

/** The tables that priors stand for. */
export class TrainedTables implements tables.RowTables {
  readonly version: number
  readonly bank: CodeBank = new CodeBank()
  readonly #plan: RowPlan
  readonly #priors: EntityPriors
  readonly #ages: (tables.AgeTables | undefined)[] = new Array<undefined>(tables.AGE_CLASSES).fill(undefined)

  constructor(plan: RowPlan, priors: EntityPriors, path: string = 'priors') {
    checkPriors(priors, plan, path)
    this.version = priors.version
    this.#plan = plan
    this.#priors = priors
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
      weights: Int8Array.from(found.weights),
      bends: Int16Array.from(found.bends),
      tokens: Uint16Array.from(found.tokens, (table) => bank.add(this.#priors.tables[table])),
      dropped: Uint16Array.from(found.dropped, (counts, item) => (counts.length === 0 ? builtIn.dropped[item] : bank.add(counts))),
      activities: found.activities.map((list, chunk) => {
        const activities = new Uint8Array(1 << (plan.chunks[chunk + 1] - plan.chunks[chunk]))
        list.forEach((changed, index) => { activities[changed] = index + 1 })
        return activities
      }),
      masks: found.masks.map((mask, context) => {
        const chunk = context >> tables.MASK_CONTEXTS_SHIFT
        return mask === null ? builtIn.masks[context] : maskCodeOf(bank, mask.masks, mask.counts, chunk === 0, plan.chunks[chunk + 1] - plan.chunks[chunk])
      }),
    }
  }
}

/** Canonical text of priors: equal text, equal bits. */
export function priorsText(priors: EntityPriors): string {
  const { form, version, ticksPerSecond, items, tables: counts, ages } = priors
  const age = (found: AgePriors | null): unknown => found === null ? null
    : [found.weights, found.bends, found.tokens, found.dropped, found.activities, found.masks.map((mask) => (mask === null ? null : [mask.masks, mask.counts]))]
  return JSON.stringify([form, version, ticksPerSecond, items, counts, ages.map(age)])
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

function areWhole(list: unknown, length: number, min: number, max: number): boolean {
  return isList(list) && list.length === length && list.every((each) => isWhole(each, min, max))
}

function areCounts(list: unknown, length: number): boolean {
  return length <= SYMBOLS_MAX && areWhole(list, length, 0, SHARES)
}

function sameTexts(a: unknown, b: readonly string[]): boolean {
  return isList(a) && a.length === b.length && b.every((text, index) => a[index] === text)
}
