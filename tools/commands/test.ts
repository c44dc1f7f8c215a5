/**
 * `npm test`: everything that must hold before a change lands, in the order in which it is cheap to find out.
 */

import { BROWSER_ADVICE, findBrowser } from '../../test/browser/browser.ts'
import { ensureBrowser, ensureNetworkTools } from '../browser-install.ts'
import { commandLine } from '../command-line.ts'
import { ENGINES } from '../../test/engines/run-engines.ts'
import { ensureEngines } from '../engine-install.ts'
import { ROOT, typecheck } from '../typecheck.ts'
import { oneResult, runStages, SHARED_MODULES, sumOf, timedStage, type Stage, WAITING } from '../test-stages.ts'
import { runVitest, type Run } from '../vitest-run.ts'

const HELP = `
npm test -- [filter...] [options]      Types, tidy, tests, the packed package, real browsers.

  filter           only the test files whose path contains it, and nothing else
  --no-browser     leave the browser tests out

A failed test of sockets, processes or browsers runs once more, alone. If it passes then, a warning names it.
At the end the slowest test files are listed. The last line is the sum of everything: N passed, N failed.`

const { values, positionals } = commandLine(HELP, { 'no-browser': { type: 'boolean' } })

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
const contracts: Stage = {
  name: 'contracts',
  run() {
    ensureNetworkTools()
    // Firefox is left to `npm run engines`: it is large.
    ensureEngines(ENGINES.filter(({ name }) => name !== 'Firefox'))
    return timedStage(run, [CONTRACT_TESTS, ...WAITING])
  },
}
const repository: Stage = {
  name: 'tidy, commands, the packed package',
  run: () => timedStage(run, [REPOSITORY_TESTS]),
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

function prepareBrowser(): void {
  ensureBrowser()
  if (findBrowser() === undefined) console.log(BROWSER_ADVICE)
}

const quick = [types, units, contracts, repository]
const whole = values['no-browser'] === true ? quick : [...quick, browsers]
await runStages(
  positionals.length > 0 ? [filtered] : whole,
  values['no-browser'] === true ? 'browsers: left out, as requested' : '',
)
