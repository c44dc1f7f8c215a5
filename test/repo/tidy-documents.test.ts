/** Rules of tidy about documents, rules with their tests, and links; and the scanner below all rules. */

import { describe, expect, test } from 'vitest'
import { tidy, type TidyOptions } from '../../tools/tidy.ts'
import { repositoryOf } from '../../tools/tidy/repository.ts'
import { sourceFile } from '../../tools/tidy/source-file.ts'
import { fixedTraceability, traceabilityDrift } from '../../tools/traceability.ts'
import { CORE, found } from './tidy-found.ts'

describe('documents', () => {
  // Written in pieces, so that this file does not contain the invented ids.
  const borne = (id: string): string => `test('${'['}${id}] x', () => {})\n`
  const spec = 'docs/spec/a.md'
  const table = (heldBy: string): string =>
    `# Title\n\n| id | asks | held by | proof |\n|---|---|---|---|\n| REQ-1-a | bool | ${heldBy} | |\n`
  const trace = 'docs/spec/traceability.md'

  test('[TIDY10] a rule without a test, a test without a rule, and a rule that exists twice are found', () => {
    expect(found('spec', { [spec]: '- **AA1** One.\n- **AA2** Two.\n', 'test/a.test.ts': borne('AA1') })).toEqual([
      `${spec}:2`,
    ])
    expect(found('spec', { [spec]: '- **AA1** One.\n', 'test/a.test.ts': borne('AA1') + borne('AA3') })).toEqual([
      'test/a.test.ts:2',
    ])
    expect(found('spec', { [spec]: '**AA1** One.\n\n| AA1 | again |\n', 'test/a.test.ts': borne('AA1') })).toEqual([
      `${spec}:3`,
    ])
    expect(found('spec', { [spec]: '- **AA1** One, unlike **AA9**.\n', 'test/a.test.ts': borne('AA1') })).toEqual([])
    expect(found('spec', { [spec]: '### **AA1**\n### **AA2**\n', 'test/a.test.ts': borne('AA1][AA2') })).toEqual([])
    expect(
      found('spec', { [spec]: '- **AA1** One.\n', 'test/a.test-d.ts': `// ${'['}AA1] does not compile\n` }),
    ).toEqual([])
  })

  test('[TIDY11] a row leads to rules and files that exist, a reason, or open work', () => {
    const check = (heldBy: string, options?: TidyOptions): number =>
      found(
        'traceability',
        { [spec]: '- **AA1** One.\n', 'test/a.test.ts': borne('AA1'), [trace]: table(heldBy) },
        options,
      ).length
    for (const good of [
      'AA1',
      '`test/a.test.ts`',
      'reason: UTF8 is enough',
      'open: Paths',
      'AA1, open: Lockstep',
      'AA1, reason: x; open: Paths',
      'pending',
    ]) {
      expect(check(good), good).toBe(0)
    }
    for (const bad of [
      '',
      'AA2',
      '`test/b.test.ts`',
      'somehow',
      'reason:',
      'AA1, later: x',
      'AA1, open: Someday',
      'AA1, open: Paths; open: Someday',
    ])
      expect(check(bad), bad).toBe(1)
    for (const open of ['pending', 'AA1, pending schema']) expect(check(open, { isStrict: true }), open).toBe(1)
    expect(found('traceability', { [trace]: table('open: Paths') + '| REQ-1-a | again | open: Paths | |\n' })).toEqual([
      `${trace}:6`,
    ])
  })

  test('[TIDY11] the last column is computed from the tests', () => {
    const files = {
      [spec]: '- **AA1** One.\n',
      [`${CORE}/base/a.test.ts`]: borne('AA1'),
      'test/z.test.ts': borne('AA1'),
    }
    const stale = repositoryOf({ ...files, [trace]: table('AA1, open: Paths') })
    expect(traceabilityDrift(stale)).toHaveLength(1)
    const fixed = fixedTraceability(stale)
    expect(fixed).toContain('| REQ-1-a | bool | AA1, open: Paths | core/base/a.test.ts, test/z.test.ts |\n')
    expect(traceabilityDrift(repositoryOf({ ...files, [trace]: fixed }))).toEqual([])
  })

  test('[TIDY12] paths, registry hosts and numbers of outside requirements are found', () => {
    const words = [
      ['/wo', 'rk/main'],
      ['..', '/shared/spec'],
      ['registry', '.npmjs.org'],
      ['the Led', 'ger'],
      ['LAT', '-21.4-c'],
      ['RT', '-PK-01'],
      ['LAT', '-A-a'],
    ]
    for (const word of words)
      expect(found('words', { 'README.md': `fine\n${word.join('')}\n` }), word.join('')).toEqual(['README.md:2'])
    expect(found('words', { [trace]: `| ${words[4]!.join('')} | x | open: Paths | |\n` })).toEqual([])
    expect(found('words', { 'README.md': 'networking, framework/worker, START-1' })).toEqual([])
  })

  test('[TIDY14] a link leads to a file or a folder that exists', () => {
    const linksIn = (text: string): number[] =>
      found('links', { 'games/README.md': text, 'games/a/b.ts': '', 'other.md': '', 'c d.txt': '' }).map((place) =>
        Number(place.split(':')[1]),
      )
    expect(
      linksIn(
        '[a](a/b.ts) [b](../other.md)\n[c](a) [d](./a/) [e](..) [f](/other.md) [g](../c%20d.txt) [h](<a/b.ts> "title")',
      ),
    ).toEqual([])
    expect(
      linksIn(
        "[a](a/c.ts)\n[b](other.md)\n[c](b/)\n[d](../../other.md)\n[e](../Other.md)\n[f](/a/b.ts)\n[g](a/c.ts 'title')",
      ),
    ).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(
      linksIn('fine\n[two\nlines](none.md)\n![picture](none.png)\n[![both](none.svg)](a/b.ts)\n[`code`](none.md)'),
    ).toEqual([3, 4, 5, 6])
    expect(linksIn('[a][b]\n\n[b]: none.md\n[c]: a/b.ts\n\n<img alt="" src="none.png"> <a href="a/b.ts">')).toEqual([
      3, 6,
    ])
    expect(linksIn('[a](https://example.com/none.md) [b](mailto:a@b.c) [c](//example.com/none)')).toEqual([])
    expect(
      linksIn('`[a](none.md)` ``a ` [b](none.md)``\n\n```md\n[c](none.md)\n```\n<!-- [d](none.md) -->\n[e](none.md)'),
    ).toEqual([7])
  })

  test('[TIDY14] a file that the page of the architecture names exists', () => {
    const page = 'docs/architecture.md'
    const missing = { [page]: 'Open `core/world/gone.ts`.\n' }
    expect(tidy(repositoryOf(missing)).filter(({ rule }) => rule === 'roads')).toHaveLength(1)
    const known = { [page]: 'Open `core/world/world.ts`.\n', 'packages/tickwire/src/core/world/world.ts': '' }
    expect(tidy(repositoryOf(known)).filter(({ rule }) => rule === 'roads')).toEqual([])
  })

  test('[TIDY14] a link may lead to a file that is not text', () => {
    const repository = repositoryOf({ 'README.md': '![a](docs/a.png)\n![b](docs/b.png)\n[c](docs)' }, ['docs/a.png'])
    expect(tidy(repository).filter(({ rule }) => rule === 'links').map(({ line }) => line)).toEqual([2])
  })

  test.each([
    ['Plain words', 'plain-words'],
    ['7. A test: `game.test.ts`', '7-a-test-gametestts'],
    ['What it is, and **is not** #', 'what-it-is-and-is-not'],
    ['snake_case - and – dashes', 'snake_case---and--dashes'],
    ['[A link](b.md), shown', 'a-link-shown'],
    ['Größe 2²', 'größe-2'],
  ])('[TIDY14] the anchor of "%s" is #%s', (heading, anchor) => {
    const files = {
      'a.md': `# Title\n\n## ${heading}\n\n[here](#${anchor})\n[not](#${anchor}-1)\n`,
      'b.md': `[there](a.md#${encodeURIComponent(anchor)})`,
    }
    expect(found('links', files)).toEqual(['a.md:6'])
  })

  test('[TIDY14] headings of one name are numbered; code blocks and files other than Markdown have none', () => {
    const files = {
      'a.md': '## Twice\n\n## Twice\n\n```sh\n# Comment\n```\n',
      'b.md':
        '[a](a.md#twice)\n[b](a.md#twice-1)\n[c](a.md#twice-2)\n[d](a.md#comment)\n'
          + '[e](c.ts#twice)\n[f](a.md#Twice)\n[g](#)',
      'c.ts': '',
    }
    expect(found('links', files)).toEqual(['b.md:3', 'b.md:4', 'b.md:5', 'b.md:6'])
  })

  test('[TIDY14] docs/README.md lists every page, and decisions by their own titles', () => {
    const pages = {
      'docs/adr/0001-a.md': '# 1. A `b`: c\n',
      'docs/guide/d.md': '',
      'docs/guide/examples/e.ts': '',
      'docs/wire/f.json': '',
    }
    const problems = (index: string): string[] => {
      const findings = tidy(repositoryOf({ ...pages, ...(index !== '' && { 'docs/README.md': index }) })).filter(
        ({ rule }) => rule === 'links',
      )
      return findings.map(({ path, line, problem }) => `${path}:${line} ${problem}`)
    }
    const rest = '[d](guide/d.md), [f](wire/f.json)'
    expect(problems(`[A \`b\`: c](adr/0001-a.md)\n${rest}`)).toEqual([])
    expect(problems(`${rest}\n[A](adr/0001-a.md)`)).toEqual([
      'docs/README.md:2 lists a decision by another title than its own: [A `b`: c](adr/0001-a.md)',
    ])
    expect(problems('')).toEqual(
      ['adr/0001-a.md', 'guide/d.md', 'wire/f.json'].map((page) => `docs/README.md:1 does not list docs/${page}`),
    )
    expect(found('links', { 'docs/adr/0001-a.md': '# A\n', 'docs/README.md': '[A](adr/0001-a.md)' })).toEqual([
      'docs/adr/0001-a.md:1',
    ])
  })
})

describe('the scanner', () => {
  const codeOf = (text: string): string => sourceFile('a.ts', text).code

  test('[TIDY13] blanks strings, comments, templates and regular expressions, and keeps code and lines', () => {
    expect(codeOf(`a('x // y') // z\nb`)).toBe(`a('      ')     \nb`)
    expect(codeOf('a(`x ${b({ c: `d` })} e`)')).toBe('a(`   {b({ c: ` ` })}  `)')
    expect(codeOf(`const r = /['"\`]/g\nconst d = a / b / c`)).toBe(`const r = '      '\nconst d = a / b / c`)
    expect(codeOf('return /}/.test(x)')).toBe(`return ' '.test(x)`)
    expect(codeOf('/** a\n b */ c')).toBe('     \n      c')
  })

  test('[TIDY13] finds every form of import', () => {
    const text =
      `import a from './a.ts'\nimport type {\n  B,\n} from './b.ts'\nimport './c.ts'\nexport * from './d.ts'\n`
      + `await import('./e.ts')\n// import './f.ts'\nexport const g = './g.ts'\n`
    const sites = sourceFile('x.ts', text).imports.map(({ specifier, line, isType }) => [specifier, line, isType])
    expect(sites).toEqual([
      ['./a.ts', 1, false],
      ['./b.ts', 4, true],
      ['./c.ts', 5, false],
      ['./d.ts', 6, false],
      ['./e.ts', 7, false],
    ])
  })
})
