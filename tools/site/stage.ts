/**
 * Writes the input of VitePress to `.cache/site`: every document with links for the site, pages of the API, pictures,
 * navigation and theme. The documents themselves stay as they read best in the repository.
 */

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readRepository, type Repository } from '../tidy/repository.ts'
import { ROOT } from '../typecheck.ts'
import { apiPages } from './api-pages.ts'
import { BAR, sidebar } from './navigation.ts'
import { sitePath, siteText } from './page-paths.ts'

/** The root of the site for VitePress; its `.vitepress/dist` is the finished site. */
export const SITE = join(ROOT, '.cache', 'site')

/** Pages with long tables of ids: a search for a word would find little else. */
const NOT_SEARCHED = /^docs\/spec\/traceability\.md$|^bench\/RESULTS\.md$|^CHANGELOG\.md$/

/**
 * The colours of the theme come after those of VitePress. The moving picture is below the title. The sidebar has a
 * button within a button, which a screen reader cannot name: the inner one, which does the same, becomes a picture.
 */
const THEME = `import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import picture from '../../pictures/prediction.webp'
import still from '../../pictures/prediction-still.png'
import './theme.css'

const alt = 'hello in two windows at a round trip of 200 ms: without prediction a square moves long after the key, '
  + 'with prediction at once'
const moving = () => h('picture', { class: 'moving' }, [
  h('source', { media: '(prefers-reduced-motion: reduce)', srcset: still }), h('img', { src: picture, alt }),
])
const Layout = () => h(theme.Layout, null, { 'home-hero-after': moving })

function mounted() {
  if (this.$el.classList?.contains('VPSidebarItem') !== true) return
  for (const caret of this.$el.querySelectorAll('.item[role=button] > .caret'))
    for (const name of ['role', 'tabindex', 'aria-label']) caret.removeAttribute(name)
}

export default { extends: theme, Layout, enhanceApp: ({ app }) => void app.mixin({ mounted }) }
`

/** Writes everything, and returns the paths of the pages within the site. */
export function stageSite(repository: Repository = readRepository(ROOT)): string[] {
  rmSync(SITE, { recursive: true, force: true })
  const home = homeOf(repository)
  const pages = new Map<string, string>()
  for (const path of repository.texts.keys()) {
    const page = sitePath(path)
    if (page === undefined) continue
    if (path.endsWith('.md')) pages.set(page, `${frontmatter(path)}${siteText(repository, path, home)}`)
  }
  for (const [page, text] of apiPages(repository)) pages.set(page, text)
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
