/**
 * The navigation of the docs site, read from the documents that list the others: docs/guide/README.md for the guides,
 * docs/README.md for the wire format, the rules and the decisions. So a page that is listed there is on the site too.
 */

import { DOORS } from '../layers.ts'
import { linksOf } from '../tidy/link-rules.ts'
import type { Repository } from '../tidy/repository.ts'
import { sitePath } from './page-paths.ts'
import { titleOf } from './titles.ts'

/** A link in the navigation, or a group of links. */
export interface Entry {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Entry[]
  readonly collapsed?: boolean
}

const GUIDES = 'docs/guide/README.md'
const DOCUMENTS = 'docs/README.md'

/** The bar at the top. */
export const BAR: readonly Entry[] = [
  { text: 'Guide', link: '/guide/' },
  { text: 'Reference', link: '/documents' },
  { text: 'API', link: '/api/' },
  { text: 'Benchmarks', link: '/benchmarks' },
  { text: 'Changelog', link: '/changelog' },
]

/** The list at the side: one beside the guides, another one beside everything else. */
export function sidebar(repository: Repository): Readonly<Record<string, readonly Entry[]>> {
  const guides: readonly Entry[] = [{ text: 'All guides, by question', link: '/guide/' }, ...guideGroups(repository)]
  const reference = referenceGroups(repository)
  return { '/guide/': guides, '/architecture': guides, '/glossary': guides, '/reads-as-bugs': guides, '/': reference }
}

/** A group for each heading of the index of guides, in its order. */
function guideGroups(repository: Repository): Entry[] {
  const [, ...sections] = (repository.texts.get(GUIDES) ?? '').split(/^## /m)
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n')
    const paths = linksOf(GUIDES, lines.join('\n')).toSorted((a, b) => a.at - b.at).map(({ path }) => path)
    return { text: heading, collapsed: false, items: pages(repository, paths) }
  })
}

function referenceGroups(repository: Repository): Entry[] {
  const text = repository.texts.get(DOCUMENTS) ?? ''
  const listed = linksOf(DOCUMENTS, text).toSorted((a, b) => a.at - b.at).map(({ path }) => path)
  const within = (folder: string): Entry[] =>
    pages(repository, listed.filter((path) => path.startsWith(`docs/${folder}/`) && path.endsWith('.md')))
  const api = [...DOORS].map(([door]) => ({ text: door, link: `/api/${apiName(door)}` }))
  return [
    { text: 'All documents', link: '/documents' },
    { text: 'API', collapsed: true, items: [{ text: 'All doors', link: '/api/' }, ...api] },
    { text: 'Wire format', collapsed: true, items: within('wire') },
    { text: 'Rules', collapsed: true, items: within('spec') },
    { text: 'Decisions', collapsed: true, items: within('adr') },
    { text: 'Benchmarks', collapsed: true, items: [
      { text: 'Beside others', link: '/benchmarks' }, { text: 'All results', link: '/results' },
    ] },
    { text: 'The project', collapsed: false, items: pages(repository, [
      'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'STYLE.md', 'SECURITY.md', 'docs/architecture.md',
      'docs/glossary.md', 'docs/reads-as-bugs.md',
    ]) },
  ]
}

/** The file name of the page of a door: `tickwire/node` is `node`. */
export function apiName(door: string): string {
  return door.replace(/^tickwire\//, '')
}

/** A link to each page, once, with its first heading as its name. */
function pages(repository: Repository, paths: readonly string[]): Entry[] {
  return [...new Set(paths)].flatMap((path) => {
    const page = sitePath(path)
    const title = titleOf(repository.texts.get(path) ?? '')
    if (page === undefined || !page.endsWith('.md') || title === undefined) return []
    return [{ text: title, link: `/${page.replace(/(?:(?<=\/|^)index)?\.md$/, '')}` }]
  })
}
