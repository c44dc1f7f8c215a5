import { expect, test } from 'vitest'
import { declarationsOf } from '../../tools/api/declarations.ts'
import { fixedReports } from '../../tools/api/report.ts'
import { DOORS } from '../../tools/layers.ts'
import { tidy } from '../../tools/tidy.ts'
import { repositoryOf } from '../../tools/tidy/repository.ts'
import { sourceFile } from '../../tools/tidy/source-file.ts'

const SRC = 'packages/tickwire/src'
const HEADER = '/** The header. */\n\n'

/** A package with these doors (`.` is core) and these other files of src. */
function packageOf(doors: readonly string[], files: Record<string, string>): Record<string, string> {
  const partOf = (door: string): string => (door === '.' ? 'core' : door.slice(2))
  const entry = (door: string): object => ({ 'tickwire-source': `./src/${partOf(door)}/index.ts` })
  const exports = Object.fromEntries(doors.map((door) => [door, entry(door)]))
  const placed = Object.entries(files).map(([path, text]) => [`${SRC}/${path}`, HEADER + text])
  return { 'packages/tickwire/package.json': JSON.stringify({ exports }), ...Object.fromEntries(placed) }
}

/** The problems that a rule finds. */
function problems(rule: string, files: Record<string, string>): string[] {
  return tidy(repositoryOf(files)).filter((finding) => finding.rule === rule).map(({ problem }) => problem)
}

/** As package.json names a door. */
const nameOf = (door: string): string => door.replace('tickwire', '.')
const ALL_DOORS = [...DOORS.keys()].map(nameOf)

test('[TIDY16] the manifest has the doors of tools/layers.ts', () => {
  expect(problems('doors', packageOf(ALL_DOORS, {}))).toEqual([])
  expect(problems('doors', packageOf(ALL_DOORS.slice(1), {}))).toEqual(['tickwire is not exported'])
  expect(problems('doors', packageOf([...ALL_DOORS, './attic'], {}))).toEqual([
    'tickwire/attic is not a door of tools/layers.ts',
  ])
})

/** A door "." that exports these declarations of one file, and a guide page. */
function authors(list: string, source: string, page: string): Record<string, string> {
  const files = { 'core/index.ts': `export { ${list} } from './base/a.ts'\n`, 'core/base/a.ts': source }
  return { ...packageOf(ALL_DOORS, files), 'docs/guide/page.md': page }
}

test('[TIDY16] a name of tickwire is in code on a guide page', () => {
  const source = 'export function begin(): void {}\n'
  expect(problems('doors', authors('begin', source, 'Call `begin(1)`.'))).toEqual([])
  expect(problems('doors', authors('begin', source, 'To begin, do nothing.'))).toEqual([
    'begin is on no page of docs/guide: use it there, or do not export it',
    'nothing uses begin: do not export it',
  ])
})

test('[TIDY16] tickwire has at most 120 names', () => {
  const names = Array.from({ length: 121 }, (_, at) => `name${at}`)
  const source = names.map((name) => `export const ${name} = 0\n`).join('')
  const page = names.map((name) => `\`${name}\``).join(' ')
  expect(problems('doors', authors(names.join(', '), source, page))).toEqual([
    '121 names, over 120: tickwire/engine is for the layers below',
  ])
  expect(problems('doors', authors(names.slice(1).join(', '), source, page))).toEqual([])
})

test('[TIDY16] a name is used when a file imports it from its door, or another signature has it', () => {
  const files = packageOf(ALL_DOORS, {
    'engine/index.ts': `export { start, stop, type Options, type Other } from '../core/base/a.ts'\n`,
    'core/base/a.ts': `export interface Options { readonly a: number }\nexport interface Other { readonly b: number }
export function start(options: Options): void {}\nexport function stop(): void {}\n`,
    'node/index.ts': `export { start } from '../core/base/a.ts'\n`,
    'browser/index.ts': '',
  })
  const user = `import { start } from 'tickwire/engine'\nimport { start as again } from 'tickwire/node'\n`
  expect(problems('doors', { ...files, 'bench/a.ts': user })).toEqual([
    'nothing uses stop: do not export it',
    'nothing uses Other: do not export it',
    'start is exported by tickwire/engine already',
  ])
})

test('[TIDY20] a function behind a door without a clock takes no time', () => {
  const source = `export interface Match { tick(now: number): void; kick(): void }
export function start(now: number): Match
export function watch(onEvent: (now: number) => void): void\n`
  const index = `export { start, watch, type Match } from '../core/base/a.ts'\n`
  const of = (door: string): string[] => problems('doors', {
    ...packageOf(ALL_DOORS, { [`${door}/index.ts`]: index, 'core/base/a.ts': source }),
    'docs/guide/page.md': '`start` `watch` `Match`',
  })
  expect(of('node')).toEqual([
    'Match.tick takes the time, and tickwire/node has no clock',
    'start takes the time, and tickwire/node has no clock',
  ])
  expect(of('engine')).toEqual([])
})

test.each([
  ['tickwire', 0],
  ['tickwire/lockstep', 0],
  ['tickwire/node', 1],
  ['tickwire/ecs', 1],
])('[TIDY16] a game.ts that imports %s has %i findings', (specifier, count) => {
  for (const path of ['games/hello/game.ts', 'docs/guide/examples/hello/game.ts']) {
    expect(problems('layers', { [path]: `import { x } from '${specifier}'\n` })).toHaveLength(count)
  }
})

const SHAPES = `/** A kind of thing. */
export class Thing<S extends object = object> extends Base {
  /** How many there are. */
  readonly count: number = 0
  readonly #secret = 1
  private hidden = 2
  size = 3

  constructor(size: number, { isLarge = false }: ThingOptions = {}) {
    super()
    this.size = isLarge ? size : 0
  }

  /** The name. */
  get name(): string {
    return \`a \${this.size}\`
  }

  static of(
    first: string, // the first
    ...rest: readonly string[]
  ): { readonly made: Thing } {
    return { made: new Thing(rest.length) }
  }
}

export interface ThingOptions {
  /** Default: false. */
  readonly isLarge?: boolean
  on(event: 'opened' | 'closed'): void
}

interface Small { readonly x: number; readonly y: number }

export type Shown = { readonly kind: 'small'; readonly at: Small } | {
  readonly kind: 'large'
  readonly by: number
}

/** Picks one. */
export function pick(from: string): string
export function pick(from: number): number
export function pick(from: string | number): string | number {
  return from
}

export const LIMIT = 5
export const table: ReadonlyMap<string, number> = new Map([['a', 1]])
export const NAMES = {
  one: 1,
  'two-three': 23,
} as const
`

test('[TIDY17] a report has signatures without bodies, private members and comments', () => {
  const found = declarationsOf(sourceFile('a.ts', SHAPES))
  const text = (name: string): string[] => {
    const declaration = found.get(name)
    return [declaration?.signature ?? '', ...(declaration?.members ?? []).map(({ signature }) => signature)]
  }
  expect(text('Thing')).toEqual([
    'class Thing<S extends object = object> extends Base',
    'readonly count: number',
    'size = 3',
    'constructor(size: number, { isLarge = false }: ThingOptions = {})',
    'get name(): string',
    'static of(first: string, ...rest: readonly string[]): { readonly made: Thing }',
  ])
  expect(text('ThingOptions').slice(1)).toEqual(['readonly isLarge?: boolean', "on(event: 'opened' | 'closed'): void"])
  expect(text('Small').slice(1)).toEqual(['readonly x: number', 'readonly y: number'])
  expect(text('Shown')).toEqual([
    "type Shown = { readonly kind: 'small'; readonly at: Small } | { readonly kind: 'large'; readonly by: number }",
  ])
  expect(text('pick')).toEqual(['function pick(from: string): string\nfunction pick(from: number): number'])
  expect(text('LIMIT')).toEqual(['const LIMIT = 5'])
  expect(text('table')).toEqual(['const table: ReadonlyMap<string, number>'])
  expect(text('NAMES')).toEqual(['const NAMES =', 'one: 1', "'two-three': 23"])
  expect(found.get('Thing')?.members.map(({ doc }) => doc)).toEqual([
    '/** How many there are. */', undefined, undefined, '/** The name. */', undefined,
  ])
})

test('[TIDY17] a stale report is a finding, and --fix writes it', () => {
  const files = packageOf(['.', './node'], {
    'core/index.ts': `export { start as begin, type Options } from './base/start.ts'
export * as math from './base/math.ts'\n`,
    'core/base/start.ts': `interface Base { readonly a: number }
export interface Options extends Base { readonly b: number }
export function start(options: Options): void {}\n`,
    'core/base/math.ts': `export function sin(x: number): number {\n  return x\n}\n`,
    'node/index.ts': '',
  })
  const stale = 'is stale: npm run check -- --fix'
  expect(problems('api-report', files)).toEqual([stale, stale])
  const fixed = { ...files, ...Object.fromEntries(fixedReports(repositoryOf(files))) }
  expect(problems('api-report', fixed)).toEqual([])
  expect(fixed['docs/api/tickwire.txt']).toBe(`tickwire: 3 names. Written by \`npm run check -- --fix\`.

interface Options extends Base
  readonly b: number

begin: function start(options: Options): void

math.sin: function sin(x: number): number

Reached through the signatures above, and not exported here:

interface Base
  readonly a: number
`)
  expect(problems('api-report', { ...fixed, 'docs/api/attic.txt': '' })).toHaveLength(1)
})

test('[TIDY18] exported names, members and reached options have a doc comment, and options their default', () => {
  const source = `/** A base. */
export interface Base {
  /** The size. */
  readonly size: number
}
interface StartOptions extends Base {
  readonly path: string
  /** How long it takes. */
  readonly waitMs?: number
  /** How often. Default: 1. */
  readonly times?: number
  /** Called at the end. */
  readonly onEnd?: () => void
}
/** A thing. */
export class Thing implements Base {
  readonly size: number
  other = 1
  #hidden = 2

  constructor(options: StartOptions) {
    this.size = this.#hidden
  }
}
`
  const files = packageOf(ALL_DOORS, {
    'engine/index.ts': `export { Thing } from '../core/base/a.ts'\n`, 'core/base/a.ts': source,
  })
  expect(problems('api-docs', files).sort()).toEqual([
    'StartOptions is public and has no doc comment',
    'StartOptions.path is public and has no doc comment',
    'StartOptions.waitMs is an option: its comment must say its default',
    'Thing.other is public and has no doc comment',
  ])
})
