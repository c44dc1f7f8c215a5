/** The inspector's page: what it says about the recording of a player, of a server, and of a lockstep match. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { browserTest } from './browser-test.ts'
import { serveRecordings } from './inspector-recordings.ts'

const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))

let served: Awaited<ReturnType<typeof serveRecordings>>

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  served = await serveRecordings()
}, 60_000)
afterAll(async () => {
  for (const each of Object.values(served)) await each.close()
})

const ready = async (page: Page): Promise<void> => await page.waitForSelector('body[data-is-ready=true]').then(() => {})
const headings = async (page: Page): Promise<string[]> =>
  (await page.locator('h2:visible').allInnerTexts()).map((text) => text.toLowerCase()).sort()

browserTest('[DEV11] the page says what made a recording, and shows what that recording has', async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  const mistakes: string[] = []
  page.on('pageerror', (error) => mistakes.push(String(error)))

  await page.goto(served.player.url)
  await ready(page)
  expect(await page.textContent('#about')).toMatch(/^Recording of player 1: ticks .* 1 misprediction$/)
  expect(await headings(page)).toEqual(['mispredictions', 'packets around this tick', 'the world at this tick'])
  await page.screenshot({ path: `${PICTURES}/inspect-player.png` })
  // Nothing of the table of bits is beside the screen.
  const widths = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.querySelector('.bits')!
    return [scrollWidth - clientWidth, document.documentElement.scrollWidth]
  })
  expect(widths).toEqual([0, 1280])
  await page.locator('.bits tbody tr').last().scrollIntoViewIfNeeded()
  await page.screenshot({ path: `${PICTURES}/inspect-player-bits.png` })

  await page.goto(served.server.url)
  await ready(page)
  expect(await page.textContent('#about')).toMatch(/^Recording of a server: ticks/)
  expect(await headings(page)).toEqual(['events', 'inputs at this tick', 'the world at this tick'])
  expect(await page.textContent('#worlds th:nth-child(2)')).toBe('server')
  expect(await page.textContent('#inputs')).toContain('player 1')
  expect(await page.textContent('body')).not.toContain('Input of this client: –')
  await page.screenshot({ path: `${PICTURES}/inspect-server.png` })

  await page.goto(served.match.url)
  await ready(page)
  expect(await page.textContent('#about')).toMatch(/^Recording of a lockstep match: ticks 1 to/)
  expect(await headings(page)).toEqual(['a lockstep match'])
  expect(await page.textContent('#match')).toMatch(/Players that signed their orders3/)
  await page.screenshot({ path: `${PICTURES}/inspect-match.png` })
  expect(mistakes).toEqual([])
})

browserTest('[DEV11] it says that it reads, and that its program has ended; it fits a phone', async (browser) => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  let answer = (): void => {}
  const held = new Promise<void>((resolve) => { answer = resolve })
  await page.route('**/api/packets', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(served.player.url)
  await page.waitForFunction(() => /reading packets/.test(document.querySelector('#about')!.textContent!))
  await page.screenshot({ path: `${PICTURES}/inspect-reading.png` })
  answer()
  await ready(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.screenshot({ path: `${PICTURES}/inspect-player-phone.png`, fullPage: true })
  await page.goto(served.server.url)
  await ready(page)
  await page.screenshot({ path: `${PICTURES}/inspect-server-phone.png` })
  await page.route('**/api/tick*', (route) => route.abort())
  await page.click('#forth')
  await page.waitForFunction(() => /has ended/.test(document.querySelector('#about')!.textContent!))
})
