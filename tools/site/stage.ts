/**
 * Writes the input of VitePress to `.cache/site`: every document with links for the site, pages of the API made of
 * docs/api, pictures, navigation and theme. The documents themselves stay as they read best in the repository.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DOORS } from '../layers.ts'
import { readRepository, type Repository } from '../tidy/repository.ts'
import { ROOT } from '../typecheck.ts'
import { apiName, BAR, sidebar } from './navigation.ts'
import { sitePath, siteText } from './page-paths.ts'

/** The root of the site for VitePress; its `.vitepress/dist` is the finished site. */
export const SITE = join(ROOT, '.cache', 'site')

/** Pages with long tables of ids: a search for a word would find little else. */
const NOT_SEARCHED = /^docs\/spec\/traceability\.md$|^bench\/RESULTS\.md$|^CHANGELOG\.md$/

/**
 * The colours of the theme come after those of VitePress. Its sidebar has a button within a button, which a screen
 * reader cannot name: the inner one, which does the same, becomes a picture.
 */
const THEME = `import theme from 'vitepress/theme-without-fonts'
import './theme.css'

function mounted() {
  if (this.$el.classList?.contains('VPSidebarItem') !== true) return
  for (const caret of this.$el.querySelectorAll('.item[role=button] > .caret'))
    for (const name of ['role', 'tabindex', 'aria-label']) caret.removeAttribute(name)
}

export default { extends: theme, enhanceApp: ({ app }) => void app.mixin({ mounted }) }
`

/** Writes everything, and returns the paths of the pages within the site. */
export function stageSite(repository: Repository = readRepository(ROOT)): string[] {
  rmSync(SITE, { recursive: true, force: true })
  const home = homeOf(repository)
  const pages = new Map<string, string>()
  for (const path of repository.texts.keys()) {
    const page = sitePath(path)
    if (page === undefined) continue
    if (path.endsWith('.txt')) pages.set(page, apiPage(path, repository.texts.get(path) ?? ''))
    else if (path.endsWith('.md')) pages.set(page, `${frontmatter(path)}${siteText(repository, path, home)}`)
  }
  pages.set('api/index.md', apiIndex())
  for (const [page, text] of pages) write(page, text)
  cpSync(join(ROOT, 'docs', 'pictures'), join(SITE, 'pictures'), { recursive: true })
  const here = relative(join(SITE, '.vitepress'), import.meta.dirname)
  write('.vitepress/config.mjs', `export { default } from '${here}/site.config.ts'\n`)
  write('.vitepress/navigation.json', JSON.stringify({ home, bar: BAR, sidebar: sidebar(repository) }, null, 2))
  cpSync(join(import.meta.dirname, 'theme.css'), join(SITE, '.vitepress', 'theme', 'theme.css'))
  write('.vitepress/theme/index.mjs', THEME)
  return [...pages.keys()]
}

/** The address of the repository on the web, as the package has it. */
function homeOf(repository: Repository): string {
  const manifest = JSON.parse(repository.texts.get('packages/tickwire/package.json') ?? '{}') as { homepage?: string }
  return (manifest.homepage ?? '').replace(/#.*$/, '')
}

function write(path: string, text: string): void {
  const full = join(SITE, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
}

function frontmatter(path: string): string {
  return NOT_SEARCHED.test(path) ? '---\nsearch: false\n---\n\n' : ''
}

/** A page with the signatures of a door. */
function apiPage(path: string, text: string): string {
  const name = /([\w-]+)\.txt$/.exec(path)?.[1] ?? ''
  const door = [...DOORS.keys()].find((each) => apiName(each) === name) ?? name
  const [first = '', ...lines] = text.split('\n')
  const count = /\d+ names/.exec(first)?.[0] ?? ''
  const body = lines.join('\n').trim()
  return `# ${door}\n\n${count}, with their signatures. Editors show what each is for, with unit and default.\n\n`
    + `\`\`\`ts\n${body}\n\`\`\`\n`
}

function apiIndex(): string {
  const about = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const rows = [...DOORS.keys()].map((door) => {
    const [, use = '', has = ''] = new RegExp(`^\\| \`${door}\` \\| (.*?) \\| (.*?) \\|$`, 'm').exec(about) ?? []
    return `| [${door}](./${apiName(door)}.md) | ${use} | ${has} |`
  })
  return `# API\n\nThe package has ${DOORS.size} entry points, called doors. `
    + 'A name that no door exports is not public.\n\n'
    + `| door | for | has |\n|---|---|---|\n${rows.join('\n')}\n`
}
