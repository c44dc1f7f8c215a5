/** The docs site: built, served, and every page of it opened in real Chromium. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, posix } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf } from '../../tools/api/doors.ts'
import { apiName } from '../../tools/site/navigation.ts'
import { SITE } from '../../tools/site/stage.ts'
import { slugOf } from '../../tools/tidy/link-rules.ts'
import { readRepository } from '../../tools/tidy/repository.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { freePort } from '../chaos/chaos-stage.ts'
import { IS_LONG } from '../form.ts'
import { violationsOn } from './axe.ts'
import { browserTest } from './browser-test.ts'

const BUILT = join(SITE, '.vitepress', 'dist')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png',
  '.webp': 'image/webp', '.json': 'application/json',
}
const ENTITIES: Readonly<Record<string, string>> = {
  '&#39;': "'", '&#x27;': "'", '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&',
}
/** Pages that are open at once. */
const TABS = 4

const COMMAND = [join(ROOT, 'tools', 'run.mjs'), 'docs']

/** `npm run docs`, and where it serves. */
let site: ChildProcess
let served: string
/** A server that spends no time on compression: browsers open all pages here. */
let server: Server | undefined
let origin: string
let pages: string[]

beforeAll(async () => {
  const port = await freePort()
  site = spawn(process.execPath, [...COMMAND, '--port', String(port)], { cwd: ROOT })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      said += String(chunk)
      if (said.includes('served at http://localhost')) resolve()
    }
    site.stdout!.on('data', read)
    site.stderr!.on('data', read)
    // VitePress ends with an error at a link that leads to no page.
    site.once('exit', (code) => reject(new Error(`npm run docs ended with ${code}: ${said}`)))
  })
  pages = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))
  served = `http://localhost:${port}`
  const serving = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname.replace(/\/$/, '/index.html')
    try {
      const bytes = readFileSync(join(BUILT, path))
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  server = serving
  await new Promise<void>((resolve) => serving.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(serving.address() as AddressInfo).port}`
}, 600_000)
afterAll(() => {
  server?.close()
  site.kill()
})

test('[SITE6] npm run docs serves the site on the given port', async () => {
  const asked = await fetch(`${served}/guide/first-game.html`)
  expect(asked.status).toBe(200)
  expect(await asked.text()).toContain('first-game')
  expect((await fetch(`${served}/guide/nowhere.html`)).status).toBe(404)
})

test('[SITE1] each document of docs/ and each door has a page', () => {
  const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:adr|guide|spec|wire)\/[^/]+\.md$|^api\/[^/]+\.txt$/.test(path))
    .map((path) => path.replace(/README\.md$/, 'index.md').replace(/\.(?:md|txt)$/, '.html'))
  expect(documents.length).toBeGreaterThan(140)
  expect(pages).toEqual(expect.arrayContaining(['index.html', 'api/index.html', ...documents]))
})

test('[SITE7] the page of a door has every name, and says what it is for', () => {
  const { doors } = apiOf(readRepository(ROOT))
  expect(doors.length).toBeGreaterThanOrEqual(12)
  for (const { specifier, exports } of doors) {
    const html = readFileSync(join(BUILT, 'api', `${apiName(specifier)}.html`), 'utf8')
    const words = html.replace(/<[^>]*>/g, '').replace(/&(?:#39|#x27|quot|lt|gt|amp);/g, (entity) => ENTITIES[entity]!)
    for (const { name, declaration } of exports) {
      // Two names may differ in their capitals only: the second one has a number.
      expect(html).toContain(`<h3 id="${slugOf(name)}`)
      for (const { doc = '' } of [declaration, ...declaration.members])
        expect(words.includes(doc), `${specifier}: ${doc}`).toBe(true)
    }
  }
})

test.runIf(IS_LONG)('[SITE1] with --build nothing is served', () => {
  const { status, stdout } = spawnSync(process.execPath, [...COMMAND, '--build'], { cwd: ROOT, encoding: 'utf8' })
  expect(status).toBe(0)
  expect(stdout).toContain(`${pages.length} pages in `)
}, 300_000)

test('[SITE2] every link within the site leads to a page, and its anchor to a place there', () => {
  const texts = new Map(pages.map((path) => [path, readFileSync(join(BUILT, path), 'utf8')]))
  const ids = new Map([...texts].map(([path, text]) => [path, idsOf(text)]))
  const files = new Set(readdirSync(BUILT, { recursive: true, encoding: 'utf8' }))
  let count = 0
  const broken: string[] = []
  for (const [path, text] of texts) {
    for (const [, target = ''] of text.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:|^\/\//.test(target)) continue
      count++
      const [address = '', anchor = ''] = decodeURIComponent(target.replaceAll('&amp;', '&')).split('#')
      const full = address === '' ? path : posix.join('/', posix.dirname(path), address).slice(1)
      const place = (address.startsWith('/') ? address.slice(1) : full).replace(/(?<=^|\/)$/, 'index.html')
      const isThere = files.has(place) && (anchor === '' || ids.get(place)?.has(anchor) === true)
      if (!isThere) broken.push(`${path}: ${target}`)
    }
  }
  expect(count).toBeGreaterThan(pages.length * 20)
  expect(broken).toEqual([])
})

browserTest('[SITE3] every page opens without an error in the console', async (browser) => {
  const context = await browser.newContext()
  const mistakes: string[] = []
  const waiting = [...pages]
  const visit = async (page: Page): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const at = path
      page.removeAllListeners()
      page.on('pageerror', (error) => mistakes.push(`${at}: ${error}`))
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') mistakes.push(`${at}: ${message.text()}`)
      })
      page.on('response', (response) => {
        if (response.status() >= 400) mistakes.push(`${at}: ${response.status()} ${response.url()}`)
      })
      await page.goto(`${origin}/${path}`)
      // The page is alive: its scripts have taken over the text that the server sent.
      await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
    }
  }
  await Promise.all(Array.from({ length: TABS }, async () => await visit(await context.newPage())))
  expect(mistakes).toEqual([])
})

browserTest('[SITE4] a search finds a guide, and the dark mode is dark', async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(`${origin}/guide/first-game.html`)
  const brightness = (): Promise<number> =>
    page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)?.[0]))
  expect(await brightness()).toBeGreaterThan(200)
  await page.click('.VPSwitchAppearance >> visible=true')
  await page.waitForFunction(() => document.documentElement.classList.contains('dark'))
  expect(await brightness()).toBeLessThan(60)
  await page.click('.VPNavBarSearch button')
  await page.fill('.VPLocalSearchBox input', 'rubber-band')
  await page.click('.VPLocalSearchBox .result:has-text("Prediction")')
  await page.waitForURL(/prediction\.html/)
  // Guides come before rules and signatures.
  await page.click('.VPNavBarSearch button')
  await page.fill('.VPLocalSearchBox input', 'random numbers')
  await page.waitForSelector('.VPLocalSearchBox .result')
  await expect.poll(() => page.innerText('.VPLocalSearchBox .result >> nth=0')).toContain('The state of a game')
})

browserTest('[ACCESS1] pages of the site, light and dark', async (browser) => {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme, reducedMotion: 'reduce' })
    for (const path of ['index.html', 'guide/first-game.html', 'api/vite.html']) {
      await page.goto(`${origin}/${path}`)
      await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
      found.push(...await violationsOn(page, `${path}, ${colorScheme}`))
      if (path !== 'index.html') continue
      // A reader that asked for less motion sees one picture of the moving one.
      const shown = await page.evaluate(() => document.querySelector<HTMLImageElement>('.moving img')?.currentSrc)
      expect(shown).toContain('prediction-still')
    }
  }
  expect(found).toEqual([])
})

/** The places of a page that an anchor may name. */
function idsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]!.replaceAll('&amp;', '&')))
}
