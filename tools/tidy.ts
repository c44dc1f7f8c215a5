/**
 * Tidy: the rules about this repository that a compiler cannot hold. Run by `npm run check` and as a test.
 *
 * Each rule is a function from the repository to findings and knows nothing of the others; `tools/tidy/` has one file
 * per kind. A few hundred lines that can be read beat a linter and twelve plugins.
 */

import { banFindings, cosmeticFindings } from './tidy/determinism-rules.ts'
import { hotFindings } from './tidy/hot-rules.ts'
import { cycleFindings, deadFileFindings, layerFindings } from './tidy/import-rules.ts'
import { indexFindings, linkFindings } from './tidy/link-rules.ts'
import { type Finding, type Repository } from './tidy/repository.ts'
import { sizeFindings } from './tidy/size-rules.ts'
import { ruleFindings, traceabilityFindings } from './tidy/spec-rules.ts'
import {
  exportFindings, headerFindings, nameFindings, nonNullFindings, suppressionFindings,
} from './tidy/style-rules.ts'
import { wordFindings } from './tidy/word-rules.ts'

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
    ...sizeFindings(repository),
    ...ruleFindings(repository),
    ...traceabilityFindings(repository, isStrict),
    ...wordFindings(repository),
    ...linkFindings(repository),
    ...indexFindings(repository),
  ]
  return findings.sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
}

/** One finding as a line that editors and terminals can jump from. */
export function describeFinding({ rule, path, line, problem }: Finding): string {
  return `${path}:${line}  ${problem}  [${rule}]`
}
