/** The shooter with one server and two pages. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Serving } from 'tickwire/node'
import { Pilot, Ship, type input } from '../../games/shmup/definitions.ts'
import { serveShmup } from '../../games/shmup/start-shmup.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/shmup', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
let serving: Serving<typeof input>

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  ;({ serving } = await serveShmup({ port: 0, bots: 1, level: 1, rtypePort: undefined }, `${FOLDER}/public`))
})
afterAll(async () => await serving.close())

async function open(browser: Browser, name: string, mistakes: string[]): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 960, height: 540 } })).newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'error') mistakes.push(entry.text())
  })
  await page.goto(serving.url)
  await page.fill('#name', name)
  await page.click('#play')
  return page
}

browserTest('[SHMUP4] two pages and a bot play one match, and nothing is in the console', async (browser) => {
  const mistakes: string[] = []
  const first = await open(browser, 'Ada', mistakes)
  await open(browser, 'Bo', mistakes)
  const names = (): string[] => [...serving.host.world.each(Pilot)].map(({ name }) => name).sort()
  await expect.poll(names, { timeout: 60_000 }).toEqual(['Ada', 'Bo', 'Nova'])
  const [ada] = [...serving.host.world.each(Pilot)].filter(({ name }) => name === 'Ada')
  const ship = (): { x: number } => [...serving.host.world.each(Ship)].find(({ owner }) => owner === ada!.peer)!
  const from = ship().x
  await first.keyboard.down('ArrowRight')
  await expect.poll(() => ship().x, { timeout: 30_000 }).toBeGreaterThan(from + 80)
  await first.keyboard.up('ArrowRight')
  await first.screenshot({ path: `${PICTURES}/shmup.png` })
  expect(mistakes).toEqual([])
})
