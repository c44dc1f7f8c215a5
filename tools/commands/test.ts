/**
 * `npm test`: everything that must hold before a change lands, in the order in which it is cheap to find out.
 */

import { BROWSER_ADVICE, findBrowser } from '../../test/browser/browser.ts'
import { ensureBrowser } from '../browser-install.ts'
import { commandLine } from '../command-line.ts'
import { ROOT, typecheck } from '../typecheck.ts'
import { runVitest, type Tally } from '../vitest-run.ts'

const HELP = `
npm test -- [filter...] [options]      Types, tidy, tests, the packed package, real browsers.

  filter           only the test files whose path contains it, and nothing else
  --no-browser     leave the browser tests out

The last line is the sum of everything: N passed, N failed.`

const { values, positionals } = commandLine(HELP, { 'no-browser': { type: 'boolean' } })

const BROWSER_TESTS = 'test/browser/'
const REPOSITORY_TESTS = 'test/repo/'

interface Stage {
  readonly name: string
  run(): Promise<Tally>
}

const types: Stage = {
  name: 'types',
  run: async () => ((await typecheck()) ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 }),
}
const units: Stage = {
  name: 'units, simulations, contracts',
  run: () => runVitest(ROOT, ['--exclude', `${BROWSER_TESTS}**`, '--exclude', `${REPOSITORY_TESTS}**`]),
}
const repository: Stage = { name: 'tidy, commands, the packed package', run: () => runVitest(ROOT, [REPOSITORY_TESTS]) }
const browsers: Stage = {
  name: 'browsers',
  async run() {
    prepareBrowser()
    return await runVitest(ROOT, [BROWSER_TESTS])
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

const whole = values['no-browser'] === true ? [types, units, repository] : [types, units, repository, browsers]
const results: { readonly name: string; readonly tally: Tally; readonly seconds: number }[] = []
for (const stage of positionals.length > 0 ? [filtered] : whole) {
  console.log(`\n== ${stage.name}`)
  const startedAt = performance.now()
  const tally = await stage.run()
  results.push({ name: stage.name, tally, seconds: (performance.now() - startedAt) / 1000 })
}

const sum = (key: keyof Tally): number => results.reduce((total, { tally }) => total + tally[key], 0)
console.log('')
for (const { name, tally, seconds } of results) {
  const skipped = tally.skipped === 0 ? '' : `, ${tally.skipped} skipped`
  console.log(`${name}: ${tally.passed} passed, ${tally.failed} failed${skipped} (${seconds.toFixed(1)} s)`)
}
if (values['no-browser'] === true) console.log('browsers: left out, as asked')
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') === 0 ? 0 : 1
