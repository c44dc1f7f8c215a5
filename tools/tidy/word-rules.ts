/**
 * Words that must not be in the repository: places that exist on one machine only, hosts that a mirror would not be,
 * and numbers of a document that readers do not have.
 */

import { lineAt } from './source-file.ts'
import { TRACEABILITY_PATH } from './spec-rules.ts'
import { type Finding, type Repository } from './repository.ts'

// Written so that no pattern matches its own source.
const FOREIGN: readonly { readonly pattern: RegExp; readonly why: string; readonly except?: string }[] = [
  { pattern: /\/work\/|\.\.\/shared\b/g, why: 'a path on a developer\'s machine' },
  { pattern: /\bregistry\.[a-z]+\.(?:org|com)\b|\bnpmmirror\b/g, why: 'the address of one registry: any must do' },
  { pattern: /\bled[g]er\b/gi, why: 'a document that readers do not have' },
  {
    pattern: /\b(?:LAT|IC|QK|SYNC|RT)-(?:\d+(?:\.\d+)*(?:-\w+)?|[A-Z]+-\d+|A-[a-z])\b/g,
    why: `the number of an outside requirement: cite our own rule; outside numbers live in ${TRACEABILITY_PATH}`,
    except: TRACEABILITY_PATH,
  },
]

/** Foreign words, anywhere. */
export function* wordFindings(repository: Repository): Generator<Finding> {
  for (const [path, text] of repository.texts) {
    for (const { pattern, why, except } of FOREIGN) {
      if (path === except) continue
      for (const match of text.matchAll(pattern)) {
        yield { rule: 'words', path, line: lineAt(text, match.index), problem: `"${match[0]}" is ${why}` }
      }
    }
  }
}
