import { expect, test } from 'vitest'
import { docsCodeFindings } from '../../tools/docs-code.ts'
import { describeFinding, tidy } from '../../tools/tidy.ts'
import { readRepository } from '../../tools/tidy/repository.ts'
import { traceabilityDrift } from '../../tools/traceability.ts'
import { ROOT } from '../../tools/typecheck.ts'

test('[TIDY13] this repository is tidy', () => {
  const repository = readRepository(ROOT)
  const findings = [
    ...tidy(repository, { isStrict: true }),
    ...docsCodeFindings(repository),
    ...traceabilityDrift(repository),
  ]
  expect(findings.map(describeFinding)).toEqual([])
})
