/** A game of `npm create tickwire` in two tabs of a real browser, and walking in one of them. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { violationsOn } from './axe.ts'
import type { GuideRun } from './guide-run.ts'
import { HueCounter, type Blob, type TemplateStage } from './template-stage.ts'

const PICTURES = join(ROOT, 'test-results')
const SIZE = { width: 960, height: 600 }
const WHOLE = [0, 0, SIZE.width, SIZE.height] as const
/** The numbers of the first players. A page that Vite loads again while it starts takes another one. */
export const PLAYERS: readonly number[] = [1, 2, 3, 4, 5, 6]
/** How long a page may take until it shows something, on a busy machine. */
export const LOOK_MS_MAX = 120_000
/** As small as a player may look, in pixels. */
export const PIXELS_MIN = 60
/** In the others, all players begin in one place. */
const START_APART: ReadonlySet<string> = new Set(['phaser', 'rapier'])

/** Two tabs that play the same match. */
export interface Tabs {
  readonly walker: Page
  readonly watcher: Page
  readonly counter: HueCounter
  readonly mistakes: readonly string[]
}

/**
 * Starts the server of a template, as its README says, and opens two tabs.
 *
 * @param enter what a visitor does in a tab before the match begins; `first` is the tab before it
 */
export async function playTemplate(
  browser: Browser, guide: GuideRun, stage: TemplateStage, template: string,
  enter?: (page: Page, first: Page | undefined) => Promise<void>,
): Promise<Tabs> {
  const url = await guide.start(stage.create(template), 'npm run dev')
  const mistakes: string[] = []
  const open = async (first?: Page): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: SIZE })).newPage()
    page.on('pageerror', (error) => mistakes.push(String(error)))
    page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
    await page.goto(url)
    await enter?.(page, first)
    await page.locator('canvas').first().waitFor({ timeout: LOOK_MS_MAX })
    return page
  }
  // One after the other: Vite may bundle packages for the first page, and loads it again then.
  const watcher = await open()
  return { watcher, walker: await open(watcher), counter: await HueCounter.open(browser), mistakes }
}

/** Keeps a picture of the page, and looks at it with axe-core, after its script ran. */
export async function lookAt(page: Page, template: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `template-${template}.png`) })
  expect(await violationsOn(page, template)).toEqual([])
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
export async function walk(
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
  await lookAt(watcher, template)
  expect(mistakes).toEqual([])
}
