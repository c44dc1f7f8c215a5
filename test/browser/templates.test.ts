/**
 * Every template that draws with a library, in two tabs: what the player of one tab does is seen in the other.
 *
 * The server gives each player a hue by its number. The tests look for pixels of such a hue, as the page shows them.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { GuideRun } from './guide-run.ts'
import { HueCounter, TemplateStage, type Blob } from './template-stage.ts'

const PICTURES = join(ROOT, 'test-results')
const SIZE = { width: 960, height: 600 }
const WHOLE = [0, 0, SIZE.width, SIZE.height] as const
/** The numbers of the first players. A page that Vite loads again while it starts takes another one. */
const PLAYERS = [1, 2, 3, 4, 5, 6]
/** How long a page may take until it shows something, on a busy machine. */
const LOOK_MS_MAX = 120_000
/** As small as a player may look, in pixels. */
const PIXELS_MIN = 60
/** In the others, all players begin in one place. */
const START_APART: ReadonlySet<string> = new Set(['phaser', 'rapier'])

/** The short form plays two of them: one that draws with a library, and one whose clients predict everything. */
const PLAYED = form(['pixi', 'rapier'], ['three', 'react', 'pixi', 'phaser', 'rapier'])

const guide = new GuideRun()
let stage: TemplateStage

beforeAll(() => {
  mkdirSync(PICTURES, { recursive: true })
  stage = new TemplateStage(guide, PLAYED)
}, 600_000)
afterAll(() => guide.end())

interface Tabs {
  readonly walker: Page
  readonly watcher: Page
  readonly counter: HueCounter
  readonly mistakes: readonly string[]
}

/** Starts the server of a template, as its README says, and opens two tabs. */
async function play(browser: Browser, template: string, enter?: (page: Page) => Promise<void>): Promise<Tabs> {
  const url = await guide.start(stage.create(template), 'npm run dev')
  const mistakes: string[] = []
  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: SIZE })).newPage()
    page.on('pageerror', (error) => mistakes.push(String(error)))
    page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
    await page.goto(url)
    await enter?.(page)
    await page.locator('canvas').first().waitFor({ timeout: LOOK_MS_MAX })
    return page
  }
  // One after the other: Vite may bundle packages for the first page, and loads it again then.
  const watcher = await open()
  return { watcher, walker: await open(), counter: await HueCounter.open(browser), mistakes }
}

/** The players that a page shows, by their hue. */
async function playersIn(page: Page, counter: HueCounter, hueOf: (peer: number) => number): Promise<Map<number, Blob>> {
  const blobs = await counter.blobs(await page.screenshot(), PLAYERS.map(hueOf), WHOLE)
  return new Map([...blobs.entries()].filter(([, { count }]) => count >= PIXELS_MIN))
}

/** The greatest distance between two players, in pixels. */
function spread(players: ReadonlyMap<number, Blob>): number {
  const places = [...players.values()].map(({ x }) => x)
  return places.length < 2 ? 0 : Math.max(...places) - Math.min(...places)
}

/** Walks in one tab, in steps, until the other tab shows another distance between the players. */
async function walk(
  template: string, { walker, watcher, counter, mistakes }: Tabs, key: string, hueOf: (peer: number) => number,
): Promise<void> {
  const look = async (page: Page): Promise<Map<number, Blob>> => await playersIn(page, counter, hueOf)
  // Both play. Where players begin in one place, only one of them is seen.
  for (const page of [walker, watcher])
    await expect.poll(async () => (await look(page)).size, { timeout: LOOK_MS_MAX }).toBeGreaterThanOrEqual(1)
  const begin = START_APART.has(template) ? 2 : 1
  await expect.poll(async () => (await look(watcher)).size, { timeout: LOOK_MS_MAX }).toBeGreaterThanOrEqual(begin)
  const before = spread(await look(watcher))
  await walker.bringToFront()
  await expect.poll(async () => {
    await walker.keyboard.down(key)
    await walker.waitForTimeout(100)
    await walker.keyboard.up(key)
    await walker.waitForTimeout(200)
    return Math.abs(spread(await look(watcher)) - before)
  }, { timeout: LOOK_MS_MAX }).toBeGreaterThan(30)
  await watcher.screenshot({ path: join(PICTURES, `template-${template}.png`) })
  expect(mistakes).toEqual([])
}

/** Plays a template, if this form plays it. */
function templateTest(template: string, what: string, body: (browser: Browser) => Promise<void>): void {
  if (PLAYED.includes(template)) browserTest(`[CREATE5] the template ${template}: ${what} in the other`, body, 400_000)
}

templateTest('three', 'a player that walks in one tab walks', async (browser) => {
  await walk('three', await play(browser, 'three'), 'ArrowRight', (peer) => (peer * 47) & 255)
})

templateTest('react', 'a player that walks in one tab walks', async (browser) => {
  const tabs = await play(browser, 'react', async (page) => await page.getByRole('button', { name: 'Play' }).click())
  await walk('react', tabs, 'ArrowRight', (peer) => (peer * 47) & 255)
})

templateTest('phaser', 'a tank that drives in one tab drives', async (browser) => {
  await walk('phaser', await play(browser, 'phaser'), 'ArrowUp', (peer) => (((peer * 47) & 255) / 256) * 360)
})

templateTest('rapier', 'a player that runs in one tab runs', async (browser) => {
  await walk('rapier', await play(browser, 'rapier'), 'ArrowRight', (peer) => (((peer * 97) & 255) / 256) * 360)
})

templateTest('pixi', 'a ship that follows the pointer in one tab flies', async (browser) => {
  const { walker, watcher, counter, mistakes } = await play(browser, 'pixi')
  const hues = PLAYERS.map((peer) => (((peer * 47) & 255) / 256) * 360)
  const [x, y] = [700, 400]
  const isThere = async (): Promise<boolean> =>
    (await counter.blobs(await watcher.screenshot(), hues, [x - 40, y - 40, x + 40, y + 40]))
      .some(({ count }) => count > 200)
  expect(await isThere()).toBe(false)
  await walker.bringToFront()
  await walker.mouse.move(x, y)
  await walker.mouse.down()
  await expect.poll(isThere, { timeout: LOOK_MS_MAX }).toBe(true)
  await walker.mouse.up()
  await watcher.screenshot({ path: join(PICTURES, 'template-pixi.png') })
  expect(mistakes).toEqual([])
})
