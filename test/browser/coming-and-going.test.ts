/**
 * A page whose server is missing, starts late, is a different service, or has ended: what the page says, and that it
 * reconnects automatically.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serve, type ServeLogEntry, type Serving } from 'tickwire/node'
import { game, Walker, type look } from '../browser-pages/match-page.ts'
import { openPathProxy } from '../contract/path-proxy.ts'
import { browserTest } from './browser-test.ts'

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-coming-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/match-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'),
    bundle: true,
    format: 'iife',
    globalName: 'match',
    conditions: ['tickwire-source'],
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><body><script src="/match.js"></script>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seen = async (page: Page): Promise<ReturnType<typeof look>> =>
  (await page.evaluate('match.look()')) as ReturnType<typeof look>
const bannerOf = (page: Page): Promise<string> => page.locator('.tickwire-banner').last().innerText()

async function until(isTrue: () => boolean | Promise<boolean>, msMax = 60_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !(await isTrue());) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(20)
  }
}

/** Serves on the port of an earlier server, which the system may release late. */
async function serveAgain(port: number): Promise<Serving<typeof game.input>> {
  for (;;) {
    try {
      return await serve(game, { port, static: folder, log: () => {}, ops: false, signals: false })
    } catch {
      await sleep(50)
    }
  }
}

browserTest(
  '[BACK1, BACK2, BACK4] a lost server is announced within 1.5 s, and the page joins the match of the next one',
  async (browser) => {
    // With `keepRooms` a drained server closes without a goodbye, as a killed one does. The next one has no rooms.
    const keepRooms = join(folder, 'gone.json')
    const options = { static: folder, log: () => {}, keepRooms, ops: false as const, signals: false }
    const first = await serve(game, { port: 0, ...options })
    const page = await browser.newPage()
    await page.goto(first.url)
    const peer = await page.evaluate(`match.joinWithBanner(${JSON.stringify(first.url)})`)
    expect(peer).toBeTypeOf('number')
    await until(async () => (await seen(page)).xs.length === 1)
    expect(await page.locator('.tickwire-banner').isVisible()).toBe(false)

    const lostAt = Number(await page.evaluate('performance.now()'))
    await first.drain()
    await until(async () => (await seen(page)).turns.length === 1)
    const [turn = ''] = (await seen(page)).turns
    expect(Number(turn.split(' ').at(-1)) - lostAt, turn).toBeLessThan(1500)
    expect(await bannerOf(page)).toContain('Connection lost. Reconnecting…')
    expect(await page.locator('.tickwire-banner').getAttribute('role')).toBe('status')
    await page.screenshot({ path: join(tmpdir(), 'tickwire-banner-away.png') })

    const second = await serveAgain(Number(new URL(first.url).port))
    try {
      await until(async () => (await seen(page)).turns.at(-1) === 'back new')
      expect(await bannerOf(page)).toContain('Reconnected')
      await until(() => [...second.host.world.each(Walker)].length === 1)
      await until(async () => (await seen(page)).xs.length === 1)
      await second.close()
      await until(async () => (await bannerOf(page)).includes('The server has shut down.'))
      expect(await page.locator('.tickwire-banner').getAttribute('role')).toBe('alert')
      await page.screenshot({ path: join(tmpdir(), 'tickwire-banner-over.png') })
      await page.getByRole('button', { name: 'Try again' }).focus()
    } finally {
      await second.close()
    }
  },
)

browserTest(
  '[BACK3] a page waits for a server that starts late, and says when another service or no URL is there',
  async (browser) => {
    const other = createServer((_request, response) => response.writeHead(404).end('another service'))
    await new Promise<void>((resolve) => other.listen(0, resolve))
    const { port } = other.address() as AddressInfo
    const serving = await serve(game, { port: 0, static: folder, log: () => {}, ops: false, signals: false })
    try {
      const page = await browser.newPage()
      await page.goto(serving.url)
      const joinAt = async (url: string, options = {}): Promise<unknown> =>
        await page.evaluate(`match.join(${JSON.stringify(url)}, ${JSON.stringify(options)})`)
      expect(await joinAt(`http://localhost:${port}`)).toContain('another service answers there')
      expect(await joinAt('localhost')).toContain('Fix: write http://localhost:4000.')
      expect(await joinAt('localhost:4000')).toContain('Fix: write http://localhost:4000.')
      await new Promise((resolve) => other.close(resolve))
      expect(await joinAt(`http://localhost:${port}`, { retryMs: 0 })).toContain('no server answers there')
      const joining = joinAt(`http://localhost:${port}`)
      await sleep(1500)
      const late = await serve(game, { port, origins: 'any', log: () => {}, ops: false, signals: false })
      expect(await joining).toBeTypeOf('number')
      await late.close()
    } finally {
      await serving.close()
    }
  },
)

browserTest('[BACK3] the path of a URL counts: a game behind a path of a web site', async (browser) => {
  const serving = await serve(game, { port: 0, static: folder, log: () => {}, ops: false, signals: false })
  const proxy = await openPathProxy('/duel/', Number(new URL(serving.url).port))
  try {
    const page = await browser.newPage()
    await page.goto(serving.url)
    // The page requests /match.js, so it is loaded from the server itself; the proxy has another origin.
    const options = { transports: ['websocket'], retryMs: 0 }
    const refused = await page.evaluate(`match.join('${proxy.origin}/duel/', ${JSON.stringify(options)})`)
    expect(refused).toContain('origins')
    await page.goto(`${proxy.origin}/duel/index.html`)
    await page.addScriptTag({ url: `${proxy.origin}/duel/match.js` })
    const peer = await page.evaluate(`match.join('${proxy.origin}/duel/', ${JSON.stringify(options)})`)
    expect(peer).toBeTypeOf('number')
    await until(() => [...serving.host.world.each(Walker)].length === 1)
  } finally {
    await proxy.close()
    await serving.close()
  }
})

browserTest('[BACK5] the server logs and counts a refused origin once', async (browser) => {
  const log: ServeLogEntry[] = []
  const elsewhere = await serve(game, { port: 0, static: folder, log: () => {}, ops: false, signals: false })
  const serving = await serve(game, { port: 0, log: (entry) => log.push(entry), ops: false, signals: false })
  try {
    const page = await browser.newPage()
    await page.goto(elsewhere.url)
    for (let attempt = 0; attempt < 2; attempt++)
      await page.evaluate(`match.join(${JSON.stringify(serving.url)}, {})`)
    const refused = log.filter(({ event }) => event === 'client-refused')
    expect(refused.map(({ message }) => message)).toEqual([
      `a page of ${elsewhere.url} was refused. Fix: serve(game, { origins: ['${elsewhere.url}'] }), if it is yours`,
    ])
    expect(serving.refusals.counts.origin).toBe(1)
  } finally {
    await serving.close()
    await elsewhere.close()
  }
})
