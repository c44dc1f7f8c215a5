import { expect, test } from 'vitest'
import { glossaryFindings, GLOSSARY_PATH } from '../../tools/tidy/glossary-rules.ts'
import { repositoryOf } from '../../tools/tidy/repository.ts'

const ROW = 'packages/tickwire/src/core/row.ts'

function found(files: Record<string, string>): string[] {
  return [...glossaryFindings(repositoryOf(files))].map(({ path, line, problem }) => `${path}:${line} ${problem}`)
}

test('[TIDY19] a word of the glossary names a file that exists and contains it, in any spelling', () => {
  const glossary = `# Glossary

| word | meaning | where |
|---|---|---|
| ack block | Acks. | core/row.ts |
| lane | An int32. | core/row.ts |
| swarm | Matches. | test/swarm.ts |
| cell | A double. | core/gone.ts |
`
  const files = { [GLOSSARY_PATH]: glossary, [ROW]: 'export class AckBlock {}\n', 'test/swarm.ts': '// A swarm.\n' }
  expect(found(files)).toEqual([
    `${GLOSSARY_PATH}:6 core/row.ts does not contain "lane"`,
    `${GLOSSARY_PATH}:8 there is no file core/gone.ts: name one that uses "cell"`,
  ])
})

test('[TIDY19] a retired word is found as a whole name in code and documents, and allowed in decisions', () => {
  const files = {
    [GLOSSARY_PATH]: '| word | use instead |\n|---|---|\n| OldRow, OLD_ROWS | Row |\n',
    [ROW]: '// New.\nconst a = OldRow\n',
    'docs/guide/a.md': 'OLD_ROWS\n',
    'docs/adr/1.md': 'OldRow\n',
    'test/a.ts': 'const OldRows = 1\n',
  }
  expect(found(files).sort()).toEqual(
    ['docs/guide/a.md:1 OLD_ROWS is retired: Row', `${ROW}:2 OldRow is retired: Row`],
  )
})
