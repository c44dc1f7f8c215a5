import { expect, test } from 'vitest'
import { docsCodeFindings, fixedDocs } from '../../tools/docs-code.ts'
import { repositoryOf } from '../../tools/tidy/repository.ts'

const game = `// #region size
export const SIZE = 16
// #endregion

export function area(): number {
  // #region area
  if (SIZE > 0) {
    return SIZE * SIZE
  }
  // #endregion
  return 0
}
`

/** Fixes a document twice: the second time there must be nothing to do. */
function fixed(document: string): { text: string; findings: number } {
  const files = { 'games/a/game.ts': game, 'README.md': document }
  const findings = docsCodeFindings(repositoryOf(files)).length
  const text = fixedDocs(repositoryOf(files)).get('README.md') ?? document
  expect(fixedDocs(repositoryOf({ ...files, 'README.md': text })).size).toBe(0)
  return { text, findings }
}

test('[DOCS1] a whole file, without its region marks', () => {
  const { text, findings } = fixed('Before.\n\n<!-- code: games/a/game.ts -->\n```ts\nstale\n```\n\nAfter.\n')
  expect(findings).toBe(1)
  expect(text).toContain('```ts\nexport const SIZE = 16\n\nexport function area(): number {\n  if (SIZE > 0) {\n')
  expect(text).not.toContain('region')
  expect(text.startsWith('Before.\n\n<!-- code: games/a/game.ts -->\n')).toBe(true)
  expect(text.endsWith('}\n```\n\nAfter.\n')).toBe(true)
})

test('[DOCS1] a region, without the indentation its lines share', () => {
  const { text } = fixed('<!-- code: games/a/game.ts#area -->\n```ts\n```\n')
  expect(text).toBe('<!-- code: games/a/game.ts#area -->\n```ts\nif (SIZE > 0) {\n  return SIZE * SIZE\n}\n```\n')
})

test('[DOCS1] a marker without a block gets one, and two markers do not meet', () => {
  const { text } = fixed(
    '<!-- code: games/a/game.ts#size -->\n\n<!-- code: games/a/game.ts#size -->\n```js\nold\n```\n',
  )
  expect(text.match(/export const SIZE = 16/g)).toHaveLength(2)
  expect(text).toContain('```js\nexport')
})

test('[DOCS1] a marker that leads nowhere is a finding, and nothing is rewritten', () => {
  for (const marker of ['games/b/game.ts', 'games/a/game.ts#nowhere']) {
    const document = `<!-- code: ${marker} -->\n\`\`\`ts\nkeep\n\`\`\`\n`
    const { text, findings } = fixed(document)
    expect(findings).toBe(1)
    expect(text).toBe(document)
  }
})

test('[DOCS1] blocks without a marker are left alone', () => {
  const document = '```ts\nfree text\n```\n'
  expect(fixed(document)).toEqual({ text: document, findings: 0 })
})
