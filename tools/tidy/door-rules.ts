/**
 * Rules about the doors of the package: which there are, what each exports, and that every exported thing is explained.
 */

import type { Declaration, Member } from '../api/declarations.ts'
import { apiOf, MANIFEST_PATH, type Declarations, type Door } from '../api/doors.ts'
import { reachedFrom } from '../api/reach.ts'
import { DOORS } from '../layers.ts'
import { type Finding, type Repository } from './repository.ts'

/** The door of game authors, and how many names it may have. */
const AUTHORS = 'tickwire'
const AUTHORS_NAMES_MAX = 120

const GUIDE = /^docs\/guide\/.*\.(?:md|ts)$/
const WORD = /[A-Za-z_$][\w$]*/g

/** Doors of the manifest that `tools/layers.ts` does not list, and the other way round. */
export function* doorFindings(repository: Repository): Generator<Finding> {
  if (!repository.texts.has(MANIFEST_PATH)) return
  const report = (problem: string): Finding => ({ rule: 'doors', path: MANIFEST_PATH, line: 1, problem })
  const { doors } = apiOf(repository)
  for (const { specifier, path } of doors) {
    const part = DOORS.get(specifier)
    if (part === undefined) yield report(`${specifier} is not a door of tools/layers.ts`)
    else if (!path.endsWith(`/src/${part}/index.ts`)) yield report(`${specifier} is not src/${part}/index.ts`)
  }
  for (const specifier of DOORS.keys()) {
    if (!doors.some((door) => door.specifier === specifier)) yield report(`${specifier} is not exported`)
  }
}

/** A program imports one of the two: a page `tickwire/browser`, a process `tickwire/node`. Both have the same room. */
function arePlatforms(one: string, other: string): boolean {
  return [one, other].toSorted().join() === 'tickwire/browser,tickwire/node'
}

/** Too many names for game authors, names that no guide page uses, and declarations behind two doors. */
export function* doorNameFindings(repository: Repository): Generator<Finding> {
  const { doors } = apiOf(repository)
  const authors = doors.find(({ specifier }) => specifier === AUTHORS)
  if (authors !== undefined) yield* authorsFindings(repository, authors)
  const homes = new Map<Declaration, string>()
  for (const { specifier, path, exports } of doors) {
    for (const { name, line, declaration } of exports) {
      const home = homes.get(declaration)
      if (home !== undefined && !arePlatforms(home, specifier))
        yield { rule: 'doors', path, line, problem: `${name} is exported by ${home} already` }
      homes.set(declaration, specifier)
    }
  }
}

/** Doors whose programs have no loop of their own: no function of them takes the time. */
const WITHOUT_CLOCK: ReadonlySet<string> = new Set([
  AUTHORS, 'tickwire/browser', 'tickwire/node', 'tickwire/devtools', 'tickwire/worker',
])
const TAKES_TIME = /^[^(]*\(now: /

/** Functions that take the time, behind doors for programs without a loop of their own. */
export function* doorClockFindings(repository: Repository): Generator<Finding> {
  for (const { specifier, exports } of apiOf(repository).doors) {
    if (!WITHOUT_CLOCK.has(specifier)) continue
    for (const { declaration: { path, name, kind, line, signature, members } } of exports) {
      const report = (what: string, at: number): Finding => (
        { rule: 'doors', path, line: at, problem: `${what} takes the time, and ${specifier} has no clock` }
      )
      if (kind === 'function' && TAKES_TIME.test(signature)) yield report(name, line)
      for (const member of members) {
        if (TAKES_TIME.test(member.signature)) yield report(`${name}.${member.name}`, member.line)
      }
    }
  }
}

function* authorsFindings(repository: Repository, { path, names, exports }: Door): Generator<Finding> {
  if (names.length > AUTHORS_NAMES_MAX) {
    const problem = `${names.length} names, over ${AUTHORS_NAMES_MAX}: tickwire/engine is for the layers below`
    yield { rule: 'doors', path, line: 1, problem }
  }
  const shown = guideCode(repository)
  for (const name of names) {
    if (shown.has(name)) continue
    const line = exports.find((each) => each.name.split('.')[0] === name)?.line ?? 1
    const problem = `${name} is on no page of docs/guide: use it there, or do not export it`
    yield { rule: 'doors', path, line, problem }
  }
}

/**
 * Names that nothing uses: no file imports them through a door, no guide page has them, and no other signature of a
 * door names them.
 */
export function* unusedExportFindings(repository: Repository): Generator<Finding> {
  const { doors } = apiOf(repository)
  const imported = importedNames(repository)
  const shown = guideCode(repository)
  const counts = new Map<string, number>()
  for (const declaration of doors.flatMap((door) => door.exports.map((each) => each.declaration))) {
    for (const word of wordsOf(declaration)) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  for (const { specifier, path, exports } of doors) {
    for (const { name, line, declaration } of exports) {
      // Its own signature has its name too.
      const isNamed = declaration.kind !== 'function' && (counts.get(declaration.name) ?? 0) > 1
      const isImported = imported.has(`${specifier} ${name.split('.')[0]}`)
      const isInGuide = shown.has(name.split('.')[0] ?? name)
      if (!isNamed && !isImported && !isInGuide) {
        yield { rule: 'doors', path, line, problem: `nothing uses ${name}: do not export it` }
      }
    }
  }
}

const CODE = /^```[\s\S]*?^```|`[^`\n]+`/gm

/** The words of all code on the pages of the guide. */
function guideCode({ texts }: Repository): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [page, text] of texts) {
    if (!GUIDE.test(page)) continue
    const code = page.endsWith('.ts') ? text : (text.match(CODE) ?? []).join('\n')
    for (const [word] of code.matchAll(WORD)) words.add(word)
  }
  return words
}

function wordsOf({ signature, members }: Declaration): Set<string> {
  return new Set([signature, ...members.map((member) => member.signature)].join(' ').match(WORD))
}

const IMPORT_LISTS = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*['"](tickwire(?:\/\w+)?)['"]/g

/** Every name that a file takes from a door, as `door name`. Code in documents counts too. */
function importedNames({ texts }: Repository): ReadonlySet<string> {
  const names = new Set<string>()
  for (const text of texts.values()) {
    for (const [, list = '', specifier = ''] of text.matchAll(IMPORT_LISTS)) {
      for (const each of list.split(',')) {
        names.add(`${specifier} ${each.trim().replace(/^type\s+/, '').split(/\s+as\s+/)[0]}`)
      }
    }
  }
  return names
}

/**
 * Exported names, their members and the options they reach, without a doc comment. A member may have its comment at the
 * interface that its class implements or extends, and the members of a declaration on one line are explained with it.
 */
export function* apiDocsFindings(repository: Repository): Generator<Finding> {
  const { doors, declarations } = apiOf(repository)
  const reached = new Set(
    doors.flatMap((door) => [...door.exports.map((each) => each.declaration), ...reachedFrom(door, declarations)]),
  )
  for (const declaration of reached) {
    const { path, name, line, doc, kind, members } = declaration
    const report = (what: string, at: number): Finding => (
      { rule: 'api-docs', path, line: at, problem: `${what} is public and has no doc comment` }
    )
    if (doc === undefined) yield report(name, line)
    if (kind === 'const') continue
    const explained = explainedIn(declaration, declarations)
    for (const member of members) {
      const isOnOneLine = member.line === line
      const isObvious = isOnOneLine || member.name === 'constructor' || member.signature.startsWith('override ')
      if (!isObvious && !explained.has(member.name)) yield report(`${name}.${member.name}`, member.line)
      else if (isOption(name, member) && !DEFAULT.test(`${doc}${member.doc}`)) {
        const problem = `${name}.${member.name} is an option: its comment must say its default`
        yield { rule: 'api-docs', path, line: member.line, problem }
      }
    }
  }
}

/** Interfaces with such names hold options, and such words say what an absent option means. */
const OPTIONS = /(?:Options|Definition|Config|Serving|RoomType)$/
const DEFAULT = /\b(?:[Dd]efaults?|[Ww]ithout|absent|optional)\b/

/** A property that may be left out. Callbacks are not meant: without one, nothing is called. */
function isOption(name: string, { signature, doc }: Member): boolean {
  return OPTIONS.test(name) && doc !== undefined && /^(?:readonly )?(?!on[A-Z])\w+\?:/.test(signature)
}

/** The names of members with a doc comment, in a declaration and in those that it implements or extends. */
function explainedIn({ path, signature, members }: Declaration, declarations: Declarations): Set<string> {
  const explained = new Set(members.filter((member) => member.doc !== undefined).map((member) => member.name))
  const [, ...bases] = signature.split(/\b(?:implements|extends)\b/)
  for (const word of bases.join(' ').match(WORD) ?? []) {
    const base = declarations.find(path, word)
    if (base === undefined || base.signature === signature) continue
    for (const name of explainedIn(base, declarations)) explained.add(name)
  }
  return explained
}
