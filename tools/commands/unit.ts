/** `npm run unit`: types, tidy, and the tests beside their files. Meant for use while writing code. */

import { commandLine } from '../command-line.ts'
import { docsCodeFindings } from '../docs-code.ts'
import { oneResult, runStages, SHARED_MODULES } from '../test-stages.ts'
import { describeFinding, tidy } from '../tidy.ts'
import { readRepository } from '../tidy/repository.ts'
import { traceabilityDrift } from '../traceability.ts'
import { ROOT, typecheck } from '../typecheck.ts'
import { runVitest, type Run } from '../vitest-run.ts'

const HELP = `
npm run unit -- [filter...]      Types, tidy, and the tests beside their files. At most 2 minutes on two cores.

  filter       only the test files whose path contains it, after types and tidy

The tests are those of packages/, games/, tools/ and bench/. Simulations, contracts and browsers are in npm test.
At the end the slowest test files are listed. The last line is the sum of everything: N passed, N failed.`

const FOLDERS = ['packages/', 'games/', 'tools/', 'bench/']

const { positionals } = commandLine(HELP, {})

await runStages([
  { name: 'types', run: async () => oneResult(await typecheck()) },
  { name: 'tidy', run: async () => checkTidy() },
  { name: 'tests beside their files', run: runUnits },
])

async function runUnits(): Promise<Run> {
  const filters = positionals.length > 0 ? positionals : FOLDERS
  return await runVitest(ROOT, [...SHARED_MODULES, '--exclude', 'test/**', ...filters])
}

function checkTidy(): Run {
  const repository = readRepository(ROOT)
  const findings = [...tidy(repository), ...docsCodeFindings(repository), ...traceabilityDrift(repository)]
  for (const finding of findings) console.log(describeFinding(finding))
  return oneResult(findings.length === 0)
}
