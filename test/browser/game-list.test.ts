/** The public list of games in a browser: the page of a tracker, and the page of docs/guide/public-list.md. */

import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serveAll, type ServingAll } from '../../packages/services/src/index.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { ask, TestHost, until } from '../contract/tracker-stage.ts'
import { browserTest } from './browser-test.ts'

const EXAMPLE = new URL('../../docs/guide/examples/game-list/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'tickwire-list-'))
/** A folder for pictures of the page, to look at. */
const pictures = process.env['PICTURES']
let services: ServingAll

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('client.ts', EXAMPLE))], outdir: folder, bundle: true, format: 'esm',
    target: 'es2022', conditions: ['tickwire-source'],
  })
  cpSync(new URL('public/index.html', EXAMPLE), join(folder, 'index.html'))
  services = await serveAll({
    port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1', static: folder,
  })
  process.env['TRACKER'] = services.url
})

afterAll(async () => {
  await endPrograms()
  await services.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (browser: Browser, url: string, options: object = {}): Promise<Page> => {
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(url)
  return page
}

browserTest('[TRACK13] a player reads the list of games without script, filters it, and joins', async (browser) => {
  const server = new Program(new URL('../../docs/guide/examples/game-list/server.ts', import.meta.url), [])
  await server.says(/walk at/)
  await publish()
  await until(async () => (await ask('GET', `${services.url}v1/listings`)).body.listings.length === 7)
  const plain = await open(browser, `${services.url}games`, { javaScriptEnabled: false })
  await plain.getByText('Friday evening').waitFor()
  expect(await plain.locator('li').count()).toBe(7)
  await plain.selectOption('select[name=game]', 'walkers')
  await plain.click('form button')
  expect(await plain.locator('li').count()).toBe(1)
  const href = await plain.getByRole('link', { name: 'Join' }).getAttribute('href')
  expect(href).toMatch(/^http:\/\/[\d.]+:\d+\/$/)

  const errors: string[] = []
  const page = await open(browser, `${services.url}games`, { viewport: { width: 1180, height: 860 } })
  page.on('console', (message) => { if (/Content Security/.test(message.text())) errors.push(message.text()) })
  await page.locator('.ping.good').first().waitFor()
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'games.png') })
  const phone = await open(browser, `${services.url}games`, { viewport: { width: 390, height: 844 } })
  await phone.locator('.ping.good').first().waitFor()
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  if (pictures !== undefined) await phone.screenshot({ path: join(pictures, 'phone.png') })
  expect(errors).toEqual([])
  // What the page lists changes without a reload.
  await server.child.kill('SIGTERM')
  await page.getByText('Friday evening').waitFor({ state: 'detached' })
})

browserTest('[TRACK13] the page of the guide lists games and joins one with its identity pinned', async (browser) => {
  const server = new Program(new URL('../../docs/guide/examples/game-list/server.ts', import.meta.url), [])
  await server.says(/walk at/)
  const page = await open(browser, services.url)
  await page.getByRole('button', { name: /Friday evening, 0 of 8, eu-central, verified/ }).click()
  await page.getByText('playing with 1').waitFor()
  const other = await open(browser, `${services.url}?tracker=http://localhost:1/`)
  await other.getByText(/1 games, 1 lists do not answer/).waitFor()
  await other.getByRole('button', { name: /Friday evening, 1 of 8/ }).waitFor()
  server.child.kill('SIGKILL')
})

browserTest('[TRACK12, TRACK13] a page asks before it loads a mod, and refuses another one', async (browser) => {
  const bytes = Buffer.from('a mod')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const host = new TestHost(300)
  const listing = host.sign({
    name: 'Snow', game: 'walkers', host: { identity: host.identity, url: 'http://127.0.0.1:1/' },
    requiredMods: [{ id: 'ada/snow', version: '>=1', sha256, bytes: bytes.length }],
  })
  expect((await ask('POST', `${services.url}v1/listings`, { listing })).status).toBe(201)
  mkdirSync(join(folder, 'mods', 'ada'), { recursive: true })
  writeFileSync(join(folder, 'mods', 'ada', 'snow'), 'a mox')
  const page = await open(browser, services.url)
  const [asked, errors]: [string[], string[]] = [[], []]
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    void dialog.accept()
  })
  const game = page.getByRole('button', { name: /^Snow/ })
  await game.click()
  await until(() => errors.includes('ada/snow is not what the host has'))
  expect(asked).toContain('Download ada/snow, 5 bytes?')
  writeFileSync(join(folder, 'mods', 'ada', 'snow'), bytes)
  // Nothing is at the address of this listing, so the page comes as far as its server.
  await game.click()
  await until(() => errors.some((message) => message.includes('Could not join the match at')), 30_000)
})

async function publish(): Promise<void> {
  const url = 'https://play.example/'
  for (const [at, facts] of [
    { name: 'Iron Valley, all welcome', game: 'skirmish', region: 'eu-west', players: 5, capacity: 8 },
    { name: 'Ranked duel', game: 'skirmish', region: 'us-east', players: 2, capacity: 2, status: 'full' as const },
    { name: 'Rocket night', game: 'arena', region: 'eu-central', players: 21, capacity: 24, hasPassword: true },
    { name: 'Newcomers', game: 'arena', region: 'us-west', players: 0, capacity: 24, status: 'waiting' as const },
    { name: 'Snow mod test', game: 'arena', region: 'eu-central', players: 3, capacity: 16,
      requiredMods: [{ id: 'ada/snow', version: '>=1', sha256: 'a'.repeat(64), bytes: 5 }] },
    { name: 'Boss rush', game: 'shmup', region: 'ap-south', players: 3, capacity: 4,
      map: { name: 'Saturn', hash: 'abc', players: 4 } },
  ].entries()) {
    const host = new TestHost(200 + at)
    const listing = host.sign({ ...facts, host: { identity: host.identity, url } })
    expect((await ask('POST', `${services.url}v1/listings`, { listing })).status).toBe(201)
  }
}
