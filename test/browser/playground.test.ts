/**
 * The playground in real Chromium: every lab, its claim as the page shows it, its dials turned.
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LABS } from '../../games/playground/labs.ts'
import { servePlayground, type ServedPlayground } from '../../games/playground/serve-playground.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/playground', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
/** A page measures for some seconds of its own time, which takes longer on a busy machine. */
const PATIENCE = { timeout: 60_000 }

let served: ServedPlayground

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  served = await servePlayground({ port: 0, host: '127.0.0.1' })
}, 60_000)
afterAll(async () => await served.close())

// Two at a time: each measures for seconds, and longer on a busy machine.
for (const part of [LABS.slice(0, 2), LABS.slice(2, 4), LABS.slice(4, 6), LABS.slice(6)]) {
  browserTest(
    `[PLAY10] claims and sources hold in Chromium: ${part.map(({ title }) => title).join(', ')}`,
    async (browser) => {
      const { page, mistakes } = await openPage(browser)
      for (const { name, title } of part) {
        await go(page, name, title)
        const source = readFileSync(`${FOLDER}/labs/${name}.ts`, 'utf8')
        await page.waitForFunction((text) => document.querySelector('pre')?.textContent === text, source, PATIENCE)
        await page.waitForSelector('.claim[data-held=true]', PATIENCE)
        await page.waitForFunction(areAllDrawn, undefined, PATIENCE)
        await page.screenshot({ path: `${PICTURES}/playground-${name}.png` })
      }
      expect(mistakes).toEqual([])
    },
  )
}

browserTest('[PLAY11] keys take over from the bots; weather changes under a match', async (browser) => {
  const { page, mistakes } = await openPage(browser)
  await page.goto(`${served.url}/`)
  expect(await page.locator('.card').count()).toBe(LABS.length)
  await page.locator('.card').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('.claim[data-held=true]', PATIENCE)

  // A bot turns round in the middle; only a player at the keys walks it to the wall.
  await page.keyboard.down('ArrowRight')
  await page.waitForFunction(isAtWall, undefined, PATIENCE)
  await page.keyboard.up('ArrowRight')

  await page.locator('#dial-latency').fill('0')
  await page.waitForFunction(
    () => Number.parseInt(document.querySelectorAll('dd')[2]?.textContent ?? '') < 150,
    undefined,
    PATIENCE,
  )

  expect(mistakes).toEqual([])
})

browserTest('[PLAY11] a switch begins another match; time can be stopped, and stepped by ticks', async (browser) => {
  const { page, mistakes } = await openPage(browser)
  await go(page, 'authority', 'Authority transfer')
  await page.locator('#dial-shared').uncheck()
  await page.waitForFunction(
    () => /trails behind/.test(document.querySelector('.claim[data-held=true]')?.textContent ?? ''),
    undefined,
    PATIENCE,
  )

  await go(page, 'weather', 'Network weather')
  await page.waitForSelector('.claim[data-held=true]', PATIENCE)
  await page.getByRole('button', { name: 'Pause' }).click()
  // Figures are shown five times a second: after two of them a pause shows.
  const sent = await settled(page)
  await page.getByRole('button', { name: 'One tick' }).click()
  await page.waitForFunction((before) => document.querySelector('dd')?.textContent !== before, sent, PATIENCE)
  expect(mistakes).toEqual([])
})

browserTest('[PLAY12] every page fits a screen 360 pixels wide, in light colours', async (browser) => {
  const { page, mistakes } = await openPage(browser, { viewport: { width: 360, height: 740 }, colorScheme: 'light' })
  for (const { name, title } of [{ name: '', title: 'The network, made visible' }, ...LABS]) {
    await go(page, name, title)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  }
  await page.waitForFunction(areAllDrawn, undefined, PATIENCE)
  await page.screenshot({ path: `${PICTURES}/playground-phone.png`, fullPage: true })
  expect(mistakes).toEqual([])
})

browserTest('[PLAY16] screens, verdict and dials are seen together, and the guide is linked', async (browser) => {
  const { page, mistakes } = await openPage(browser, { viewport: { width: 1280, height: 800 } })
  for (const { name, title } of LABS) {
    await go(page, name, title)
    await page.waitForSelector('.claim strong', PATIENCE)
    const below = await page.evaluate(() =>
      [...document.querySelectorAll('.screens, .said, .dials')].map((each) => each.getBoundingClientRect().bottom))
    expect(Math.max(...below), name).toBeLessThanOrEqual(800)
    await page.screenshot({ path: `${PICTURES}/playground-${name}-1280.png` })
  }
  const [guide] = await Promise.all([page.waitForEvent('popup'), page.click('.guide a')])
  await guide.waitForLoadState()
  expect(await guide.textContent('body')).toMatch(/^# /)

  const phone = await browser.newPage({ viewport: { width: 390, height: 844 } })
  for (const { name, title } of LABS) {
    await go(phone, name, title)
    await phone.waitForFunction(areAllDrawn, undefined, PATIENCE)
    expect(await phone.evaluate(() => document.querySelector('.screens')!.getBoundingClientRect().bottom), name)
      .toBeLessThanOrEqual(844)
    await phone.screenshot({ path: `${PICTURES}/playground-${name}-phone.png` })
  }
  expect(mistakes).toEqual([])
})

test('[PLAY13] it serves its page and the sources of its labs, and nothing else', async () => {
  const status = async (path: string, method = 'GET'): Promise<number> =>
    (await fetch(`${served.url}${path}`, { method })).status
  expect(await status('/')).toBe(200)
  expect(await status('/labs/packet.ts')).toBe(200)
  expect(await status('/guide/smoothness.md')).toBe(200)
  for (const path of [
    '/package.json',
    '/%2e%2e/package.json',
    '/labs/..%2flab.ts',
    '/labs/',
    '/labs/none.ts',
    '/guide/examples',
    '/server.ts',
  ])
    expect(await status(path)).toBe(404)
  expect(await status('/', 'POST')).toBe(404)
  expect((await fetch(`${served.url}/labs/packet.ts`, { method: 'HEAD' })).headers.get('content-type')).toMatch(
    /^text\/plain/,
  )
})

async function openPage(
  browser: Browser,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<{ page: Page; mistakes: string[] }> {
  const mistakes: string[] = []
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark', ...options })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
  return { page, mistakes }
}

/** A new hash does not load the document again: the page has changed when its title has changed. */
async function go(page: Page, name: string, title: string): Promise<void> {
  await page.goto(`${served.url}/#${name}`)
  await page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, title, PATIENCE)
}

/** In the page: whether every canvas has been drawn on. */
function areAllDrawn(): boolean {
  return [...document.querySelectorAll('canvas')].every((canvas) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
    return data.some((value, at) => at % 4 === 3 && value > 0)
  })
}

/** In the page: whether a drawn object on the second screen touches its right edge. */
function isAtWall(): boolean {
  const canvas = document.querySelectorAll('canvas')[1]!
  const { data } = canvas.getContext('2d')!.getImageData(Math.floor(canvas.width * 0.985), 0, 1, canvas.height)
  return data.some((value, at) => at % 4 === 3 && value > 0)
}

/** The first figure, once it has stopped changing. */
async function settled(page: Page): Promise<string> {
  for (let before = ''; ;) {
    const value = await page.locator('dd').first().textContent() ?? ''
    if (value === before) return value
    before = value
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
}
