/** Pages of skirmish for tests: a server, pages in its lobby, and what they show. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { serveGroup, type ServingGroup } from '../../games/skirmish/serve-group.ts'
import { serveSkirmish } from '../../games/skirmish/serve-skirmish.ts'
import { buildPage } from '../../tools/page.ts'
import { freePair } from '../free-pair.ts'

const FOLDER = fileURLToPath(new URL('../../games/skirmish', import.meta.url))
/** Screenshots of the tests. */
export const PICTURES: string = fileURLToPath(new URL('../../test-results', import.meta.url))
const SCREEN: BrowserContextOptions = { viewport: { width: 960, height: 600 } }

let built: Promise<void> | undefined

/** Builds the page once and serves it: a server for each test, so that every match is new. */
export async function openSkirmish(replays?: string): Promise<ServingLockstep> {
  mkdirSync(PICTURES, { recursive: true })
  await (built ??= buildPage(FOLDER))
  return await serveSkirmish({ port: 0, observers: 2, ...(replays !== undefined && { replays }) },
    { static: `${FOLDER}/public` })
}

/** The same with a second relay, as `npm start -- skirmish` serves it. `replays`: the folder of both recordings. */
export async function openGroup(replays?: string): Promise<ServingGroup> {
  mkdirSync(PICTURES, { recursive: true })
  await (built ??= buildPage(FOLDER))
  const port = await freePair()
  return await serveGroup({ port, observers: 2, ...(replays !== undefined && { replays }) },
    `${FOLDER}/public`)
}

/** Waits until an expression is true in a page, whose policy allows no code from texts. */
export async function until(page: Page, expression: string, ms: number = 60_000): Promise<void> {
  await expect.poll(() => page.evaluate(expression), { timeout: ms, message: expression }).toBe(true)
}

/** The text that an element shows. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`))
}

/**
 * The errors of `mistakes` without the reports of one number that the test corrupted: the relay sends them to each of
 * `pages` pages. One heal is planned. A page that was too slow for its first case has a report without a heal before.
 */
export function exceptPlannedHeal(mistakes: readonly string[], pages: number): string[] {
  const reports = mistakes.filter((text) => /^desync in tick \d+, judged by \w+: player \d+ \S+$/.test(text))
  expect(reports.filter((text) => text.endsWith(' healed'))).toHaveLength(pages)
  return mistakes.filter((text) => !reports.includes(text))
}

/** Opens a page in a context of its own. `mistakes` gets its errors. A desync is one of them. */
export async function openPage(
  browser: Browser, url: string, mistakes: string[], options: BrowserContextOptions = SCREEN,
): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage()
  // A click waits for two frames in which the button stands still. Without a graphics card they may be seconds apart.
  page.setDefaultTimeout(90_000)
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'error') mistakes.push(entry.text())
  })
  await page.goto(url)
  return page
}

/** Opens a page, and waits until it sits in the lobby. */
export async function join(
  browser: Browser, url: string, name: string, mistakes: string[], options: BrowserContextOptions = SCREEN,
): Promise<Page> {
  const page = await openPage(browser, url, mistakes, options)
  await page.fill('#name', name)
  await page.click('#play')
  await until(page, 'globalThis.skirmish?.hand.seat >= 0')
  return page
}

/** All pages are ready, and the match begins. */
export async function begin(pages: readonly Page[]): Promise<void> {
  for (const page of pages) {
    await until(page, '!document.querySelector("#ready").disabled')
    await page.click('#ready')
  }
  for (const page of pages) await until(page, 'document.querySelector("#lobby").hidden')
}

/** Where the own headquarters is on the screen. It is selected. */
export async function goHome(page: Page): Promise<{ readonly x: number; readonly y: number }> {
  await page.keyboard.press('b')
  await until(page, 'document.querySelector("#card b")?.textContent === "headquarters"')
  await page.evaluate('skirmish.hand.camera.place()')
  const middle = 'skirmish.hand.camera.pixelOf(skirmish.hand.camera.x + 1.5, skirmish.hand.camera.y + 1)'
  return await page.evaluate(middle) as { x: number; y: number }
}

/** All pages have the same hash after a tick that is still to come. */
export async function expectSameHash(pages: readonly Page[], ms?: number): Promise<void> {
  const [first] = pages
  const tick = Number(await first!.evaluate('skirmish.room.tick')) + 30
  const hashes: unknown[] = []
  for (const page of pages) {
    await until(page, `skirmish.hashAt(${tick}) !== undefined`, ms)
    hashes.push(await page.evaluate(`skirmish.hashAt(${tick})`))
  }
  expect(new Set(hashes).size, hashes.join(' ')).toBe(1)
}
