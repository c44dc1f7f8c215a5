/**
 * `npm run check`: what can be known without running anything. Types, tidy, code in documents, API reports.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fixedReports } from '../api/report.ts'
import { chartFindings, CHARTS_PAGE, drawCharts, shownCharts } from '../charts/charts.ts'
import { claimFindings, fixedClaims } from '../charts/figures.ts'
import { commandLine } from '../command-line.ts'
import { docsCodeFindings, fixedDocs } from '../docs-code.ts'
import { describeFinding, tidy, tightenedRatchet } from '../tidy.ts'
import { RATCHET_PATH } from '../tidy/ratchet.ts'
import { readRepository, type Repository } from '../tidy/repository.ts'
import { TRACEABILITY_PATH } from '../tidy/spec-rules.ts'
import { fixedTraceability, traceabilityDrift } from '../traceability.ts'
import { ROOT, typecheck } from '../typecheck.ts'

const HELP = `
npm run check -- [options]      Types, tidy, and code in documents. A few seconds.

  --fix         first writes what a machine can: code blocks in documents, the API reports in docs/api,
                charts and figures from bench/RESULTS.md,
                the proof column of ${TRACEABILITY_PATH}, and lower limits for what has shrunk
  --strict      requirements that are still \`pending\` count as untidy
  --no-types    leave the compiler out`

const { values } = commandLine(HELP, {
  fix: { type: 'boolean' },
  strict: { type: 'boolean' },
  'no-types': { type: 'boolean' },
})

if (values.fix === true) fix(readRepository(ROOT))

const areTypesRight = values['no-types'] === true || (await typecheck())
const repository = readRepository(ROOT)
const findings = [
  ...tidy(repository, { isStrict: values.strict === true }),
  ...docsCodeFindings(repository),
  ...traceabilityDrift(repository),
  ...chartFindings(repository),
  ...claimFindings(repository),
]
for (const finding of findings) console.log(describeFinding(finding))
const types = values['no-types'] === true ? 'not checked' : areTypesRight ? 'right' : 'wrong'
console.log(`types ${types}, ${findings.length === 0 ? 'tidy' : `${findings.length} untidy`}`)
process.exitCode = areTypesRight && findings.length === 0 ? 0 : 1

function fix(before: Repository): void {
  const fresh = new Map([...fixedDocs(before), ...fixedReports(before)])
  const claims = fixedClaims(before)
  for (const [path, text] of [...drawCharts(before), ...claims, ...shownCharts(before, claims.get(CHARTS_PAGE))])
    if (before.texts.get(path) !== text) fresh.set(path, text)
  if (traceabilityDrift(before).length > 0) fresh.set(TRACEABILITY_PATH, fixedTraceability(before))
  const ratchet = tightenedRatchet(before)
  if (before.texts.get(RATCHET_PATH) !== ratchet) fresh.set(RATCHET_PATH, ratchet)
  for (const [path, text] of fresh) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
    console.log(`wrote ${path}`)
  }
}
