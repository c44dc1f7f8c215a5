import { describe, expect, test } from 'vitest'
import { repositoryOf } from '../../tools/tidy/repository.ts'
import { RATCHET_PATH, tightened } from '../../tools/tidy/ratchet.ts'
import { SIZE_LIMITS } from '../../tools/tidy/size-rules.ts'
import { bannedWordsOf } from '../../tools/tidy/plain-words.ts'
import { CORE, found } from './tidy-found.ts'

const HEADER = '/** What it is. */\n'

/**
 * Like `found`, for one file's body placed at `path` (in core unless it says otherwise); lines count from its first.
 */
function foundIn(rule: string, path: string, body: string): number[] {
  const full = path.includes('/src/') || /^(?:games|test|tools|bench)\//.test(path) ? path : `${CORE}/${path}`
  return found(rule, { [full]: HEADER + body }).map((place) => Number(place.split(':')[1]) - 1)
}

describe('imports', () => {
  test.each([
    ['base/a.ts', '../bits/b.ts'],
    ['bits/a.ts', '../schema/b.ts'],
    ['delivery/a.ts', '../connection/b.ts'],
    ['connection/a.ts', '../world/b.ts'],
    ['replication/a.ts', '../connection/b.ts'],
    ['world/a.ts', '../replication/b.ts'],
    ['world/a.ts', '../game/b.ts'],
    ['base/a.ts', '../../node/b.ts'],
    ['base/a.ts', '../../testing/b.ts'],
    ['bits/a.ts', '../index.ts'],
    ['attic/a.ts', '../base/b.ts'],
    ['base/a.ts', '../../../../../tools/b.ts'],
  ])('[TIDY1] core/%s may not import %s', (path, specifier) => {
    const target = new URL(specifier, `file:///${CORE}/${path}`).pathname.slice(1)
    const files = { [`${CORE}/${path}`]: `${HEADER}import type { b } from '${specifier}'\n`, [target]: HEADER }
    expect(found('layers', files)).toEqual([`${path}:2`])
  })

  test.each([
    ['packages/tickwire/src/core/bits/a.ts', '../base/b.ts'],
    ['packages/tickwire/src/core/endpoint/a.ts', '../crypto/b.ts'],
    ['packages/tickwire/src/core/predict/a.ts', '../world/b.ts'],
    ['packages/tickwire/src/core/game/a.ts', '../replication/b.ts'],
    ['packages/tickwire/src/core/game/a.ts', '../endpoint/b.ts'],
    ['packages/tickwire/src/core/index.ts', './game/b.ts'],
    ['packages/tickwire/src/node/a.ts', '../core/endpoint/b.ts'],
    ['packages/tickwire/src/core/bits/a.test.ts', '../../../../../test/reference/b.ts'],
    ['test/sim/a.test.ts', '../../packages/tickwire/src/node/b.ts'],
  ])('[TIDY1] %s may import %s', (path, specifier) => {
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1)
    expect(found('layers', { [path]: `${HEADER}import { b } from '${specifier}'\n`, [target]: HEADER })).toEqual([])
  })

  test('[TIDY1] edges do not import each other, and games use the doors', () => {
    const files = {
      'packages/tickwire/src/browser/a.ts': `${HEADER}import { b } from '../node/b.ts'\n`,
      'packages/tickwire/src/node/b.ts': HEADER,
      'games/hello/client.ts': `import { b } from '../../packages/tickwire/src/node/b.ts'\n`,
    }
    expect(found('layers', files)).toEqual(['games/hello/client.ts:1', 'packages/tickwire/src/browser/a.ts:2'])
  })

  test('[TIDY1] each part has its own packages', () => {
    expect(foundIn('layers', 'base/a.ts', `import { x } from 'left-pad'`)).toEqual([1])
    expect(foundIn('layers', 'base/a.ts', `import { readFile } from 'node:fs'`)).toEqual([1])
    expect(foundIn('layers', 'packages/tickwire/src/browser/a.ts', `import { WebSocket } from 'ws'`)).toEqual([1])
    expect(foundIn('layers', 'packages/tickwire/src/node/a.ts', `import { WebSocket } from 'ws'`)).toEqual([])
    expect(foundIn('layers', 'base/a.test.ts', `import { test } from 'vitest'`)).toEqual([])
    expect(foundIn('layers', 'games/hello/game.ts', `import { serve } from 'tickwire/node'`)).toEqual([1])
    expect(foundIn('layers', 'games/hello/game.ts', `import { entity } from 'tickwire'`)).toEqual([])
  })

  test('[TIDY2] a cycle of imports at run time is found, a cycle of types is not', () => {
    const ring = (word: string): Record<string, string> => ({
      [`${CORE}/base/a.ts`]: `${HEADER}import { b } from './b.ts'\n`,
      [`${CORE}/base/b.ts`]: `${HEADER}export * from './c.ts'\n`,
      [`${CORE}/base/c.ts`]: `${HEADER}import ${word} { a } from './a.ts'\n`,
    })
    expect(found('cycles', ring(''))).toEqual(['base/a.ts:1'])
    expect(found('cycles', ring('type'))).toEqual([])
  })

  test('[TIDY3] a file that only its own test imports is dead; doors, tests and commands are entry points', () => {
    const files = {
      [`${CORE}/index.ts`]: `${HEADER}export { a } from './base/a.ts'\n`,
      [`${CORE}/base/a.ts`]: HEADER,
      [`${CORE}/base/b.ts`]: HEADER,
      [`${CORE}/base/b.test.ts`]: `import { b } from './b.ts'\n`,
      'test/reference/c.ts': '',
      'test/sim/c.test.ts': `import { c } from '../reference/c.ts'\n`,
      'test/sim/worker.ts': '',
      'test/sim/d.test.ts': `new Worker(new URL('./worker.ts', import.meta.url))\n`,
      'tools/commands/check.ts': HEADER,
    }
    expect(found('dead-files', files)).toEqual(['base/b.ts:1'])
  })
})

describe('determinism', () => {
  test.each(['Date.now()', 'new Date()', 'performance.now()', 'setTimeout(run, 1)', 'queueMicrotask(run)'])(
    '[TIDY4] core may not contain %s',
    (code) => {
      expect(foundIn('clock', 'base/a.ts', `const x = 1\n${code}`)).toEqual([2])
      expect(foundIn('clock', 'packages/tickwire/src/node/a.ts', code)).toEqual([])
      expect(foundIn('clock', 'base/a.ts', `// ${code}\nconst text = '${code}'`)).toEqual([])
    },
  )

  test('[TIDY4] random numbers without a seed are banned in the engine and in tests', () => {
    expect(foundIn('chance', 'base/a.ts', 'Math.random()')).toEqual([1])
    expect(foundIn('chance', 'base/a.test.ts', 'Math.random()')).toEqual([1])
    expect(foundIn('chance', 'test/sim/a.test.ts', 'Math . random()')).toEqual([1])
    expect(foundIn('chance', 'games/hello/game.ts', 'Math.random()')).toEqual([1])
    expect(foundIn('chance', 'games/hello/client.ts', 'Math.random()')).toEqual([])
  })

  test('[TIDY4] state of the machine, and code that is made from text, are found', () => {
    expect(
      foundIn('ambient', 'base/a.ts', 'globalThis.x\nnew Intl.Collator()\na.localeCompare(b)\nx.toLocaleString()'),
    ).toEqual([1, 2, 3, 4])
    expect(foundIn('eval', 'schema/a.ts', `new Function('return 1')\neval('1')\nmath.eval(x)`)).toEqual([1, 2])
  })

  test.each(['sin', 'atan2', 'log2', 'pow', 'hypot', 'exp'])('[TIDY5] simulation code may not use Math.%s', (name) => {
    expect(foundIn('inexact-math', 'predict/a.ts', `Math.${name}(1)`)).toEqual([1])
    expect(foundIn('inexact-math', 'games/arena/game.ts', `Math.${name}(1)`)).toEqual([1])
    expect(foundIn('inexact-math', 'delivery/a.ts', `Math.${name}(1)`)).toEqual([])
    expect(foundIn('inexact-math', 'base/a.test.ts', `Math.${name}(1)`)).toEqual([])
  })

  test('[TIDY5] exact functions pass, and powers of literals', () => {
    expect(
      foundIn('inexact-math', 'world/a.ts', 'Math.sqrt(2)\nMath.floor(1)\nMath.SQRT1_2\n2 ** 32\n2n ** -63n\n1e3 ** 2'),
    ).toEqual([6])
    expect(foundIn('inexact-math', 'world/a.ts', 'x ** 2\n2 ** bits\nx **= 2\n2 ** f(1)\nx[1] ** 2')).toEqual([
      1, 2, 3, 4, 5,
    ])
  })

  test('[TIDY5] the cosmetic generator stays out of the simulation', () => {
    const files = {
      [`${CORE}/base/cosmetic-prng.ts`]: HEADER,
      [`${CORE}/predict/a.ts`]: `${HEADER}import { CosmeticPrng } from '../base/cosmetic-prng.ts'\n`,
      [`${CORE}/index.ts`]: `${HEADER}export { CosmeticPrng } from './base/cosmetic-prng.ts'\n`,
    }
    expect(found('cosmetic', files)).toEqual(['predict/a.ts:2'])
  })
})

describe('hot functions', () => {
  const hot = (body: string): number[] =>
    foundIn('hot', 'bits/a.ts', `/** Fast. @hot */\nexport function f(x: number[]): void {\n${body}\n}`)

  test.each([
    'const a = { x: 1 }',
    'return [1]',
    'const [a] = x',
    'g(() => 1)',
    'g(function () {})',
    'g(...x)',
    'const a = `x${1}`',
    'for (const y of x) g(y)',
    'x.slice(1)',
    'bytes.subarray(0, 2)',
    'new Uint8Array(4)',
    'g({})',
    'a ? {} : b',
  ])('[TIDY6] may not contain: %s', (code) => {
    expect(hot(code).length).toBeGreaterThan(0)
    expect(new Set(hot(code))).toEqual(new Set([3]))
    expect(hot(`// reason: once per connection\n${code}`)).toEqual([])
  })

  test.each([
    'const { length } = x', 'x[0] = x[1]', 'if (x) { g() }', 'for (let i = 0; i < 3; i++) { g(i) }', 'return x[0]',
    'switch (x[0]) {\n  case 1: {\n    g()\n    break\n  }\n  default: {\n    g()\n  }\n}', 'slice(1)', 'map.of = 1',
  ])('[TIDY6] may contain: %s', (code) => {
    expect(hot(code)).toEqual([])
  })

  test('[TIDY6] methods count, neighbours do not, and a mark on nothing is found', () => {
    const methods =
      'class A {\n  /** @hot */\n  read(n: number): { a: number } {\n    return { a: n }\n  }\n\n'
      + '  cold(): object {\n    return {}\n  }\n}'
    expect(foundIn('hot', 'bits/a.ts', methods)).toEqual([4])
    expect(
      foundIn(
        'hot',
        'bits/a.ts',
        '/** @hot */\nexport const x = 1\n\nexport function cold(): object {\n  return {}\n}',
      ),
    ).toEqual([1])
    expect(foundIn('hot', 'bits/a.ts', '/** Functions marked `@hot` are fast. */\nexport const x = 1')).toEqual([])
  })
})

describe('size', () => {
  const longFunction = (name: string, lines: number): string =>
    `function ${name}(): void {\n${'  g()\n'.repeat(lines - 2)}}\n`

  test('[TIDY7] a long file and a long function are found, a long describe is not', () => {
    expect(foundIn('size', 'base/a.ts', 'g()\n'.repeat(399))).toEqual([])
    expect(foundIn('size', 'base/a.ts', 'g()\n'.repeat(400))).toEqual([0])
    expect(foundIn('size', 'base/a.ts', longFunction('f', 70))).toEqual([])
    expect(foundIn('size', 'base/a.ts', longFunction('f', 71))).toEqual([0])
    expect(foundIn('size', 'base/a.test.ts', `describe('a', () => {\n${'  g()\n'.repeat(80)}})`)).toEqual([])
    expect(
      foundIn('size', 'test/contract/a.contract.ts', `export function describeA(): void {\n${'  g()\n'.repeat(80)}}`),
    ).toEqual([])
    expect(foundIn('size', 'base/a.test.ts', `test('a', () => {\n${'  g()\n'.repeat(80)}})`)).toEqual([0])
  })

  test('[TIDY7] a listed exception may shrink, must then be lowered, and may not grow', () => {
    const path = `${CORE}/base/a.ts`
    const withRatchet = (listed: number, actual: number): Record<string, string> => ({
      [RATCHET_PATH]: JSON.stringify({ files: {}, functions: { [`${path} f`]: listed } }),
      [path]: HEADER + longFunction('f', actual),
    })
    expect(found('size', withRatchet(90, 90))).toEqual([])
    expect(found('size', withRatchet(90, 91))).toEqual(['base/a.ts:1'])
    expect(found('size', withRatchet(90, 80))).toEqual(['base/a.ts:1'])
    const lowered = (listed: number, actual: number): unknown =>
      tightened(repositoryOf(withRatchet(listed, actual)), SIZE_LIMITS)['functions']
    expect(lowered(90, 80)).toEqual({ [`${path} f`]: 80 })
    expect(lowered(90, 60)).toEqual({})
    expect(lowered(90, 95)).toEqual({ [`${path} f`]: 90 })
  })

  test('[TIDY7] a line of code has at most 120 columns, unless one word of it cannot be broken', () => {
    const wide = (columns: number): string => `const a = ${'1 + '.repeat(columns)}`.slice(0, columns)
    expect(foundIn('columns', 'base/a.ts', wide(120))).toEqual([])
    expect(foundIn('columns', 'base/a.ts', wide(121))).toEqual([0])
    expect(foundIn('columns', 'base/a.ts', `const hash = '${'0'.repeat(128)}'`)).toEqual([])
  })
})

describe('plain words', () => {
  test('[TIDY15] banned words are counted in comments, texts and names; a question may ask for a person', () => {
    const join = (...parts: string[]): string => parts.join('')
    const comment = `// The client was ${join('to', 'ld')} of the row that ${join('h', 'e')} holds.`
    expect(bannedWordsOf(comment)).toHaveLength(2)
    expect(bannedWordsOf(`const is${join('To', 'ld')} = last${join('H' + 'e', 'ard')}At`)).toHaveLength(2)
    expect(bannedWordsOf(`// ${join('Wh', 'o')} left is out.`)).toHaveLength(1)
    expect(bannedWordsOf(`// ${join('Wh', 'o')} may leave? The client of this line.`)).toHaveLength(0)
    expect(bannedWordsOf('// The client sends the whole row; the header says when.')).toHaveLength(0)
  })
})

describe('style', () => {
  test('[TIDY8] a suppression without a reason is found', () => {
    const body = [
      'const a = b as any',
      'let c: any',
      '// @ts-ignore',
      '/* eslint-disable */',
      '// @ts-expect-error x',
    ].join('\n\n')
    expect(foundIn('suppressions', 'base/a.ts', body)).toEqual([1, 3, 5, 7, 9])
    expect(
      foundIn(
        'suppressions',
        'base/a.ts',
        '// reason: the library lies\nconst a = b as any\n// @ts-ignore reason: so does this one',
      ),
    ).toEqual([])
    expect(
      foundIn('suppressions', 'base/a.ts', '/** Speaks of @ts-ignore and any. */\nconst any = 1\nconst o = { any: 2 }'),
    ).toEqual([])
  })

  test('[TIDY8] a type test says what its expected error asserts', () => {
    expect(foundIn('suppressions', 'schema/a.test-d.ts', '// @ts-expect-error a misspelt field')).toEqual([])
    expect(foundIn('suppressions', 'schema/a.test-d.ts', '// @ts-expect-error')).toEqual([1])
  })

  test('[TIDY8] the engine has no non-null assertion', () => {
    expect(foundIn('non-null', 'base/a.ts', 'a!.b\nf(a!)\nx[0]!\nf()!.c')).toEqual([1, 2, 3, 4])
    expect(foundIn('non-null', 'base/a.ts', 'a !== b\n!a\nif (!a) b()\na != b\nf(!a)')).toEqual([])
    expect(foundIn('non-null', 'base/a.test.ts', 'a!.b')).toEqual([])
  })

  test('[TIDY9] file names are kebab-case and specific', () => {
    for (const name of [
      'utils.ts',
      'string-utils.ts',
      'helpers/a.ts',
      'data.ts',
      'PeerManager.ts',
      'camelCase.ts',
      'snake_case.ts',
    ]) {
      expect(found('names', { [`${CORE}/base/${name}`]: HEADER }).length, name).toBeGreaterThan(0)
    }
    for (const name of ['bit-writer.ts', 'database.ts', 'x.test-d.ts', 'utf8.test.ts', 'transport.contract.ts']) {
      expect(found('names', { [`${CORE}/base/${name}`]: HEADER }), name).toEqual([])
    }
  })

  test('[TIDY9] a file of the engine begins with a comment that says what it is', () => {
    expect(found('headers', { [`${CORE}/base/a.ts`]: 'export const a = 1\n' })).toEqual(['base/a.ts:1'])
    expect(found('headers', { [`${CORE}/base/a.ts`]: '// short\nexport const a = 1\n' })).toEqual(['base/a.ts:1'])
    expect(found('headers', { [`${CORE}/base/a.ts`]: HEADER, [`${CORE}/base/a.test.ts`]: '' })).toEqual([])
  })

  test('[TIDY9] default exports, enums and namespaces are found', () => {
    expect(foundIn('default-exports', 'base/a.ts', 'export default 1\nexport { a as default }')).toEqual([1, 2])
    expect(found('default-exports', { 'vitest.config.ts': 'export default {}' })).toEqual([])
    expect(
      foundIn('erasable', 'base/a.ts', 'export const enum A { B }\nenum C { D }\nnamespace E {\n}\nfoo.enum(x)'),
    ).toEqual([1, 2, 3])
  })
})
