/**
 * Runs vitest as a program and counts what came of it.
 *
 * The counts come from its JSON report, not from its words. A file that does not load counts as one failure, and so does
 * an error outside of any test: neither may hide behind "all tests passed".
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { tmpdir } from 'node:os'
import { runNode } from './child.ts'

/** How many of each. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/** Runs the tests that `args` select in the project at `root`, showing vitest's own output unless `isQuiet`. */
export async function runVitest(root: string, args: readonly string[], isQuiet = false): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-tests-'))
  const reportPath = join(folder, 'report.json')
  const cli = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const reporting = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`]
  try {
    const env = withoutRunner(process.env)
    const isSuccess = await runNode([cli, 'run', ...args, ...reporting], { cwd: root, env, isQuiet })
    return tallyOf(readReport(reportPath), isSuccess)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A vitest started by a test must not take itself for a part of the outer one. */
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

function tallyOf(report: Report | undefined, isSuccess: boolean): Tally {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((each) => each.status === 'failed'),
  )
  const failed = report.numFailedTests + brokenFiles.length
  return { passed: report.numPassedTests, failed: Math.max(failed, isSuccess ? 0 : 1), skipped: report.numPendingTests }
}
