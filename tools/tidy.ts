/**
 * Tidy: the rules about this repository that a compiler cannot hold. Run by `npm run check` and as a test.
 *
 * Each rule is a function from the repository to findings and knows nothing of the others; `tools/tidy/` has one file
 * per kind. A few hundred lines that can be read beat a linter and twelve plugins.
 */

import { reportFindings } from './api/report.ts'
import { banFindings, cosmeticFindings } from './tidy/determinism-rules.ts'
import {
  apiDocsFindings, doorClockFindings, doorFindings, doorNameFindings, unusedExportFindings,
} from './tidy/door-rules.ts'
import { glossaryFindings } from './tidy/glossary-rules.ts'
import { hotFindings } from './tidy/hot-rules.ts'
import { cycleFindings, deadFileFindings, layerFindings } from './tidy/import-rules.ts'
import { indexFindings, linkFindings, roadFindings } from './tidy/link-rules.ts'
import { type Finding, type Repository } from './tidy/repository.ts'
import { WORD_LIMITS } from './tidy/plain-words.ts'
import { ratchetFindings, tightened } from './tidy/ratchet.ts'
import { SIZE_LIMITS } from './tidy/size-rules.ts'
import { ruleFindings, traceabilityFindings } from './tidy/spec-rules.ts'
import {
  exportFindings, headerFindings, nameFindings, nonNullFindings, suppressionFindings,
} from './tidy/style-rules.ts'
import { wordFindings } from './tidy/word-rules.ts'

/** Everything that the ratchet holds. */
const LIMITS = [...SIZE_LIMITS, ...WORD_LIMITS]

/** `isStrict`: requirements that are still `pending` count too. */
export interface TidyOptions {
  readonly isStrict?: boolean
}

/** Everything untidy, by file and line. */
export function tidy(repository: Repository, { isStrict = false }: TidyOptions = {}): Finding[] {
  const findings = [
    ...layerFindings(repository),
    ...cycleFindings(repository),
    ...deadFileFindings(repository),
    ...banFindings(repository),
    ...cosmeticFindings(repository),
    ...hotFindings(repository),
    ...nameFindings(repository),
    ...headerFindings(repository),
    ...exportFindings(repository),
    ...suppressionFindings(repository),
    ...nonNullFindings(repository),
    ...ratchetFindings(repository, LIMITS),
    ...ruleFindings(repository),
    ...traceabilityFindings(repository, isStrict),
    ...wordFindings(repository),
    ...glossaryFindings(repository),
    ...linkFindings(repository),
    ...indexFindings(repository),
    ...roadFindings(repository),
    ...reportFindings(repository),
    ...doorFindings(repository),
    ...doorNameFindings(repository),
    ...doorClockFindings(repository),
    ...unusedExportFindings(repository),
    ...apiDocsFindings(repository),
  ]
  return findings.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
}

/** The text of the ratchet file, with its entries lowered to what is needed today. */
export function tightenedRatchet(repository: Repository): string {
  return `${JSON.stringify(tightened(repository, LIMITS), undefined, 2)}\n`
}

/** One finding as a line that editors and terminals can jump from. */
export function describeFinding({ rule, path, line, problem }: Finding): string {
  return `${path}:${line}  ${problem}  [${rule}]`
}
