/**
 * The pages of the API on the docs site: for each door, every name that it exports, with its signature, its members and
 * their doc comments, as an editor shows them. docs/api has the signatures alone, for reviews.
 */

import type { Declaration } from '../api/declarations.ts'
import { apiOf, type Declarations, type Door } from '../api/doors.ts'
import { reachedFrom } from '../api/reach.ts'
import { DOORS } from '../layers.ts'
import type { Repository } from '../tidy/repository.ts'
import { apiName } from './navigation.ts'

/** Doc comments may have blocks of code, with three of these. */
const FENCE = '````'

/** What a door is for, and what it has, from the table of README.md. */
interface Purpose {
  readonly use: string
  readonly has: string
}

/** The pages by their paths within the site. */
export function apiPages(repository: Repository): Map<string, string> {
  const { declarations, doors } = apiOf(repository)
  const purposes = new Map([...DOORS.keys()].map((door) => [door, purposeOf(repository, door)]))
  const pages = new Map([['api/index.md', indexPage(purposes)]])
  for (const door of doors) {
    if (!DOORS.has(door.specifier)) continue
    pages.set(`api/${apiName(door.specifier)}.md`, doorPage(door, declarations, purposes.get(door.specifier)))
  }
  return pages
}

function purposeOf(repository: Repository, door: string): Purpose {
  const about = repository.texts.get('README.md') ?? ''
  const [, use = '', has = ''] = new RegExp(`^\\| \`${door}\` \\| (.*?) \\| (.*?) \\|$`, 'm').exec(about) ?? []
  return { use, has }
}

function indexPage(purposes: ReadonlyMap<string, Purpose>): string {
  const rows = [...purposes].map(([door, { use, has }]) => `| [${door}](./${apiName(door)}.md) | ${use} | ${has} |`)
  return `# API\n\nThe package has ${purposes.size} entry points, called doors. `
    + 'A name that no door exports is not public.\n\n'
    + `| door | for | has |\n|---|---|---|\n${rows.join('\n')}\n`
}

function doorPage(door: Door, declarations: Declarations, purpose: Purpose | undefined): string {
  const entries = door.exports.map(({ name, declaration }) => ({ name, declaration }))
  const reached = reachedFrom(door, declarations).map((declaration) => ({ name: declaration.name, declaration }))
  const isType = ({ declaration: { kind } }: Entry): boolean => kind === 'interface' || kind === 'type'
  return [
    `---\npageClass: api\n---\n\n# ${door.specifier}`,
    `For ${purpose?.use}. It exports ${door.names.length} names, each with its members and with what they are for, as `
      + 'your editor shows them. The [guides](../guide/index.md) use them.',
    ...section('Functions, classes and values', entries.filter((each) => !isType(each))),
    ...section('Types', entries.filter(isType)),
    ...section('Types that the signatures name', reached),
  ].join('\n\n')
}

interface Entry {
  readonly name: string
  readonly declaration: Declaration
}

/** A heading, and the entries below it by name. */
function section(heading: string, entries: readonly Entry[]): string[] {
  if (entries.length === 0) return []
  // By code units, so that every machine sorts alike.
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return [`## ${heading}`, ...sorted.map(({ name, declaration }) => `### ${name}\n\n${block(declaration)}`)]
}

/** A declaration as it is in a file of types, in the order of its source. */
function block(declaration: Declaration): string {
  const { overloads, members } = declaration
  const heads = (overloads.length === 0 ? [declaration] : overloads).map((each) => documented(each, ''))
  const lines = members.map((each) => documented(each, '  '))
  return `${FENCE}ts\n${heads.join('\n')}${lines.length === 0 ? '' : ` {\n${lines.join('\n')}\n}`}\n${FENCE}\n`
}

function documented({ doc, signature }: Pick<Declaration, 'doc' | 'signature'>, indent: string): string {
  return `${indent}${doc === undefined ? '' : `${doc}\n${indent}`}${signature}`
}
