/** The first minute in the arena: names, the card with the keys, settings, Escape, and a machine that draws slowly. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Serving } from 'tickwire/node'
import type { input } from '../../games/arena/definitions.ts'
import { LIMITS } from '../../games/arena/game.ts'
import { FrameRate } from '../../games/arena/page/frame-rate.ts'
import { serveArena } from '../../games/arena/start-arena.ts'
import { buildPage } from '../../tools/page.ts'
import { ARENA_FOLDER as FOLDER, openArena, playArena, waitFor, type Probe } from './arena-pages.ts'
import { browserTest } from './browser-test.ts'

const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))

declare const arena: Probe

let serving: Serving<typeof input>
let mistakes: string[] = []

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
})
beforeEach(async () => {
  mistakes = []
  const folder = `${FOLDER}/public`
  serving = await serveArena({ port: 0, bots: 0, tickRate: 64, limits: LIMITS, isLocal: false, folder })
})
afterEach(async () => await serving.close())

const namesIn = async (page: Page): Promise<string[]> =>
  await page.evaluate(() => arena.seats().map(({ name }) => name).sort())

browserTest('[ARENA26] two tabs of one visitor are two players with different names', async (browser) => {
  const context = await browser.newContext({ viewport: { width: 800, height: 500 } })
  const tabs = [await context.newPage(), await context.newPage()]
  for (const tab of tabs) {
    await tab.goto(`${serving.url}/?norender`)
    await tab.waitForFunction(() => 'arena' in window)
    await playArena(tab)
  }
  const names = async (): Promise<string[]> => [...new Set(await namesIn(tabs[0]!))]
  await waitFor(async () => (await names()).length === 2, names)
  for (const name of await names()) expect(name).toMatch(/^Guest \d{3}/)
  // A name that was typed is kept, and both tabs take it.
  for (const tab of tabs) {
    await tab.keyboard.press('Escape')
    await tab.fill('#name', 'Ann')
    await tab.click('#play')
  }
  await waitFor(async () => (await names()).join() === 'Ann,Ann 2', names)
})

browserTest('[ARENA27] [ARENA28] the card with the keys, values in the settings, and Escape twice', async (browser) => {
  const page = await openArena(browser, serving.url, mistakes)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.click('summary')
  await page.fill('#fov', '110')
  expect(await page.textContent('output[for=fov]')).toBe('110°')
  expect(await page.textContent('output[for=volume]')).toMatch(/^\d+ %$/)
  await page.check('#inverted')
  await page.screenshot({ path: `${PICTURES}/arena-settings.png` })
  expect(await page.getAttribute('meta[name=viewport]', 'content')).not.toMatch(/user-scalable|maximum-scale/)
  await playArena(page)
  await waitFor(async () => await page.isVisible('#card'))
  await page.screenshot({ path: `${PICTURES}/arena-card.png` })

  // The mouse moves down, and the view moves up.
  await page.mouse.move(600, 400)
  await page.mouse.down()
  await page.mouse.move(600, 440)
  await waitFor(async () => await page.evaluate(() => arena.controls.pitch > 0.01))
  await page.mouse.up()
  await page.keyboard.press('d')
  await waitFor(async () => await page.isHidden('#card'))
  await page.keyboard.press('h')
  expect(await page.isVisible('#card')).toBe(true)
  await page.keyboard.press('h')

  await page.keyboard.press('Escape')
  expect(await page.isVisible('#menu')).toBe(true)
  await page.waitForTimeout(300)
  await page.keyboard.press('Escape')
  await waitFor(async () => await page.isHidden('#menu'))
  // The card is for the first match only.
  expect(await page.isVisible('#card')).toBe(false)
  expect(mistakes).toEqual([])
})

browserTest('[ARENA27] on a phone the card shows the touches', async (browser) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const phone = await context.newPage()
  await phone.goto(`${serving.url}/?norender&play`)
  await phone.waitForFunction(() => 'arena' in window && arena.role === 'player')
  await phone.waitForSelector('#card')
  expect(await phone.innerText('#card')).toContain('left half')
  await phone.screenshot({ path: `${PICTURES}/arena-card-phone.png` })
  await phone.tap('#touch-fire')
  await phone.touchscreen.tap(80, 500)
  await phone.waitForSelector('#card', { state: 'hidden' })
  await phone.tap('#touch-menu')
  await phone.click('summary')
  await phone.screenshot({ path: `${PICTURES}/arena-settings-phone.png` })
})

browserTest('[ARENA28] [ARENA29] a slow machine draws less, and a calm page stands still', async (browser) => {
  const rate = new FrameRate()
  const run = (fps: number, seconds: number): void => {
    for (let frame = 0; frame < fps * seconds; frame++) rate.note(1000 / fps)
  }
  run(60, 20)
  expect(rate.step).toBe(0)
  run(18, 3)
  expect([rate.step, rate.share]).toEqual([1, 0.7])
  run(2, 10)
  expect(rate.step).toBe(3)

  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  await page.goto(`${serving.url}/?local`)
  await page.waitForFunction(() => 'arena' in window)
  // This machine draws with its processor.
  await page.waitForSelector('#slow:not([hidden])', { state: 'attached', timeout: 90_000 })
  expect(await page.isChecked('#glow')).toBe(false)
  await page.click('#play')
  const { frames, moving } = await page.evaluate(async () => {
    const line = document.createElement('li')
    document.querySelector('#feed')!.append(line)
    const began = performance.now()
    let count = 0
    while (performance.now() - began < 3000) {
      await new Promise(requestAnimationFrame)
      count++
    }
    return { frames: count / 3, moving: getComputedStyle(line).transitionDuration }
  })
  console.log(`arena in software: ${frames.toFixed(1)} frames a second`)
  expect(frames).toBeGreaterThan(1.5)
  expect(parseFloat(moving)).toBe(0)
  await page.screenshot({ path: `${PICTURES}/arena-slow.png` })
  expect(mistakes).toEqual([])
})
