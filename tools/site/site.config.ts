/**
 * VitePress, as the docs site uses it. Everything runs from the site's own files: no font, script or search of others.
 */

import { readFileSync } from 'node:fs'
import { defineConfig, type DefaultTheme } from 'vitepress'
import { slugOf } from '../tidy/link-rules.ts'

interface Navigation {
  readonly home: string
  readonly bar: DefaultTheme.NavItem[]
  readonly sidebar: DefaultTheme.Sidebar
}

// `tools/site/stage.ts` writes it beside the configuration, and VitePress starts in that folder.
const folder = process.env.TICKWIRE_SITE ?? '.'
const { home, bar, sidebar } = JSON.parse(readFileSync(`${folder}/.vitepress/navigation.json`, 'utf8')) as Navigation

/** VitePress sends its text to pages, so it uses nothing from here. */
function boostDocument(id: string): number {
  return id.includes('/guide/') ? 3 : /\/(?:api|adr|spec|wire)\//.test(id) ? 0.5 : 1
}

export default defineConfig({
  title: 'Tickwire',
  description: 'A netcode engine for games in TypeScript',
  lang: 'en',
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    // Documents are written for GitHub: its anchors, and no extensions of VitePress.
    anchor: { slugify: slugOf },
    attrs: { disable: true },
    linkify: false,
    config: (md) => void md.disable('emoji', true),
    // The other themes have comments in colours that are too pale.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: bar,
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // A guide answers a question, so it comes before rules and signatures.
        miniSearch: { searchOptions: { boostDocument } },
      },
    },
    socialLinks: [{ icon: 'github', link: home }],
    footer: { message: 'MIT licence' },
  },
  // VitePress's limit is for sites that are read once; the search index alone is larger.
  vite: { build: { chunkSizeWarningLimit: 4096 } },
})
