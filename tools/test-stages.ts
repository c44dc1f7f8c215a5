/** Runs stages of tests one after the other, and prints their sums, the slowest files and all failed tests. */

import { availableParallelism } from 'node:os'
import type { FileTime, Run, Tally } from './vitest-run.ts'

/** A part of a test run, with a name for its heading. */
export interface Stage {
  readonly name: string
  run(): Promise<Run>
}

/** Test files of one worker share their modules: loading the engine for each file takes longer than most files. */
export const SHARED_MODULES: readonly string[] = ['--no-isolate']
/** For tests that mostly wait for real time: two workers more than there are cores. */
export const WAITING: readonly string[] = ['--maxWorkers', `${availableParallelism() + 2}`]

const SLOWEST = 10
/** A test file that takes longer has to leave its long form to `npm run prove`. */
const FILE_SECONDS_MAX = 30

/** With more failures than this in a stage, something is broken, and a second run would only cost time. */
const SECOND_RUNS_MAX = 3

/**
 * A stage of tests on a real clock, beside which the machine may do other things. At most three failed tests run once
 * more, one file at a time. A test that fails again has failed; one that passes is named as unsteady.
 */
export async function timedStage(
  run: (args: readonly string[]) => Promise<Run>,
  args: readonly string[],
): Promise<Run> {
  const first = await run(args)
  const { failures } = first
  const isEachNamed = failures.length === first.failed && failures.every((failure) => failure.includes(' > '))
  if (first.failed === 0 || first.failed > SECOND_RUNS_MAX || !isEachNamed) return first
  console.log(`\n== second run, alone: ${failures.join('; ')}`)
  const paths = new Set(failures.map((failure) => failure.slice(0, failure.indexOf(' > '))))
  const names = failures.map((failure) => failure.slice(failure.indexOf(' > ') + 3))
  const pattern = names.map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`).join('|')
  const second = await run([...paths, '--maxWorkers', '1', '--testNamePattern', pattern])
  // A pattern that finds no test, and an error outside of a test, do not excuse the first run.
  if (second.passed + second.failures.length !== failures.length) return first
  const stillFailed = new Set(second.failures)
  const unsteady = failures.filter((failure) => !stillFailed.has(failure))
  const { failed, failures: again } = second
  return { ...first, passed: first.passed + unsteady.length, failed, failures: again, unsteady }
}

/** A stage that has run. */
export interface StageResult {
  readonly name: string
  readonly run: Run
  readonly seconds: number
}

/**
 * Runs all stages and lists failures. The last line that it prints is `N passed, N failed`. Sets the exit code.
 *
 * @returns the results of the stages
 */
export async function runStages(stages: readonly Stage[], remark = ''): Promise<readonly StageResult[]> {
  const results: StageResult[] = []
  for (const stage of stages) {
    console.log(`\n== ${stage.name}`)
    const startedAt = performance.now()
    const run = await stage.run()
    results.push({ name: stage.name, run, seconds: (performance.now() - startedAt) / 1000 })
  }
  console.log('')
  for (const line of slowestLines(results.flatMap(({ run }) => run.files), SLOWEST)) console.log(line)
  for (const failure of results.flatMap(({ run }) => run.failures)) console.log(`failed: ${failure}`)
  for (const each of results.flatMap(({ run }) => run.unsteady ?? []))
    console.log(`warning: unsteady: ${each} failed beside other tests, and passed alone. Fix: find what it waits for.`)
  for (const { name, run, seconds } of results) {
    const skipped = run.skipped === 0 ? '' : `, ${run.skipped} skipped`
    console.log(`${name}: ${run.passed} passed, ${run.failed} failed${skipped} (${seconds.toFixed(1)} s)`)
  }
  if (remark !== '') console.log(remark)
  const sum = (key: keyof Tally): number => results.reduce((total, { run }) => total + run[key], 0)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') === 0 ? 0 : 1
  return results
}

/** The runs of one stage as one run. */
export function sumOf(runs: readonly Run[]): Run {
  const sum = (key: keyof Tally): number => runs.reduce((total, run) => total + run[key], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    files: runs.flatMap(({ files }) => files),
    failures: runs.flatMap(({ failures }) => failures),
    unsteady: runs.flatMap(({ unsteady }) => unsteady ?? []),
  }
}

/** A stage that passes or fails as a whole. */
export function oneResult(isRight: boolean): Run {
  return { passed: isRight ? 1 : 0, failed: isRight ? 0 : 1, skipped: 0, files: [], failures: [] }
}

/** The slowest files as lines, at most `count`, and a warning for every file over the limit. */
export function slowestLines(files: readonly FileTime[], count: number): string[] {
  if (files.length < 2) return []
  const sorted = files.toSorted((a, b) => b.seconds - a.seconds)
  return [
    'slowest test files:',
    ...sorted.slice(0, count).map(({ path, seconds }) => `${`${seconds.toFixed(1)} s`.padStart(8)}  ${path}`),
    ...sorted.filter(({ seconds }) => seconds > FILE_SECONDS_MAX).map(
      ({ path, seconds }) =>
        `warning: ${path} took ${seconds.toFixed(1)} s (expected at most ${FILE_SECONDS_MAX} s). `
        + 'Fix: shorten it, and leave its long form to npm run prove (test/form.ts).',
    ),
  ]
}
