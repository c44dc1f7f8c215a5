/**
 * Runs of `npm test`, appended to a file line by line, and what they say of the tests on a real clock. Ten runs take
 * hours, so they are collected over days.
 */

import { appendFileSync, readFileSync } from 'node:fs'
import { commitOf } from './sim-runs.ts'
import type { StageResult } from './test-stages.ts'

/** A stage of a run. */
interface StageLine {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  /** As `file > test`. */
  readonly failed: readonly string[]
  readonly unsteady: readonly string[]
}

interface RunLine {
  readonly commit: string
  readonly at: string
  readonly node: string
  readonly stages: readonly StageLine[]
}

/** How many runs in a row must be without a failed or an unsteady test. */
export const STEADY_RUNS = 10

/** Appends a run to a file. */
export function appendTestRun(file: string, results: readonly StageResult[], at: Date): void {
  const stages = results.map(({ name, seconds, run }): StageLine => {
    const { passed, failures: failed, unsteady = [] } = run
    return { name, seconds: Math.round(seconds), passed, failed, unsteady }
  })
  const line: RunLine = { commit: commitOf(), at: at.toISOString(), node: process.version, stages }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** Of each stage in `names`, the newest runs: the lines to print, and whether all of them are steady. */
export function sumTestRuns(
  file: string, names: readonly string[], runs = STEADY_RUNS,
): { readonly lines: readonly string[]; readonly isMet: boolean } {
  const all = readFileSync(file, 'utf8').trim().split('\n').map((text) => JSON.parse(text) as RunLine)
  const stages = names.map((name) => {
    const newest = all
      .flatMap(({ commit, at, stages: ofRun }) => ofRun.map((stage) => ({ commit, at, ...stage })))
      .filter((stage) => stage.name === name)
      .slice(-runs)
    const bad = newest.flatMap(({ commit, at, failed, unsteady }) =>
      [...failed.map((test) => `failed: ${test}`), ...unsteady.map((test) => `unsteady: ${test}`)].map(
        (text) => `  ${text} (${commit}, ${at.slice(0, 10)})`,
      ),
    )
    return { name, count: newest.length, bad }
  })
  return {
    lines: stages.flatMap(({ name, count, bad }) => [
      `${name}: ${count} of ${runs} runs, ${bad.length} tests failed or unsteady`, ...bad,
    ]),
    isMet: stages.every(({ count, bad }) => count === runs && bad.length === 0),
  }
}
