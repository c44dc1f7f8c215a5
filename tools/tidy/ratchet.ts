/**
 * The ratchet: known exceptions to a limit, listed in one file with their size. An entry may only shrink, and a file
 * that is not listed may not go over the limit. `npm run check -- --fix` lowers entries; it never adds one.
 */

import { type Finding, type Repository } from './repository.ts'

/** Where the exceptions are listed. */
export const RATCHET_PATH = 'tools/tidy-ratchet.json'

/** Sizes by key: a path, or `path name`. */
export type Sizes = ReadonlyMap<string, number>

/** One measured limit. */
export interface Limit {
  /** Name of its group of entries in the ratchet file. */
  readonly group: string
  /** Name of the tidy rule. */
  readonly rule: string
  /** The largest size that needs no entry. */
  readonly max: number
  readonly measure: (repository: Repository) => Sizes
  /** Describes a size in a finding, for example "a file of 412 lines". */
  readonly describe: (key: string, size: number) => string
  readonly advice: string
}

type Entries = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Sizes over their limit, and entries that no longer match their size. */
export function* ratchetFindings(repository: Repository, limits: readonly Limit[]): Generator<Finding> {
  const entries = readEntries(repository)
  for (const limit of limits) yield* compare(limit, limit.measure(repository), entries[limit.group] ?? {})
}

/** The entries, lowered to what the repository needs today. */
export function tightened(repository: Repository, limits: readonly Limit[]): Entries {
  const entries = readEntries(repository)
  return Object.fromEntries(
    limits.map((limit) => {
      const sizes = limit.measure(repository)
      const known = Object.entries(entries[limit.group] ?? {})
      const lowered = known.map(([key, size]) => [key, Math.min(size, sizes.get(key) ?? 0)] as const)
      return [limit.group, Object.fromEntries(lowered.filter(([, size]) => size > limit.max))]
    }),
  )
}

function readEntries(repository: Repository): Entries {
  return JSON.parse(repository.texts.get(RATCHET_PATH) ?? '{}')
}

function* compare(limit: Limit, sizes: Sizes, known: Readonly<Record<string, number>>): Generator<Finding> {
  for (const key of new Set([...sizes.keys(), ...Object.keys(known)])) {
    const [path = ''] = key.split(' ')
    const size = sizes.get(key) ?? 0
    const allowed = known[key]
    const subject = limit.describe(key, size)
    const report = (problem: string): Finding => ({ rule: limit.rule, path, line: 1, problem })
    if (allowed === undefined) {
      if (size > limit.max) yield report(`${subject}, over ${limit.max}: ${limit.advice}`)
    } else if (size > allowed) {
      yield report(`${subject}, and the ratchet allows ${allowed}: ${limit.advice}`)
    } else if (size < allowed) {
      yield report(`${subject}, less than the ${allowed} of the ratchet: npm run check -- --fix`)
    }
  }
}
