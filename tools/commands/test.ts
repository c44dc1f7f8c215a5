/**
 * `npm test`: everything that must hold before a change lands, in the order in which it is cheap to find out.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BROWSER_ADVICE, findBrowser } from '../../test/browser/browser.ts'
import { ensureBrowser } from '../browser-install.ts'
import { runNode } from '../child.ts'
import { commandLine, misuse } from '../command-line.ts'
import { ROOT, typecheck } from '../typecheck.ts'
import { appendTestRun, STEADY_RUNS, sumTestRuns } from '../test-log.ts'
import { oneResult, runStages, SHARED_MODULES, sumOf, timedStage, type Stage, WAITING } from '../test-stages.ts'
import { runVitest, type Run } from '../vitest-run.ts'

const HELP = `
npm test -- [filter...] [options]      Types, tidy, tests, the packed package, real browsers.

  filter           only the test files whose path contains it, and nothing else
  --no-browser     leave the browser tests out
  --timed          only the stages on a real clock: sockets, processes, browsers
  --log FILE       appends the result of each stage to FILE, one line of JSON
  --sum FILE       runs nothing: fails unless the newest ${STEADY_RUNS} runs of each stage on a real clock in FILE
                   have no failed and no unsteady test

A failed test of sockets, processes or browsers runs once more, alone. If it passes then, a warning names it.
At the end the slowest test files are listed. The last line is the sum of everything: N passed, N failed.`

const { values, positionals } = commandLine(HELP, {
  'no-browser': { type: 'boolean' }, timed: { type: 'boolean' }, log: { type: 'string' }, sum: { type: 'string' },
})

const BROWSER_TESTS = 'test/browser/'
const REPOSITORY_TESTS = 'test/repo/'
/** Real sockets and real processes, which mostly wait. */
const CONTRACT_TESTS = 'test/contract/'
/** Tests that judge ticks and frames by the clock. Each of these files has the machine for itself. */
const TIMED_TESTS = ['test/browser/arena-line.test.ts', 'test/browser/stalls.test.ts']

const run = (args: readonly string[]): Promise<Run> => runVitest(ROOT, args)
const types: Stage = { name: 'types', run: async () => oneResult(await typecheck()) }
const units: Stage = {
  name: 'units, simulations',
  run: () =>
    runVitest(ROOT, [
      ...SHARED_MODULES,
      ...[BROWSER_TESTS, REPOSITORY_TESTS, CONTRACT_TESTS].flatMap((folder) => ['--exclude', `${folder}**`]),
    ]),
}
/** Contracts mostly wait, and the tests of the repository mostly compute: together they use both cores. */
const contracts: Stage = {
  name: 'contracts, tidy, commands, the packed package',
  async run() {
    await toolsInstalled
    return await timedStage(run, [CONTRACT_TESTS, REPOSITORY_TESTS, ...WAITING])
  },
}
const browsers: Stage = {
  name: 'browsers',
  async run() {
    prepareBrowser()
    const excluded = TIMED_TESTS.flatMap((path) => ['--exclude', path])
    return sumOf([
      await timedStage(run, [...TIMED_TESTS, '--maxWorkers', '1']),
      await timedStage(run, [BROWSER_TESTS, ...excluded]),
    ])
  },
}
const filtered: Stage = {
  name: positionals.join(' '),
  async run() {
    if (positionals.some((filter) => filter.includes('browser'))) prepareBrowser()
    return await runVitest(ROOT, positionals)
  },
}

/** Installs programs while the first tests run. Resolves when that is done, or could not be done. */
function installTools(): Promise<boolean> {
  const script = join(ROOT, 'tools', 'test-tools-process.ts')
  const options = values['no-browser'] === true ? ['--no-browser'] : []
  return runNode([...process.execArgv, script, ...options], { cwd: ROOT })
}

function prepareBrowser(): void {
  ensureBrowser()
  if (findBrowser() === undefined) console.log(BROWSER_ADVICE)
}

async function test(): Promise<void> {
  const quick = values.timed === true ? [contracts] : [types, units, contracts]
  const whole = values['no-browser'] === true ? quick : [...quick, browsers]
  const results = await runStages(
    positionals.length > 0 ? [filtered] : whole,
    values['no-browser'] === true ? 'browsers: left out, as requested' : '',
  )
  if (values.log !== undefined) appendTestRun(values.log, results, new Date())
}

/** Prints what the runs in `file` say of the stages on a real clock, and sets the exit code. */
function sum(file: string): void {
  if (!existsSync(file)) return misuse(HELP, `--sum: there is no file ${file}. Fix: write it by --log`)
  const { lines, isMet } = sumTestRuns(file, [contracts.name, browsers.name])
  for (const line of lines) console.log(line)
  process.exitCode = isMet ? 0 : 1
}

const toolsInstalled =
  positionals.length > 0 || values.sum !== undefined ? Promise.resolve(false) : installTools()
if (values.sum !== undefined) sum(values.sum)
else await test()
