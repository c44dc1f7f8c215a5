/**
 * The API report: every signature that a door exports, sorted, in one text file per door. A change of the public
 * surface therefore shows in review as a change of `docs/api`. `npm run check` fails when a report is stale;
 * `npm run check -- --fix` writes it.
 */

import type { Finding, Repository } from '../tidy/repository.ts'
import type { Declaration, Member } from './declarations.ts'
import { apiOf, type Declarations, type Door } from './doors.ts'
import { reachedFrom } from './reach.ts'

const FOLDER = 'docs/api'

/** Reports that differ from the sources, and reports of doors that do not exist. */
export function* reportFindings(repository: Repository): Generator<Finding> {
  const fresh = freshReports(repository)
  for (const path of repository.paths) {
    if (!path.startsWith(`${FOLDER}/`) || fresh.has(path)) continue
    yield { rule: 'api-report', path, line: 1, problem: 'the package has no such door: delete the report' }
  }
  for (const [path, text] of fresh) {
    if (repository.texts.get(path) === text) continue
    yield { rule: 'api-report', path, line: 1, problem: 'is stale: npm run check -- --fix' }
  }
}

/** The reports whose text must change, by path. */
export function fixedReports(repository: Repository): Map<string, string> {
  return new Map([...freshReports(repository)].filter(([path, text]) => repository.texts.get(path) !== text))
}

function freshReports(repository: Repository): Map<string, string> {
  const { declarations, doors } = apiOf(repository)
  return new Map(doors.map((door) => [pathOf(door), reportOf(door, declarations)]))
}

/** `docs/api/tickwire.txt` for the door `tickwire`, `docs/api/node.txt` for `tickwire/node`. */
function pathOf({ specifier }: Door): string {
  return `${FOLDER}/${specifier.replace(/^.*\//, '')}.txt`
}

function reportOf(door: Door, declarations: Declarations): string {
  const exported = door.exports.map(({ name, declaration }) => entry(name, declaration))
  const reached = reachedFrom(door, declarations).map((declaration) => entry(declaration.name, declaration))
  const parts = [
    `${door.specifier}: ${door.names.length} names. Written by \`npm run check -- --fix\`.`,
    ...exported.sort(byName).map(({ text }) => text),
  ]
  if (reached.length > 0) {
    parts.push('Reached through the signatures above, and not exported here:')
    parts.push(...reached.sort(byName).map(({ text }) => text))
  }
  return `${parts.join('\n\n')}\n`
}

interface Entry {
  readonly name: string
  readonly text: string
}

/** A declaration with its members. A name that differs from the declared one is the name on the outside. */
function entry(name: string, { name: declared, signature, members }: Declaration): Entry {
  const head = name === declared ? signature : `${name}: ${signature}`
  const lines = [...members].sort(byName).map((member: Member) => `  ${member.signature}`)
  return { name, text: [head, ...lines].join('\n') }
}

/** By code units, so that every machine sorts alike. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
