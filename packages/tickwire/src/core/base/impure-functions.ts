/**
 * What `step` may not use, and what to use instead: functions whose results differ from run to run, from machine to
 * machine, or from engine to engine. The traps of development mode, `tickwire lint` and tidy share this list.
 */

/** A function or object that `step` may not use. */
export interface ImpureFunction {
  /** Where it is, from the global scope: `Math`, `String.prototype`. Empty: the global scope itself. */
  readonly owner: string
  /** Its name there. */
  readonly name: string
  /** Why its result differs. */
  readonly problem: string
  /** What to use instead. */
  readonly fix: string
}

/** Functions of `Math` that are not the same bits on every engine. `math` of tickwire has exact ones. */
export const INEXACT_MATH: readonly string[] = [
  'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'exp', 'log', 'log2', 'pow', 'hypot', 'cbrt',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'expm1', 'log1p', 'log10',
]

/** The first ones have a twin of the same name in `math`. */
const EXACT_TWINS = 13

/** What to write instead of an inexact function of `Math`. */
export function exactTwinOf(name: string): string {
  const hasTwin = INEXACT_MATH.indexOf(name) < EXACT_TWINS
  return hasTwin ? `use math.${name} of tickwire` : 'write it with math.exp and math.log of tickwire'
}

const TIME = { problem: 'a different value on every machine', fix: 'use world.tick' } as const
const CHANCE = { problem: 'a different value on every machine', fix: 'use world.random or world.prng' } as const
const LOCALE = { problem: 'depends on the language of the machine', fix: 'compare with < and >' } as const
const LATER = { problem: 'runs at no fixed tick', fix: 'count ticks in a field of an entity' } as const

/** Globals whose mere use is wrong. */
export const IMPURE_GLOBALS: readonly ImpureFunction[] = [
  { owner: '', name: 'Date', ...TIME },
  { owner: '', name: 'Intl', problem: LOCALE.problem, fix: 'format texts in the page, not in step' },
]

/** Functions that are trapped one by one. */
export const IMPURE_FUNCTIONS: readonly ImpureFunction[] = [
  { owner: 'Math', name: 'random', ...CHANCE },
  ...INEXACT_MATH.map((name) => ({
    owner: 'Math', name, problem: 'not the same bits on every engine', fix: exactTwinOf(name),
  })),
  { owner: 'performance', name: 'now', ...TIME },
  { owner: 'crypto', name: 'getRandomValues', ...CHANCE },
  { owner: 'crypto', name: 'randomUUID', ...CHANCE },
  { owner: 'String.prototype', name: 'localeCompare', ...LOCALE },
  { owner: 'String.prototype', name: 'toLocaleLowerCase', problem: LOCALE.problem, fix: 'use toLowerCase' },
  { owner: 'String.prototype', name: 'toLocaleUpperCase', problem: LOCALE.problem, fix: 'use toUpperCase' },
  { owner: 'Number.prototype', name: 'toLocaleString', problem: LOCALE.problem, fix: 'use String(value)' },
  { owner: 'Array.prototype', name: 'toLocaleString', problem: LOCALE.problem, fix: 'use join' },
  { owner: '', name: 'setTimeout', ...LATER },
  { owner: '', name: 'setInterval', ...LATER },
  { owner: '', name: 'queueMicrotask', ...LATER },
]

/** Array functions whose comparator must return a number: with booleans each engine sorts in its own way. */
export const SORTS: readonly string[] = ['sort', 'toSorted']

/** What is wrong with a comparator that returns true or false, and the fix. */
export const BOOLEAN_COMPARATOR: Pick<ImpureFunction, 'problem' | 'fix'> = {
  problem: 'the comparator returns true or false, and each engine sorts that in its own way',
  fix: 'return a number: (a, b) => a.x - b.x || a.id - b.id',
}
