/**
 * Every template that draws with a library, in two tabs: what the player of one tab does is seen in the other.
 *
 * The server gives each player a hue by its number. The tests look for pixels of such a hue, as the page shows them.
 */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { GuideRun } from './guide-run.ts'
import { LOOK_MS_MAX, lookAt, PLAYERS, playTemplate, walk } from './template-play.ts'
import { TemplateStage } from './template-stage.ts'

/** The short form plays two of them: one that draws with a library, and one whose clients predict everything. */
const PLAYED = form(['pixi', 'rapier'], ['three', 'react', 'pixi', 'phaser', 'rapier'])

const guide = new GuideRun()
let stage: TemplateStage

beforeAll(() => { stage = new TemplateStage(guide, PLAYED) }, 600_000)
afterAll(() => guide.end())

/** Plays a template, if this form plays it. */
function templateTest(template: string, what: string, body: (browser: Browser) => Promise<void>): void {
  if (!PLAYED.includes(template)) return
  browserTest(`[CREATE5, ACCESS1] the template ${template}: ${what} in the other`, body, 400_000)
}

templateTest('three', 'a player that walks in one tab walks', async (browser) => {
  const tabs = await playTemplate(browser, guide, stage, 'three')
  await walk('three', tabs, 'ArrowRight', (peer) => (peer * 47) & 255)
})

templateTest('react', 'a player that walks in one tab walks', async (browser) => {
  const enter = async (page: Page): Promise<void> => await page.getByRole('button', { name: 'Play' }).click()
  const tabs = await playTemplate(browser, guide, stage, 'react', enter)
  await walk('react', tabs, 'ArrowRight', (peer) => (peer * 47) & 255)
})

templateTest('phaser', 'a tank that drives in one tab drives', async (browser) => {
  const tabs = await playTemplate(browser, guide, stage, 'phaser')
  await walk('phaser', tabs, 'ArrowUp', (peer) => (((peer * 47) & 255) / 256) * 360)
})

templateTest('rapier', 'a player that runs in one tab runs', async (browser) => {
  const tabs = await playTemplate(browser, guide, stage, 'rapier')
  await walk('rapier', tabs, 'ArrowRight', (peer) => (((peer * 97) & 255) / 256) * 360)
})

templateTest('pixi', 'a ship that follows the pointer in one tab flies', async (browser) => {
  const { walker, watcher, counter, mistakes } = await playTemplate(browser, guide, stage, 'pixi')
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
  await lookAt(watcher, 'pixi')
  expect(mistakes).toEqual([])
})
