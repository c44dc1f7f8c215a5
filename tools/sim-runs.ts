/**
 * Runs of a swarm, appended to a file line by line, and their sum. So a volume that takes hours can be run in pieces.
 */

import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { SWARM_PARTS, type PartReport, type SwarmPart, type SwarmReport } from './sim-report.ts'
import { ROOT } from './typecheck.ts'

/** One run. */
interface Run {
  readonly commit: string
  readonly at: string
  readonly start: number
  readonly seeds: number
  readonly only?: string
  readonly seconds: number
  readonly violations: number
  readonly parts: Readonly<Partial<Record<SwarmPart, PartReport>>>
  readonly marks: Readonly<Record<string, number>>
}

/** What a sum must have. */
export interface Bar {
  readonly total: number
  readonly each: number
}

/** Appends a run to a file. `at`: when it ended. */
export function appendRun(
  file: string, { start, only, seconds, at }: { start: number; only?: string; seconds: number; at: Date },
  { seeds, violations, parts, marks }: SwarmReport,
): void {
  const line: Run = {
    commit: commitOf(), at: at.toISOString(), start, seeds, ...(only !== undefined && { only }), seconds, violations,
    parts, marks,
  }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** The commit of this folder, with `+` if files differ from it. */
export function commitOf(): string {
  const git = (...args: string[]): string => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no', ':!test/sim/regressions') !== ''
  return `${git('rev-parse', '--short=12', 'HEAD')}${isChanged ? '+' : ''}`
}

/**
 * Sums the runs of one commit: that of the last line. Returns the lines to print, and whether the bar is met: no
 * violation, the total, the volume of each part, and every mark.
 */
export function sumRuns(file: string, bar: Bar): { readonly lines: readonly string[]; readonly isMet: boolean } {
  const all = readFileSync(file, 'utf8').trim().split('\n').map((text) => JSON.parse(text) as Run)
  const commit = all.at(-1)?.commit ?? ''
  const runs = all.filter((run) => run.commit === commit)
  const marks: Record<string, number> = {}
  for (const run of runs)
    for (const [name, count] of Object.entries(run.marks)) marks[name] = (marks[name] ?? 0) + count
  const missed = Object.keys(marks).filter((name) => marks[name] === 0)
  const sum = (of: (run: Run) => number): number => runs.reduce((total, run) => total + of(run), 0)
  const parts = SWARM_PARTS.map((part) => ({
    part, worlds: sum((run) => run.parts[part]?.worlds ?? 0), ticks: sum((run) => run.parts[part]?.endpointTicks ?? 0),
    ms: sum((run) => run.parts[part]?.ms ?? 0),
  }))
  const total = parts.reduce((ticks, part) => ticks + part.ticks, 0)
  const violations = sum((run) => run.violations)
  const short = parts.filter(({ ticks }) => ticks < bar.each).map(({ part }) => part)
  const number = (value: number): string => Math.round(value).toLocaleString('en')
  const count = Object.keys(marks).length
  return {
    lines: [
      `${runs.length} runs of commit ${commit}, ${number(sum((run) => run.seeds))} seeds, `
        + `${(sum((run) => run.seconds) / 3600).toFixed(2)} hours of wall time`,
      'part         worlds  endpoint-ticks  a second of one core',
      ...parts.map(({ part, worlds, ticks, ms }) =>
        `${part.padEnd(10)}${number(worlds).padStart(9)}${number(ticks).padStart(16)}`
          + number(ms === 0 ? 0 : ticks / (ms / 1000)).padStart(22)),
      `total: ${number(total)} endpoint-ticks of ${number(bar.total)}, ${violations} violations`,
      short.length === 0 ? `every part has ${number(bar.each)}` : `below ${number(bar.each)}: ${short.join(', ')}`,
      `${count - missed.length} of ${count} marks were passed`
        + (missed.length > 0 ? `; never: ${missed.join('; ')}` : ''),
    ],
    isMet: violations === 0 && total >= bar.total && short.length === 0 && missed.length === 0 && !commit.endsWith('+'),
  }
}
