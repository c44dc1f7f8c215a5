/** Every page of the project under axe-core: no serious and no critical violation, on a desktop and on a phone. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serve } from 'tickwire/node'
import { LIMITS } from '../../games/arena/game.ts'
import { serveArena } from '../../games/arena/start-arena.ts'
import { game as hello } from '../../games/hello/game.ts'
import { LABS } from '../../games/playground/labs.ts'
import { servePlayground } from '../../games/playground/serve-playground.ts'
import { serveShmup } from '../../games/shmup/start-shmup.ts'
import { serveAll } from '../../packages/services/src/index.ts'
import { buildPage } from '../../tools/page.ts'
import { ChaosStage, freePort } from '../chaos/chaos-stage.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { ask, TestHost } from '../contract/tracker-stage.ts'
import { form } from '../form.ts'
import { openArena, playArena, type Probe } from './arena-pages.ts'
import { violationsOn } from './axe.ts'
import { browserTest } from './browser-test.ts'
import { serveRecordings } from './inspector-recordings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
const GAMES = readdirSync(join(ROOT, 'games')).filter((name) => existsSync(join(ROOT, 'games', name, 'public')))

declare const arena: Probe

const closing: (() => unknown)[] = []
/** The server of plain files: pages as they are before their script has run. */
let files: Server

beforeAll(async () => {
  // Skirmish has a test of its own.
  for (const name of GAMES.filter((each) => each !== 'skirmish')) await buildPage(join(ROOT, 'games', name))
  files = createServer(({ url = '/' }, response) => {
    if (!['.html', '.css', '.svg'].includes(extname(url))) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': url.endsWith('.css') ? 'text/css' : 'text/html' })
    response.end(readFileSync(join(ROOT, url)))
  }).listen(0, '127.0.0.1')
}, 120_000)
afterAll(async () => {
  files.close()
  for (const close of closing.splice(0)) await close()
})

async function open(browser: Browser, url: string, viewport = DESKTOP): Promise<Page> {
  const phone = viewport === PHONE
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', hasTouch: phone, isMobile: phone })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

browserTest('[ACCESS1] the arena: menu, settings, match, scores, card, overlay', async (browser) => {
  const found: string[] = []
  const folder = join(ROOT, 'games/arena/public')
  const serving = await serveArena({ port: 0, bots: 2, tickRate: 64, limits: LIMITS, isLocal: false, folder })
  closing.push(() => serving.close())
  const page = await openArena(browser, serving.url, [])
  await page.setViewportSize(DESKTOP)
  await page.click('summary')
  found.push(...await violationsOn(page, 'arena menu'))
  await playArena(page)
  await page.waitForSelector('#card')
  found.push(...await violationsOn(page, 'arena match'))
  await page.keyboard.down('Tab')
  await page.waitForSelector('#scoreboard td')
  found.push(...await violationsOn(page, 'arena scores'))
  await page.keyboard.up('Tab')
  await page.keyboard.press('Backquote')
  await page.waitForSelector('tickwire-devtools .panel')
  found.push(...await violationsOn(page, 'arena overlay'))
  const phone = await open(browser, `${serving.url}/?norender&play`, PHONE)
  await phone.waitForFunction(() => 'arena' in window && arena.role === 'player')
  found.push(...await violationsOn(phone, 'arena on a phone'))
  expect(found).toEqual([])
})

browserTest('[ACCESS1] the arena at a player: the page of a code, its match, and a wrong code', async (browser) => {
  const found: string[] = []
  // Instead of a browser: a program that ends at once.
  process.env.BROWSER = 'true'
  const program = new Program(new URL('../../games/arena/server.ts', import.meta.url), ['--port', '0', '--host'])
  closing.push(endPrograms)
  const [, link = ''] = await program.says(/ +link +(\S+)\n/)
  const address = new URL(link)
  address.searchParams.set('norender', '')
  for (const viewport of [DESKTOP, PHONE]) {
    const page = await open(browser, address.href, viewport)
    await page.waitForFunction(() => 'arena' in window)
    found.push(...await violationsOn(page, `arena of a host, ${viewport.width}`))
    await page.click('#play')
    await page.waitForFunction(() => arena.role === 'player')
    found.push(...await violationsOn(page, `match of a host, ${viewport.width}`))
  }
  address.hash = address.hash.replace(/.{4}$/, '0000')
  const wrong = await open(browser, address.href)
  await wrong.waitForSelector('#problem:not([hidden])')
  found.push(...await violationsOn(wrong, 'a wrong code'))
  expect(found).toEqual([])
})

browserTest('[ACCESS1] the playground: its list, and every lab', async (browser) => {
  const found: string[] = []
  const served = await servePlayground({ port: 0, host: '127.0.0.1' })
  closing.push(() => served.close())
  for (const colorScheme of ['dark', 'light'].slice(0, form(1, 2)) as ('dark' | 'light')[]) {
    const page = await browser.newPage({ viewport: DESKTOP, colorScheme, reducedMotion: 'reduce' })
    for (const name of ['', ...LABS.map((lab) => lab.name)]) {
      await page.goto(`${served.url}/#${name}`)
      await page.waitForSelector(name === '' ? '.cards' : '.claim strong')
      found.push(...await violationsOn(page, `playground ${name}, ${colorScheme}`))
    }
  }
  expect(found).toEqual([])
}, 300_000)

browserTest('[ACCESS1] hello, with its server and without it, and the shooter', async (browser) => {
  const found: string[] = []
  const serving = await serve(hello, { port: 0, static: join(ROOT, 'games/hello/public'), signals: false })
  const page = await open(browser, serving.url)
  await page.waitForSelector('canvas')
  found.push(...await violationsOn(page, 'hello'))
  await serving.close()
  await page.waitForSelector('.tickwire-banner')
  found.push(...await violationsOn(page, 'hello without its server'))

  const settings = { port: 0, bots: 1, level: 1, rtypePort: undefined }
  const { serving: shmup } = await serveShmup(settings, join(ROOT, 'games/shmup/public'))
  closing.push(() => shmup.close())
  for (const viewport of [DESKTOP, PHONE]) {
    const game = await open(browser, shmup.url, viewport)
    await game.waitForSelector('#play')
    found.push(...await violationsOn(game, `shmup menu, ${viewport.width}`))
    await game.fill('#name', 'Ada')
    await game.click('#play')
    await game.waitForTimeout(1500)
    found.push(...await violationsOn(game, `shmup match, ${viewport.width}`))
  }
  expect(found).toEqual([])
})

browserTest('[ACCESS1] the inspector, the list of games, and the page of an operator', async (browser) => {
  const found: string[] = []
  for (const [kind, served] of Object.entries(await serveRecordings())) {
    closing.push(() => served.close())
    const page = await open(browser, served.url)
    await page.waitForSelector('body[data-is-ready=true]')
    found.push(...await violationsOn(page, `inspector of a ${kind}`))
  }
  const services = await serveAll({ port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1' })
  closing.push(() => services.close())
  const list = await open(browser, `${services.url}games`)
  found.push(...await violationsOn(list, 'an empty list of games'))
  const host = new TestHost(7)
  const listing = host.sign({ host: { identity: host.identity, url: 'https://play.example/' } })
  expect((await ask('POST', `${services.url}v1/listings`, { listing })).status).toBe(201)
  await list.reload()
  await list.waitForSelector('li')
  found.push(...await violationsOn(list, 'the list of games'))

  const ops = await freePort()
  const stage = new ChaosStage()
  closing.push(() => stage.close())
  const fleet = await stage.fleet(['--ops', `${ops}`], await freePort())
  await stage.server(fleet.url, '1', 8)
  const operator = await open(browser, `http://127.0.0.1:${ops}/`)
  await operator.getByText('1 process').waitFor()
  found.push(...await violationsOn(operator, 'the page of an operator'))
  expect(found).toEqual([])
})

browserTest('[ACCESS1] pages of the guide and of new games, and no page forbids to zoom', async (browser) => {
  const found: string[] = []
  // As they are before their scripts run. Their own tests play them, and look at what the scripts made.
  const pages = ['docs/guide/examples', 'packages/create-tickwire/templates'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^_].*\bindex\.html$/.test(path) && !path.includes('node_modules'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`))
  expect(pages.length).toBeGreaterThan(14)
  const page = await open(browser, 'about:blank')
  for (const path of pages) {
    await page.goto(`http://127.0.0.1:${(files.address() as AddressInfo).port}/${path}`)
    found.push(...await violationsOn(page, path))
  }
  const games = GAMES.map((name) => `games/${name}/public/index.html`)
  for (const path of [...pages, ...games])
    expect(readFileSync(join(ROOT, path), 'utf8'), path).not.toMatch(/user-scalable|maximum-scale/)
  for (const name of GAMES) {
    const css = readFileSync(join(ROOT, `games/${name}/public/style.css`), 'utf8')
    if (/transition|animation/.test(css)) expect(css, name).toContain('prefers-reduced-motion: reduce')
  }
  expect(found).toEqual([])
})
