import { expect, test } from 'vitest'
import { readRepository } from '../tidy/repository.ts'
import { ROOT } from '../typecheck.ts'

test('[SITE5] every line of "What works today" names rules that exist', () => {
  const { texts } = readRepository(ROOT)
  const rules = [...texts].filter(([path]) => path.startsWith('docs/spec/')).map(([, text]) => text).join('\n')
  const section = /## What works today\n([\s\S]*?)\n## /.exec(texts.get('README.md') ?? '')?.[1] ?? ''
  const lines = section.split(/^- /m).slice(1).map((line) => line.split('\n\n', 1)[0] ?? '')
  expect(lines.length).toBeGreaterThanOrEqual(10)
  for (const line of lines) {
    const ids = [...line.matchAll(/`([A-Z]+\d+)`/g)].map((match) => match[1] ?? '')
    expect(ids, line).not.toEqual([])
    for (const id of ids) expect(rules, id).toMatch(new RegExp(`(?:\\*\\*|\\| )${id}(?:\\*\\*| \\|)`))
  }
})
