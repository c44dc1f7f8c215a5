/**
 * The templates that draw on a plain canvas, in two tabs: what the player of one tab does is seen in the other.
 * `hello` is played by create.test.ts.
 */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { GuideRun } from './guide-run.ts'
import { LOOK_MS_MAX, lookAt, PIXELS_MIN, PLAYERS, playTemplate, walk } from './template-play.ts'
import { TemplateStage } from './template-stage.ts'

/** The short form leaves out `peer`, for which the services have to be packed. */
const PLAYED = form(['lockstep', 'rooms'], ['lockstep', 'rooms', 'peer'])

const guide = new GuideRun()
let stage: TemplateStage

beforeAll(() => { stage = new TemplateStage(guide, PLAYED) }, 600_000)
afterAll(() => guide.end())

/** Plays a template, if this form plays it. */
function templateTest(template: string, what: string, body: (browser: Browser) => Promise<void>): void {
  if (PLAYED.includes(template)) browserTest(`[CREATE5, ACCESS1] the template ${template}: ${what}`, body, 400_000)
}

templateTest('lockstep', 'units march in the other tab to where a player clicks', async (browser) => {
  const { walker, watcher, counter, mistakes } = await playTemplate(browser, guide, stage, 'lockstep')
  const [x, y] = [420, 256]
  const hues = PLAYERS.map((player) => (player * 47) % 360)
  const isThere = async (): Promise<boolean> => {
    const corner = (await watcher.locator('canvas').boundingBox())!
    const [left, top] = [Math.round(corner.x + x), Math.round(corner.y + y)]
    const box = [left - 12, top - 12, left + 12, top + 12] as const
    return (await counter.blobs(await watcher.screenshot(), hues, box)).some(({ count }) => count >= PIXELS_MIN)
  }
  expect(await isThere()).toBe(false)
  await walker.bringToFront()
  // A click before the match began gives no order.
  await expect.poll(async () => {
    await walker.locator('canvas').click({ position: { x, y } })
    await walker.waitForTimeout(1000)
    return await isThere()
  }, { timeout: LOOK_MS_MAX }).toBe(true)
  await lookAt(watcher, 'lockstep')
  expect(mistakes).toEqual([])
})

templateTest('rooms', 'a player of the other team is seen walking, and what it says is read', async (browser) => {
  const enter = async (page: Page, first: Page | undefined): Promise<void> => {
    await page.fill('#name', first === undefined ? 'Ada' : 'Bob')
    await page.click('#quick')
  }
  const { walker, watcher, counter, mistakes } = await playTemplate(browser, guide, stage, 'rooms', enter)
  /** Whether a player is between the places where the teams begin. */
  const isBetween = async (): Promise<boolean> => {
    const { x, y, width, height } = (await watcher.locator('canvas').boundingBox())!
    const box = [x + width / 3, y, x + (2 * width) / 3, y + height].map(Math.round) as [number, number, number, number]
    // The colours of both teams.
    const blobs = await counter.blobs(await watcher.screenshot(), [0, 207], box)
    return blobs.some(({ count }) => count >= PIXELS_MIN)
  }
  expect(await isBetween()).toBe(false)
  await walker.bringToFront()
  await expect.poll(async () => {
    await walker.keyboard.down('ArrowRight')
    await walker.waitForTimeout(300)
    await walker.keyboard.up('ArrowRight')
    return await isBetween()
  }, { timeout: LOOK_MS_MAX }).toBe(true)
  await walker.fill('#say', 'well met')
  await walker.press('#say', 'Enter')
  await watcher.locator('#chat', { hasText: 'Bob: well met' }).waitFor({ timeout: LOOK_MS_MAX })
  await lookAt(watcher, 'rooms')
  expect(mistakes).toEqual([])
})

templateTest('peer', 'a player that joins a page by its link walks in the page that hosts', async (browser) => {
  const enter = async (page: Page, first: Page | undefined): Promise<void> => {
    if (first === undefined) return await page.click('#host')
    await page.goto((await first.locator('#link').getAttribute('href'))!)
    // The address differs from the one before in its # only, so that nothing was loaded.
    await page.reload()
  }
  const tabs = await playTemplate(browser, guide, stage, 'peer', enter)
  await walk('peer', tabs, 'ArrowRight', (peer) => (peer * 47) & 255)
  expect(await tabs.watcher.textContent('#code')).toMatch(/^[A-Z]+-/)
})
