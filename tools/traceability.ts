/**
 * Fills the last column of docs/spec/traceability.md: for each requirement, the test files that bear its rules. People
 * write which rules hold a requirement; where those are proven is found.
 */

import type { Finding, Repository } from './tidy/repository.ts'
import { bearersOf, requirementsOf, ruleIdsIn, TRACEABILITY_PATH } from './tidy/spec-rules.ts'

/** The table as it should be. */
export function fixedTraceability(repository: Repository): string {
  const lines = (repository.texts.get(TRACEABILITY_PATH) ?? '').split('\n')
  const bearers = bearersOf(repository)
  for (const { id, asks, heldBy, line } of requirementsOf(lines.join('\n'))) {
    const paths = ruleIdsIn(heldBy).flatMap((rule) => (bearers.get(rule) ?? []).map(({ path }) => path))
    const proof = [...new Set(paths)].sort().map(shortPath).join(', ')
    lines[line - 1] = `| ${id} | ${asks} | ${heldBy} | ${proof}${proof === '' ? '' : ' '}|`
  }
  return lines.join('\n')
}

/** A table whose last column is out of date. */
export function traceabilityDrift(repository: Repository): Finding[] {
  const text = repository.texts.get(TRACEABILITY_PATH)
  if (text === undefined || text === fixedTraceability(repository)) return []
  const problem = 'its last column is not what the tests say: npm run check -- --fix'
  return [{ rule: 'traceability', path: TRACEABILITY_PATH, line: 1, problem }]
}

/** Tests of the engine are beside the files that they test, so the folder is enough. */
function shortPath(path: string): string {
  return path.replace(/^packages\/tickwire\/src\//, '')
}
