/**
 * The rules of docs/spec against the tests that bear their numbers, both ways, and the table that leads from outside
 * requirements to those rules.
 *
 * A rule is a line of docs/spec/*.md that begins with its id in bold, `- **BITS3** …`, or a row of a table with its
 * id in the first cell. A test bears it by beginning its name with it: `test('[BITS3] …')`, also in a contract that
 * several test files run. A type test, which has no name, has it in a comment: `// [SCHEMA7] …`.
 */

import { lineAt } from './source-file.ts'
import { type Finding, type Repository } from './repository.ts'

/** From requirement to rule, test or reason. */
export const TRACEABILITY_PATH = 'docs/spec/traceability.md'

const RULE_LINE = /^\s*(?:(?:[-*+]\s+|\d+\.\s+|#+\s+)?\*\*([A-Z]+\d+[a-z]?)\*\*|\|\s*\**([A-Z]+\d+[a-z]?)\**\s*\|)/gm
const BEARING_NAME = /['"`]((?:\[[A-Z]+\d+[a-z]?(?:,\s*[A-Z]+\d+[a-z]?)*\]\s*)+)/g
const BEARING_COMMENT = /\/\/\s*((?:\[[A-Z]+\d+[a-z]?(?:,\s*[A-Z]+\d+[a-z]?)*\]\s*)+)/g
const RULE_ID = /[A-Z]+\d+[a-z]?/g

interface Place {
  readonly path: string
  readonly line: number
}

/** Every rule and where it is written, in order. */
export function rulesOf(repository: Repository): Map<string, Place[]> {
  const rules = new Map<string, Place[]>()
  for (const [path, text] of repository.texts) {
    if (!/^docs\/spec\/[^/]+\.md$/.test(path) || path === TRACEABILITY_PATH) continue
    for (const match of text.matchAll(RULE_LINE)) {
      put(rules, (match[1] ?? match[2])!, { path, line: lineAt(text, match.index + match[0].length) })
    }
  }
  return rules
}

/** Every id a test bears, and where. */
export function bearersOf(repository: Repository): Map<string, Place[]> {
  const bearers = new Map<string, Place[]>()
  for (const { path, text } of repository.sources.values()) {
    if (!/\.(?:test|test-d|contract)\.ts$/.test(path)) continue
    for (const match of text.matchAll(path.endsWith('.test-d.ts') ? BEARING_COMMENT : BEARING_NAME)) {
      for (const [id] of match[1]!.matchAll(RULE_ID)) put(bearers, id, { path, line: lineAt(text, match.index) })
    }
  }
  return bearers
}

function put(map: Map<string, Place[]>, id: string, place: Place): void {
  map.set(id, [...(map.get(id) ?? []), place])
}

/** Rules without a test, tests without a rule, rules written twice. */
export function* ruleFindings(repository: Repository): Generator<Finding> {
  const rules = rulesOf(repository)
  const bearers = bearersOf(repository)
  for (const [id, places] of rules) {
    const [first, second] = places
    if (first === undefined) continue
    const already = `${id} is already a rule of ${first.path}:${first.line}`
    if (second !== undefined) yield { rule: 'spec', ...second, problem: already }
    if (!bearers.has(id)) yield { rule: 'spec', ...first, problem: `no test bears ${id} in its name` }
  }
  for (const [id, places] of bearers) {
    if (!rules.has(id)) yield { rule: 'spec', ...places[0]!, problem: `${id} is not a rule of docs/spec` }
  }
}

/**
 * Work that is not done yet, by its title: what a row may promise with `open: Lockstep`. A title goes when its work is
 * done.
 */
export const OPEN_TITLES: readonly string[] = [
  'One sender',
  'Hand tools',
  'Lockstep',
  'Desync',
  'Skirmish',
  'Paths',
  'Services',
  'R-Type',
  'First hour',
  'Proving ground two',
  'Players per core',
]

/** One requirement, and what holds it: rules, files, a reason, or the title of open work. */
export interface Requirement {
  readonly id: string
  readonly asks: string
  readonly heldBy: string
  readonly line: number
}

const TABLE_ROW = /^\|\s*([A-Z]+-[\w.-]+)\s*\|([^|\n]*)\|([^|\n]*)\|(?:[^|\n]*\|)?[ \t]*$/gm

/** The rows of the table. */
export function requirementsOf(text: string): Requirement[] {
  return Array.from(text.matchAll(TABLE_ROW), (match) => ({
    id: match[1]!,
    asks: match[2]!.trim(),
    heldBy: match[3]!.trim(),
    line: lineAt(text, match.index + 1),
  }))
}

/** Rows that lead nowhere. `pending` is allowed while rules are being written, and not when `isStrict`. */
export function* traceabilityFindings(repository: Repository, isStrict: boolean): Generator<Finding> {
  const text = repository.texts.get(TRACEABILITY_PATH) ?? ''
  const rules = rulesOf(repository)
  const seen = new Set<string>()
  for (const { id, asks, heldBy, line } of requirementsOf(text)) {
    const report = (problem: string): Finding => ({ rule: 'traceability', path: TRACEABILITY_PATH, line, problem })
    if (seen.has(id)) yield report(`${id} has two rows`)
    seen.add(id)
    if (asks === '') yield report(`${id} does not say what it asks`)
    const ids = ruleIdsIn(heldBy)
    for (const rule of ids) if (!rules.has(rule)) yield report(`${id} names ${rule}, which is not a rule of docs/spec`)
    for (const path of pathsIn(heldBy)) {
      if (!repository.texts.has(path)) yield report(`${id} names ${path}, which does not exist`)
    }
    const isPending = /(?:^|, )pending\b/.test(heldBy)
    const isHeld = ids.length > 0 || pathsIn(heldBy).length > 0 || /\b(?:reason|open): \S/.test(heldBy)
    if (isPending ? isStrict : !isHeld) yield report(`nothing holds ${id}: name a rule, a \`file\`, a reason: or open:`)
    if (/\blater\b/.test(heldBy))
      yield report(`${id} says "later": name the open work, such as open: ${OPEN_TITLES[0]}`)
    for (const title of titlesIn(heldBy)) {
      if (!OPEN_TITLES.includes(title))
        yield report(`${id} waits for "${title}", which is not among OPEN_TITLES in tools/tidy/spec-rules.ts`)
    }
  }
}

/** Rule ids in a cell; words of a reason that look like one are not among them. */
export function ruleIdsIn(heldBy: string): string[] {
  return heldBy.replace(/\b(?:reason|open): .*$/, '').replace(/`[^`]*`/g, '').match(RULE_ID) ?? []
}

/** Titles of open work that a cell names: what stands between `open:` and the next semicolon or the end. */
function titlesIn(heldBy: string): string[] {
  return Array.from(heldBy.matchAll(/\bopen: ([^;]*)/g), (match) => match[1]!.trim())
}

function pathsIn(heldBy: string): string[] {
  return Array.from(heldBy.matchAll(/`([\w./-]+\.\w+)`/g), (match) => match[1]!)
}
