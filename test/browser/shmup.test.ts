/** The shooter with one server and two pages. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, CDPSession, Page } from 'playwright-core'
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

/** A finger on the screen, at a place or gone. */
async function touch(session: CDPSession, type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0): Promise<void> {
  await session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] })
}

browserTest('[SHMUP8] on an upright phone ships fly up, and follow a finger', async (browser) => {
  const mistakes: string[] = []
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const page = await context.newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  await page.goto(serving.url)
  await page.fill('#name', 'Cy')
  await page.tap('#play')
  const pilot = (): { peer: number } | undefined =>
    [...serving.host.world.each(Pilot)].find(({ name }) => name === 'Cy')
  await expect.poll(() => pilot() !== undefined, { timeout: 60_000 }).toBe(true)
  const ship = (): { x: number; y: number } =>
    [...serving.host.world.each(Ship)].find(({ owner }) => owner === pilot()!.peer)!
  const session = await context.newCDPSession(page)
  const drag = async (dx: number, dy: number): Promise<void> => {
    await touch(session, 'touchStart', 195, 400)
    await touch(session, 'touchMove', 195 + dx, 400 + dy)
  }
  const before = { x: ship().x, y: ship().y }
  // Up on the screen is ahead on the field; to the right on the screen is down on the field.
  await drag(0, -60)
  await expect.poll(() => ship().x, { timeout: 30_000 }).toBeGreaterThan(before.x + 60)
  await touch(session, 'touchEnd')
  await drag(60, 0)
  await expect.poll(() => ship().y, { timeout: 30_000 }).toBeGreaterThan(before.y + 20)
  await touch(session, 'touchEnd')
  // The buttons are big enough for thumbs, inside of the screen, and do not cover each other.
  const boxes = await Promise.all(['#beam', '#force', '#sound'].map((id) => page.locator(id).boundingBox()))
  for (const box of boxes) {
    expect(Math.min(box!.width, box!.height)).toBeGreaterThanOrEqual(40)
    expect(box!.x + box!.width).toBeLessThanOrEqual(390)
    expect(box!.y + box!.height).toBeLessThanOrEqual(844)
  }
  expect(boxes[0]!.x + boxes[0]!.width).toBeLessThan(boxes[1]!.x)
  await page.screenshot({ path: `${PICTURES}/shmup-phone.png` })
  expect(mistakes).toEqual([])
})
