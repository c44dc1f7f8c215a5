/** Options and passwords of rooms, and warnings of development mode, in a page. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { serveRooms, type ServingRooms } from 'tickwire/node'
import { game } from '../browser-pages/options-page.ts'
import { browserTest } from './browser-test.ts'

let folder = ''
let serving: ServingRooms

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-room-options-'))
  const entry = fileURLToPath(new URL('../browser-pages/options-page.ts', import.meta.url))
  const common: BuildOptions = { bundle: true, format: 'iife', globalName: 'rooms', conditions: ['tickwire-source'] }
  await build({ ...common, entryPoints: [entry], outfile: join(folder, 'page.js') })
  await build({ ...common, entryPoints: [entry], outfile: join(folder, 'production.js'), minify: true })
  for (const [name, script] of [['index', 'page'], ['production', 'production']] as const)
    writeFileSync(join(folder, `${name}.html`), `<!doctype html><body><script src="/${script}.js"></script>`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(async () => {
  serving = await serveRooms({
    duel: {
      game,
      capacity: 3,
      onCreate: (room) => { room.metadata = { map: String(room.options.map) } },
    },
  }, { port: 0, static: folder, log: () => {}, ops: false, signals: false })
})
afterEach(async () => await serving.close())

async function open(browser: Browser, path = ''): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`${serving.url}/${path}`)
  return page
}

browserTest('[ROOM14, ROOM15] a page creates a room with options and a password', async (browser) => {
  const [host, guest] = [await open(browser), await open(browser)]
  const url = JSON.stringify(serving.url)
  await guest.evaluate(`rooms.watch(${url})`)
  const id = await host.evaluate(`rooms.create(${url}, 7, 'sesame')`)
  expect(serving.rooms.rooms.map((room) => [room.id, room.options])).toEqual([[id, { map: 7, isRanked: false }]])
  await expect.poll(async () => await guest.evaluate('rooms.listed'), { timeout: 30_000 }).toBe('7 1 true')
  const enter = async (password: string): Promise<unknown> =>
    await guest.evaluate(`rooms.enter(${url}, '${String(id)}', ${password})`)
  expect(await enter('undefined')).toBe('password')
  expect(await enter(`'open'`)).toBe('password')
  expect(await enter(`'sesame'`)).toBe(id)
  await expect.poll(async () => await guest.evaluate('rooms.listed'), { timeout: 30_000 }).toBe('7 2 true')
  // The page stores no password.
  const stored = await host.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
  expect(stored).not.toContain('sesame')
})

browserTest('[CHECK1] a page in development warns of NaN once; a built page does not', async (browser) => {
  const warningsOf = async (path: string): Promise<string[]> => {
    const page = await open(browser, path)
    const warnings: string[] = []
    page.on('console', (entry) => { if (entry.type() === 'warning') warnings.push(entry.text()) })
    await page.evaluate(`rooms.create(${JSON.stringify(serving.url)}, 1, 'a')`)
    await page.evaluate('rooms.goWrong()')
    await expect.poll(() => warnings.length > 0 || path !== '', { timeout: 30_000 }).toBe(true)
    await page.waitForTimeout(500)
    return warnings
  }
  const [first = '', ...more] = await warningsOf('')
  expect(first).toMatch(/^Walker\.x: NaN \(object \d+, tick \d+\), stored as 0\. Fix: /)
  expect(more.filter((text) => text.includes('NaN'))).toEqual([])
  expect(await warningsOf('production.html')).toEqual([])
})
