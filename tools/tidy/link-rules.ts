/**
 * Links of documents: each leads to a file that is here, its anchor to a heading there, and docs/README.md to every
 * page of the folders that it is the index of.
 *
 * Markdown as we write it, and no more: headings begin with `#`, and code and comments are not looked into. Addresses
 * of other places are not asked: a check that needs a network can fail for reasons outside of this repository.
 */

import { posix } from 'node:path'
import { type Finding, type Repository } from './repository.ts'
import { lineAt } from './source-file.ts'

/** What leads to everything else. */
const INDEX_PATH = 'docs/README.md'

/** What it lists. Programs of the guide are reached from their chapters. */
const INDEXED = /^docs\/(?:adr|guide|spec|wire)\/[^/]+$/

/** A decision names itself in its first line, after its number. */
const DECISION = /^docs\/adr\//
const DECISION_TITLE = /^# \d+\. (.+)/

/** The page that is read beside the code: the files that it names are opened in order. */
const ROADS_PATH = 'docs/architecture.md'
const NAMED_FILE = /`([a-z-]+(?:\/[a-z-]+)+\.ts)`/g
const FILE_ROOTS = ['', 'packages/tickwire/src/', 'packages/tickwire/src/core/', 'packages/services/src/']

const CODE_BLOCK = /^ *(```+|~~~+)[^`\n]*\n[\s\S]*?(?:^ *\1[`~]*[ \t]*$|$(?![\s\S]))/gm
const COMMENT = /<!--[\s\S]*?-->/g
const CODE_SPAN = /(?<![`\\])(`+)(?!`)(?:(?!\n\s*\n)[\s\S])+?(?<!`)\1(?!`)/g
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/gm
const LINK_FORMS = [
  // [text](target "title"), pictures too
  /\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+["'][^\n]*?["'])?\s*\)/dg,
  // [name]: target
  /^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*<?([^\s>]+)/dgm,
  /<[a-z]+\s[^>]*?\b(?:href|src|srcset)="([^"]*)"/dg,
]
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i

/** A link to a file of this repository. */
export interface Link {
  readonly target: string
  /** Where the target begins in the text. */
  readonly at: number
  readonly line: number
  /** The file or folder it means, from the root. */
  readonly path: string
  readonly anchor: string
}

/** Links that lead nowhere. */
export function* linkFindings(repository: Repository): Generator<Finding> {
  const folders = foldersOf(repository)
  const anchors = new Map<string, ReadonlySet<string>>()
  const anchorsIn = (path: string): ReadonlySet<string> => {
    const known = anchors.get(path) ?? anchorsOf(path.endsWith('.md') ? repository.texts.get(path) ?? '' : '')
    anchors.set(path, known)
    return known
  }
  for (const [path, text] of repository.texts) {
    if (!path.endsWith('.md')) continue
    for (const link of linksOf(path, text)) {
      const report = (problem: string): Finding => ({ rule: 'links', path, line: link.line, problem })
      if (!repository.paths.has(link.path) && !folders.has(link.path)) yield report(`${link.target} leads to no file`)
      else if (link.anchor !== '' && !anchorsIn(link.path).has(link.anchor))
        yield report(`${link.path} has no heading #${link.anchor}`)
    }
  }
}

/** Pages that the index leaves out, and decisions that it calls something else than they do. */
export function* indexFindings(repository: Repository): Generator<Finding> {
  const index = repository.texts.get(INDEX_PATH) ?? ''
  const links = linksOf(INDEX_PATH, index)
  for (const path of repository.paths) {
    if (!INDEXED.test(path)) continue
    const line = links.find((link) => link.path === path)?.line
    const report = (problem: string): Finding => ({ rule: 'links', path: INDEX_PATH, line: line ?? 1, problem })
    if (line === undefined) {
      yield report(`does not list ${path}`)
    } else if (DECISION.test(path)) {
      const title = DECISION_TITLE.exec(repository.texts.get(path) ?? '')?.[1]
      const entry = `[${title}](${posix.relative(posix.dirname(INDEX_PATH), path)})`
      if (title === undefined)
        yield { rule: 'links', path, line: 1, problem: 'a decision begins with "# number. title"' }
      else if (!index.includes(entry)) yield report(`lists a decision by another title than its own: ${entry}`)
    }
  }
}

/** Every folder that has a file in it, the root included. */
function foldersOf({ paths }: Repository): ReadonlySet<string> {
  const folders = new Set(['.'])
  for (const path of paths) {
    for (let folder = posix.dirname(path); !folders.has(folder); folder = posix.dirname(folder)) folders.add(folder)
  }
  return folders
}

/** Links to this repository, wherever they stand in the text. */
export function linksOf(from: string, text: string): Link[] {
  const prose = blanked(text, CODE_BLOCK, COMMENT, CODE_SPAN)
  return LINK_FORMS.flatMap((form) =>
    Array.from(prose.matchAll(form), (match) => ({ target: match[1]!, at: match.indices?.[1]?.[0] ?? match.index })),
  )
    .filter(({ target }) => !ELSEWHERE.test(target))
    .map(({ target, at }) => {
      const [address = '', anchor = ''] = decoded(target).split('#')
      const path = address.replace(/\?.*$/, '')
      // As on GitHub: a slash begins at the root, and nothing but an anchor stays on the page.
      const full = path === '' ? from : path.startsWith('/') ? `.${path}` : posix.join(posix.dirname(from), path)
      return { target, at, line: lineAt(text, at), path: posix.normalize(full).replace(/(?<=.)\/$/, ''), anchor }
    })
}

/** The anchors that GitHub gives to the headings of a text: a heading that was there before is numbered. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  const counts = new Map<string, number>()
  for (const [, heading = ''] of blanked(text, CODE_BLOCK, COMMENT).matchAll(HEADING)) {
    const slug = slugOf(heading)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** Small letters; of signs only `-` and `_` stay; each space becomes a `-`. Of a link what is shown counts. */
export function slugOf(heading: string): string {
  const shown = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
  return shown.toLowerCase().replace(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc} -]/gu, '').replace(/ /g, '-')
}

/** Spaces instead of what the patterns find, so that lines stay lines. */
function blanked(text: string, ...patterns: readonly RegExp[]): string {
  return patterns.reduce((rest, pattern) => rest.replace(pattern, (found) => found.replace(/[^\n]/g, ' ')), text)
}

/** `%20` is a space; what is not such a sequence stays as it is. */
function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** Files that docs/architecture.md names, and that are not here. */
export function* roadFindings(repository: Repository): Generator<Finding> {
  const text = repository.texts.get(ROADS_PATH) ?? ''
  for (const match of text.matchAll(NAMED_FILE)) {
    if (FILE_ROOTS.some((root) => repository.paths.has(`${root}${match[1]!}`))) continue
    yield { rule: 'roads', path: ROADS_PATH, line: lineAt(text, match.index), problem: `there is no file ${match[1]!}` }
  }
}
