/**
 * The figures of bench/RESULTS.md, for charts and for sentences about them.
 *
 * A table row of README.md or docs/benchmarks.md that ends with a figure's name in code type and its value has the
 * value of bench/RESULTS.md: `npm run check` compares, and `npm run check -- --fix` writes it.
 */

import type { Finding, Repository } from '../tidy/repository.ts'
import { lineAt } from '../tidy/source-file.ts'

/** A figure, as the tables at the top of bench/RESULTS.md have it. */
export interface ResultFigure {
  readonly bench: string
  readonly name: string
  readonly value: number
  /** Empty or `x` for a ratio. */
  readonly unit: string
  /** Lowest and highest of all runs, where they differ. */
  readonly range: readonly [lowest: number, highest: number] | undefined
  readonly bound: { readonly sign: '≤' | '≥'; readonly value: number } | undefined
  readonly isMissed: boolean
  readonly against: string
}

const RESULTS_PATH = 'bench/RESULTS.md'
const CLAIM_PATHS = ['README.md', 'docs/benchmarks.md']
const ROW = /^\| \[?(\w+)\]?(?:\(#\w+\))? \| `(\w+)` \| ([-\d.]+) ?(.*?) \| (.*?) \| (.*?) \| (.*?) \|$/gm
const CLAIM = /^(\|.*\| `(\w+)` \| )([^|\n]*)( \|)$/gm

/** The figures of the tables "End to end" and "Parts alone, beside others", in their order. */
export function readFigures(repository: Repository): ResultFigure[] {
  const [tables = ''] = (repository.texts.get(RESULTS_PATH) ?? '').split('\n## Bounds that are missed')
  return Array.from(tables.matchAll(ROW), ([, bench = '', name = '', value, unit = '', range, bound, against = '']) => {
    const [, lowest, highest] = /^([-\d.]+)\.\.([-\d.]+)/.exec(range ?? '') ?? []
    const [, sign, limit] = /(≤|≥) ([-\d.]+)/.exec(bound ?? '') ?? []
    return {
      bench,
      name,
      value: Number(value),
      unit,
      range: lowest === undefined ? undefined : [Number(lowest), Number(highest)],
      bound: sign === '≤' || sign === '≥' ? { sign, value: Number(limit) } : undefined,
      isMissed: bound?.includes('missed') === true,
      against,
    }
  })
}

/** Claims with another value than the results have, or about a figure that is not there. */
export function claimFindings(repository: Repository): Finding[] {
  return CLAIM_PATHS.flatMap((path) => correctedClaims(repository, path).findings)
}

/** The documents whose values had to change, with their new text. */
export function fixedClaims(repository: Repository): Map<string, string> {
  const fresh = CLAIM_PATHS.map((path) => [path, correctedClaims(repository, path).text] as const)
  return new Map(fresh.filter(([path, text]) => text !== (repository.texts.get(path) ?? '')))
}

function correctedClaims(repository: Repository, path: string): { text: string; findings: Finding[] } {
  const figures = new Map(readFigures(repository).map((figure) => [figure.name, figure]))
  const before = repository.texts.get(path) ?? ''
  const findings: Finding[] = []
  const text = before.replace(CLAIM, (row, head: string, name: string, value: string, end: string, at: number) => {
    const figure = figures.get(name)
    const fresh = figure === undefined ? undefined : `${figure.value} ${figure.unit}`.trim()
    if (fresh === value) return row
    const problem = fresh === undefined
      ? `${RESULTS_PATH} has no figure ${name}`
      : `${name} is ${fresh} in ${RESULTS_PATH}: npm run check -- --fix`
    findings.push({ rule: 'figures', path, line: lineAt(before, at), problem })
    return `${head}${fresh ?? value}${end}`
  })
  return { text, findings }
}
