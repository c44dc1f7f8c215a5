/** `npm run prove`: the long forms of proofs whose short forms are in `npm test`. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, misuse, wholeNumber } from '../command-line.ts'
import { releaseLines, runRelease } from '../release.ts'
import { runSettingMutants } from '../settings-mutants.ts'
import { ROOT } from '../typecheck.ts'
import { runVitest } from '../vitest-run.ts'

const HELP = `
npm run prove -- NAME [options]      Runs the long form of a proof; the short form is in npm test.

  settings-mutants   plants one bug for every default and for every place where a setting is handed over;
                     the settings test must find all of them
  tests              every test that has a long form, with more seeds and longer matches than in npm test
  real-rows          of those, a reader made from docs/wire alone against a real server: 20 s a match instead of 2
  release            everything that runs before a release, in its order, up to the first failure

  --list             release: prints the commands and their times, and runs nothing
  --only TEXT        settings-mutants: the bugs whose name contains it; tests: the files whose path contains it
  --jobs N           settings-mutants: processes at once (default 2)`

const { values, positionals } = commandLine(HELP, {
  only: { type: 'string' }, jobs: { type: 'string' }, list: { type: 'boolean' },
})
const [proof] = positionals
if (positionals.length > 1) misuse(HELP, `one proof at a time, not ${JSON.stringify(positionals.join(' '))}`)
if (proof === 'settings-mutants') await proveSettings()
else if (proof === 'tests') await proveTests(values.only ?? '')
else if (proof === 'real-rows') await proveTests('test/reference/real-rows.test.ts')
else if (proof === 'release' && values.list === true) console.log(releaseLines().join('\n'))
else if (proof === 'release') process.exitCode = runRelease(ROOT) ? 0 : 1
else misuse(HELP, `there is no proof ${JSON.stringify(proof ?? '')}`)

async function proveSettings(): Promise<void> {
  const startedAt = performance.now()
  const results = await runSettingMutants({
    ...(values.only !== undefined && { only: values.only }), jobs: wholeNumber(HELP, 'jobs', values.jobs, 2, 1),
    onResult: ({ name, problem }, done, total) => {
      const details = problem === '' ? '' : `\n        ${problem}`
      console.log(`${done}/${total} ${problem === '' ? 'MISSED' : 'found '} ${name}${details}`)
    },
  })
  const missed = results.filter(({ problem }) => problem === '').length
  console.log(
    `${results.length} planted bugs, ${missed} missed, in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  )
  process.exitCode = missed === 0 && results.length > 0 ? 0 : 1
}

/** Runs the test files that have a long form (they import `test/form.ts`). The variable selects the long form. */
async function proveTests(only: string): Promise<void> {
  const paths = ['test', 'packages/tickwire/src', 'games']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    )
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules') && path.includes(only))
    .filter((path) => /from '[./]+\/form\.ts'/.test(readFileSync(join(ROOT, path), 'utf8')))
  if (paths.length === 0) misuse(HELP, `no test with a long form has a path that contains ${JSON.stringify(only)}`)
  process.env['TICKWIRE_PROVE'] = '1'
  const { passed, failed } = await runVitest(ROOT, paths)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
