/**
 * Runs vitest as a program, counts its results, and says how long each test file took.
 *
 * The counts come from its JSON report. A file that does not load counts as one failure, and so does an error outside
 * of any test: neither may hide behind "all tests passed".
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { tmpdir } from 'node:os'
import { runNode } from './child.ts'

/** The number of tests by result. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** How long the tests of a file took, without the time to load it. */
export interface FileTime {
  readonly path: string
  readonly seconds: number
}

/** The counts of a run, the time of each of its files, and what failed. */
export interface Run extends Tally {
  readonly files: readonly FileTime[]
  /** Each as `file > test`, or the file alone if it did not load. */
  readonly failures: readonly string[]
  /** Tests that failed beside others and passed alone, in the same form. They count as passed. */
  readonly unsteady?: readonly string[]
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** In milliseconds. */
    readonly startTime: number
    readonly endTime: number
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/**
 * Runs the tests that `args` select in the project at `root`, showing vitest's own output unless `isQuiet`, on the Node
 * at `program`.
 */
export async function runVitest(
  root: string, args: readonly string[], isQuiet = false, program: string = process.execPath,
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-tests-'))
  const reportPath = join(folder, 'report.json')
  const cli = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const reporting = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`]
  try {
    const env = withoutRunner(process.env)
    const isSuccess = await runNode([cli, 'run', ...args, ...reporting], { cwd: root, env, isQuiet, program })
    const report = readReport(reportPath)
    return { ...tallyOf(report, isSuccess), files: timesOf(report, root), failures: failuresOf(report, root) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A vitest that a test starts must not treat itself as a part of the outer one. */
function withoutRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:VITEST|VITE_|TEST$|NODE_ENV$)/.test(name)))
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function timesOf(report: Report | undefined, root: string): FileTime[] {
  return (report?.testResults ?? []).map(({ name, startTime, endTime }) => ({
    path: relative(root, name).replaceAll('\\', '/'),
    seconds: (endTime - startTime) / 1000,
  }))
}

function failuresOf(report: Report | undefined, root: string): string[] {
  return (report?.testResults ?? []).filter(({ status }) => status === 'failed').flatMap((file) => {
    const path = relative(root, file.name).replaceAll('\\', '/')
    const failed = file.assertionResults.filter(({ status }) => status === 'failed')
    return failed.length === 0 ? [path] : failed.map(({ fullName }) => `${path} > ${fullName}`)
  })
}

function tallyOf(report: Report | undefined, isSuccess: boolean): Tally {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((each) => each.status === 'failed'),
  )
  const failed = report.numFailedTests + brokenFiles.length
  return { passed: report.numPassedTests, failed: Math.max(failed, isSuccess ? 0 : 1), skipped: report.numPendingTests }
}
