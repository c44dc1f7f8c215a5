/**
 * Where each document of the repository is on the docs site, and what its links become there.
 *
 * The documents are written for a reader of the repository: links are paths. On the site a link to a document leads to
 * its page, a link to a picture stays a picture, and a link to any other file leads to the repository on the web.
 */

import { posix } from 'node:path'
import { linksOf } from '../tidy/link-rules.ts'
import type { Repository } from '../tidy/repository.ts'
import { titleOf } from './titles.ts'

/** Documents outside of docs/, and documents whose place on the site is not the one in docs/. */
const PLACES: Readonly<Record<string, string>> = {
  'README.md': 'about.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'STYLE.md': 'style.md',
  'bench/RESULTS.md': 'results.md',
  'docs/README.md': 'documents.md',
  'docs/guide/README.md': 'guide/index.md',
  'docs/home.md': 'index.md',
}

/** Links to folders that a page lists. */
const FOLDERS: Readonly<Record<string, string>> = {
  'docs': 'documents.md',
  'docs/adr': 'documents.md#decisions',
  'docs/api': 'api/index.md',
  'docs/guide': 'guide/index.md',
  'docs/spec': 'documents.md#rules',
}

/** Blocks in notations of our own, which have no colours. */
const OWN_NOTATION = /^(```+)(?:game|packed|codec|ebnf)$/gm

/** The path of a file within the site; undefined for a file that is not on the site. */
export function sitePath(path: string): string | undefined {
  const place = PLACES[path]
  if (place !== undefined) return place
  if (/^docs\/api\/[\w-]+\.txt$/.test(path)) return path.replace(/^docs\/(.*)\.txt$/, '$1.md')
  if (/^docs\/(?:[\w-]+\.md|(?:adr|guide|spec|wire)\/[^/]+\.md|pictures\/[^/]+)$/.test(path)) return path.slice(5)
  return undefined
}

/** A link that names the file, as a reader of the repository needs it, has the title of the page on the site. */
function titled(before: string, page: string | undefined): string {
  const title = titleOf(page ?? '')
  return title === undefined ? before : before.replace(/\[[\w./-]+\.md\]\($/, `[${title}](`)
}

/** The text of a document with links for the site. `home` is the address of the repository on the web. */
export function siteText(repository: Repository, path: string, home: string): string {
  const from = posix.dirname(sitePath(path) ?? '.')
  const siteTarget = (target: string, anchor: string): string => {
    const page = FOLDERS[target] ?? sitePath(target)
    const hash = anchor === '' ? '' : `#${anchor}`
    if (page === undefined) return `${home}/${repository.paths.has(target) ? 'blob' : 'tree'}/main/${target}${hash}`
    const relative = posix.relative(from, page)
    return `${relative.startsWith('.') ? relative : `./${relative}`}${hash}`
  }
  let text = repository.texts.get(path) ?? ''
  const links = linksOf(path, text).filter(({ target }) => !target.startsWith('#'))
  // From the end, so that the places of the earlier links stay right.
  for (const link of links.toSorted((a, b) => b.at - a.at)) {
    const [before, after] = [text.slice(0, link.at), text.slice(link.at + link.target.length)]
    text = `${titled(before, repository.texts.get(link.path))}${siteTarget(link.path, link.anchor)}${after}`
  }
  return text.replace(OWN_NOTATION, '$1txt')
}
