/** Runs a rule of tidy over a made-up repository. */

import { tidy, type TidyOptions } from '../../tools/tidy.ts'
import { repositoryOf } from '../../tools/tidy/repository.ts'

export const CORE = 'packages/tickwire/src/core'

/** The findings of one rule in a made-up repository, as `path:line`. Every file of the engine gets its header. */
export function found(rule: string, files: Record<string, string>, options?: TidyOptions): string[] {
  const findings = tidy(repositoryOf(files), options).filter((finding) => finding.rule === rule)
  return findings.map(({ path, line }) => `${path.replace(`${CORE}/`, '')}:${line}`)
}
