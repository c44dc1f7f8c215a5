import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTickwire } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-lint-'))
let files = 0

/** Lints modules. The first is the game. Returns the exit code and what is printed. */
async function lintText(...texts: readonly string[]): Promise<{ code: number; findings: Record<string, unknown>[] }> {
  const names = texts.map((_, at) => at === 0 ? `game-${++files}.ts` : `part-${files}-${at}.ts`)
  const linked = (text: string): string => text.replaceAll(/PART(\d)/g, (_all, part) => `./${names[Number(part)]}`)
  texts.forEach((text, at) => { writeFileSync(join(folder, names[at] ?? ''), linked(text)) })
  const lines: string[] = []
  const world = {
    print: (line: string) => { lines.push(line) }, complain: (line: string) => { lines.push(line) },
    nowSeconds: () => 0, entropy: { fill: () => {} },
  }
  const code = await startTickwire(['lint', join(folder, names[0] ?? ''), '--json'], world)
  const { findings } = JSON.parse(lines[0] ?? '{}') as { findings: Record<string, unknown>[] }
  return { code, findings }
}

const inStep = (code: string): string => `export const game = { step(world: unknown, list: number[]) {\n${code}\n} }`

const PLANTED: readonly (readonly [code: string, rule: string, fix: RegExp])[] = [
  [inStep('return Date.now()'), 'ambient', /world\.tick/],
  [inStep('return new Date()'), 'ambient', /world\.tick/],
  [inStep('return performance.now()'), 'ambient', /world\.tick/],
  [inStep('return Math["random"]()'), 'ambient', /world\.random/],
  [inStep('return Math.sin(1)'), 'inexact-math', /math\.sin of tickwire/],
  [inStep('const { cos } = Math; return cos(1)'), 'inexact-math', /math\.cos/],
  [inStep('return Math.tanh(1)'), 'inexact-math', /math\.exp/],
  [inStep('const m = Math; return m.sin(1)'), 'inexact-math', /Math\.name/],
  [inStep('return list[0]! ** 0.5'), 'inexact-math', /math\.pow/],
  [inStep('let a = list[0]!; a **= 2; return a'), 'inexact-math', /math\.pow/],
  [inStep('return new Intl.NumberFormat()'), 'ambient', /page/],
  [inStep('return "a".localeCompare("b")'), 'locale', /< and >/],
  [inStep('return (5).toLocaleString()'), 'locale', /String/],
  [`let counter = 0\n${inStep('counter++')}`, 'state', /entity/],
  [`export var counter = 0\n${inStep('counter = 1')}`, 'state', /entity/],
  [`const seen: number[] = []\n${inStep('seen.push(1)')}`, 'state', /entity/],
  [`const scores = { a: 0 }\n${inStep('scores.a += 1')}`, 'state', /entity/],
  [`const known = new Map<number, number>()\n${inStep('known.set(1, 2)')}`, 'state', /entity/],
  [inStep('return new Map()'), 'collection', /external/],
  [inStep('return new Set(list)'), 'collection', /external/],
  [inStep('return list.sort((a, b) => a < b as never)'), 'comparator', /return a number/],
  [inStep('return list.sort((a, b) => a < b)'), 'comparator', /return a number/],
  [inStep('return list.toSorted(function (a, b) { return a > b })'), 'comparator', /return a number/],
  [inStep('try { list.at(0) } catch { return 1 }'), 'catch', /before the call/],
  [inStep('setTimeout(() => {}, 1)'), 'ambient', /count ticks/],
  [inStep('return process.env.NAME'), 'ambient', /order/],
  [inStep('return crypto.randomUUID()'), 'ambient', /world\.random/],
]

test.each(PLANTED)('[LOCK46] lint finds %j', async (code, rule, fix) => {
  const { code: exit, findings } = await lintText(code)
  expect(exit).toBe(1)
  expect(findings.map((each) => each['rule'])).toEqual([rule])
  expect(findings[0]?.['fix']).toMatch(fix)
  expect(findings[0]?.['line']).toBeGreaterThan(0)
})

const SOUND = `
import type { World } from 'tickwire'
import { math } from 'tickwire'
const TABLE = new Map([[1, 2]])
const SIZES = [1, 2, 3] as const
const BIG = 2 ** 20
type Known = Map<number, Date>
interface Later { readonly at: Date; readonly now: typeof performance }
export const game = {
  external: () => ({ cache: new Map<number, number>() }),
  step(world: World, orders: readonly { by: number; Date: number }[]): number {
    let sum = Math.sqrt(2) + Math.floor(1.5) + math.sin(1) + SIZES[0] + BIG
    const seen: number[] = []
    seen.push(1)
    for (const { by, Date } of orders) sum += by + Date
    const sorted = [...orders].sort((a, b) => a.by - b.by || a.Date - b.Date)
    sum += TABLE.get(1)! + sorted.length
    // lint-ok: is used in this call only, and is not iterated
    const once = new Set<number>()
    return once.has(1) ? sum : seen.length
  },
}
`

test('[LOCK46] types, own names, tables, external and lines with a reason are no findings', async () => {
  expect(await lintText(SOUND)).toEqual({ code: 0, findings: [] })
})

test('[LOCK46] modules that the game imports are judged too, and types are not followed', async () => {
  const { findings } = await lintText(
    `import { turn } from 'PART1'\nimport type { Page } from 'PART2'\n${inStep('return turn()')}`,
    'export function turn(): number { return Math.atan2(1, 2) }',
    'export type Page = number\nexport const at = Date.now()',
  )
  expect(findings.map(({ rule, problem }) => [rule, problem]))
    .toEqual([['inexact-math', 'Math.atan2: not the same bits on every engine']])
})

test('[LOCK46] the games of the repository that are stepped by all peers have no findings', async () => {
  const lines: string[] = []
  const world = {
    print: (line: string) => { lines.push(line) }, complain: (line: string) => { lines.push(line) },
    nowSeconds: () => 0, entropy: { fill: () => {} },
  }
  const root = new URL('../../../../games/', import.meta.url)
  for (const name of ['skirmish', 'hello'])
    expect(await startTickwire(['lint', new URL(`${name}/game.ts`, root).pathname], world), lines.join('\n')).toBe(0)
  expect(lines.at(-1)).toBe('1 module, 0 findings')
})

test('[LOCK46] wrong use is refused with a fix', async () => {
  const lines: string[] = []
  const world = {
    print: () => {}, complain: (line: string) => { lines.push(line) }, nowSeconds: () => 0, entropy: { fill: () => {} },
  }
  writeFileSync(join(folder, 'broken.ts'), 'export const = 1')
  for (const args of [[], [join(folder, 'none.ts')], [join(folder, 'broken.ts')]])
    expect(await startTickwire(['lint', ...args], world)).toBe(2)
  expect(lines.join('\n')).toMatch(/expected one file\. Fix[^]*cannot be read\. Fix[^]*cannot be parsed \(.*\)\. Fix/)
})
