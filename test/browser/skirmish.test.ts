/** Skirmish: two pages and bots in one match, through a relay. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { serveSkirmish } from '../../games/skirmish/start-skirmish.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/skirmish', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
let serving: ServingLockstep

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  serving = await serveSkirmish({ port: 0, observers: 2 }, `${FOLDER}/public`)
})
afterAll(async () => await serving.close())

/** Waits until an expression is true in a page, whose policy allows no code from texts. */
async function until(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(expression), { timeout: 60_000 }).toBe(true)
}

async function open(browser: Browser, name: string, mistakes: string[]): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 960, height: 600 } })).newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'error') mistakes.push(entry.text())
  })
  await page.goto(serving.url)
  await page.fill('#name', name)
  await page.click('#play')
  await until(page, 'globalThis.skirmish?.hand.seat >= 0')
  return page
}

browserTest('[SKIRM15, DESYNC12] orders by mouse reach both pages, and a wrong number is healed', async (browser) => {
  const mistakes: string[] = []
  const ada = await open(browser, 'Ada', mistakes)
  const bo = await open(browser, 'Bo', mistakes)
  await until(ada, 'document.querySelector("#seats").textContent.includes("Bo")')
  await ada.screenshot({ path: `${PICTURES}/skirmish-lobby.png` })
  for (const page of [ada, bo]) await page.click('#ready')
  for (const page of [ada, bo]) await until(page, 'document.querySelector("#lobby").hidden')
  await ada.mouse.move(250, 100)
  await ada.mouse.down()
  await ada.mouse.move(720, 420, { steps: 3 })
  await ada.mouse.up()
  await until(ada, 'skirmish.hand.selection.ids.size === 5')
  await ada.mouse.click(480, 440, { button: 'right' })
  // The marker and the turn are visible before the order is executed; then the units walk on both pages.
  const goals = `skirmish.hand.selection.units(skirmish.room.world, skirmish.hand.seat).length`
  expect(await ada.evaluate(goals)).toBe(5)
  await until(ada, 'document.querySelector("#card").textContent.includes("5 worker")')
  await ada.screenshot({ path: `${PICTURES}/skirmish.png` })
  const tick = Number(await ada.evaluate('skirmish.room.tick')) + 30
  const hashes: unknown[] = []
  for (const page of [ada, bo]) {
    await until(page, `skirmish.hashAt(${tick}) !== undefined`)
    hashes.push(await page.evaluate(`skirmish.hashAt(${tick})`))
  }
  expect(hashes[0]).toBe(hashes[1])
  expect(Number(await ada.evaluate('skirmish.drawCalls'))).toBeLessThanOrEqual(60)
  // One number of one page is wrong. Both pages draw in software, so every answer takes a draw of both.
  await ada.click('#net')
  await ada.click('text=Corrupt one number')
  const healed = String.raw`/healed in \d+ ms\n.*Unit \d+, hp, \d+ against \d+/`
  await until(bo, `${healed}.test(document.querySelector("#network pre").textContent)`)
  await bo.screenshot({ path: `${PICTURES}/skirmish-desync.png` })
  expect(mistakes).toEqual([])
})
