/** The list of invariants and the document that explains it are the same. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { INVARIANTS } from './invariants.ts'

const DOCUMENT = readFileSync(new URL('../../docs/spec/simulation.md', import.meta.url), 'utf8')

test('[SIM4] the invariants of the list and of the document are the same, in the same words and order', () => {
  const [, section = ''] = DOCUMENT.split('\n## Invariants\n')
  const rows = Array.from(section.split('\n## ')[0]!.matchAll(/^\| (\w+) \| (.+?) \| .+ \|$/gm), ([, id, holds]) => [
    id,
    holds,
  ])
  // No world can check it: tests play a seed twice.
  const seen = rows.filter(([id]) => id !== 'I22')
  expect(seen).toHaveLength(rows.length - 1)
  expect(seen).toEqual(Object.entries(INVARIANTS))
})
