/** The network of the arena, as a player meets it: a button, presets, and prediction on and off. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Serving } from 'tickwire/node'
import { createBot } from '../../games/arena/bots.ts'
import type { input } from '../../games/arena/definitions.ts'
import { LIMITS } from '../../games/arena/game.ts'
import { serveArena } from '../../games/arena/start-arena.ts'
import { buildPage } from '../../tools/page.ts'
import { ARENA_FOLDER as FOLDER, openArena, playArena, waitFor, type Probe } from './arena-pages.ts'
import { browserTest } from './browser-test.ts'

const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))

declare const arena: Probe & { readonly session: { readonly rttMs: number }; received: Probe['fighters'] }

let serving: Serving<typeof input>
let mistakes: string[] = []

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
})
beforeEach(async () => {
  mistakes = []
  const folder = `${FOLDER}/public`
  serving = await serveArena({ port: 0, bots: 0, tickRate: 128, limits: LIMITS, isLocal: false, folder })
})
afterEach(async () => await serving.close())

browserTest('[ARENA23] a button opens the network and frees the pointer, in menu and match', async (browser) => {
  // Few pixels: this machine draws with its processor.
  const page = await browser.newPage({ viewport: { width: 860, height: 400 }, deviceScaleFactor: 0.25 })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  await page.addInitScript(() => localStorage.setItem('tickwire-arena', '{"hasGlow":false}'))
  await page.goto(serving.url)
  await page.waitForFunction(() => 'arena' in window)
  await page.click('#network')
  await page.waitForSelector('tickwire-devtools .panel')
  // The menu stays usable beside it, and the overlay stays open when the match begins.
  await page.click('#play')
  await page.waitForFunction(() => arena.role === 'player')
  await page.waitForSelector('tickwire-devtools .panel')
  await page.setViewportSize({ width: 1280, height: 800 })
  const covered = await page.evaluate(() => {
    const overlay = document.querySelector('tickwire-devtools')!.shadowRoot!
    const { left } = overlay.querySelector('.panel')!.getBoundingClientRect()
    return ['#top', '#feed', '#card', '#vitals', '#weapons'].filter((each) =>
      document.querySelector(each)!.getBoundingClientRect().right > left)
  })
  expect(covered).toEqual([])
  await page.setViewportSize({ width: 860, height: 400 })
  await page.keyboard.press('Backquote')
  await page.waitForSelector('tickwire-devtools', { state: 'detached' })
  await page.mouse.click(300, 300)
  await page.waitForFunction(() => document.pointerLockElement !== null)
  await page.keyboard.press('Backquote')
  await page.waitForFunction(() => document.pointerLockElement === null)
  expect(await page.isVisible('#menu')).toBe(false)
  await page.click('tickwire-devtools button:text-is("weather")')
  await page.click('tickwire-devtools button:text-is("other continent")')
  await page.waitForFunction(() => arena.session.rttMs > 150, undefined, { timeout: 60_000 })
  await page.click('#net')
  await page.waitForSelector('tickwire-devtools', { state: 'detached' })
  expect(mistakes).toEqual([])
})

browserTest('[ARENA23] on a phone a tap on the round trip opens the network', async (browser) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const phone = await context.newPage()
  phone.on('pageerror', (error) => mistakes.push(String(error)))
  await phone.goto(`${serving.url}/?norender`)
  await phone.waitForFunction(() => 'arena' in window)
  await phone.tap('#network')
  await phone.waitForSelector('tickwire-devtools .panel')
  await phone.screenshot({ path: `${PICTURES}/arena-network-phone-menu.png` })
  await phone.tap('#play')
  await phone.waitForFunction(() => arena.role === 'player')
  await phone.tap('tickwire-devtools button[title="close"]')
  await phone.waitForSelector('tickwire-devtools', { state: 'detached' })
  await phone.tap('#net')
  await phone.waitForSelector('tickwire-devtools .panel')
  expect(await phone.isHidden('#scoreboard')).toBe(true)
  await phone.screenshot({ path: `${PICTURES}/arena-network-phone.png` })
  expect(mistakes).toEqual([])
})

browserTest('[ARENA24] without prediction an own step is drawn a round trip late', async (browser) => {
  const page = await openArena(browser, serving.url, mistakes, '&weather=100ms,0ms,0%')
  await playArena(page)
  await waitFor(async () => await page.evaluate(() => arena.fighters().some(({ owner }) => owner === arena.peer)))
  await page.waitForFunction(() => arena.session.rttMs > 150)
  await page.waitForSelector('#menu', { state: 'hidden' })
  await page.keyboard.press('p')
  expect(await page.isChecked('#smooth')).toBe(false)
  const late = await stepMs(page)
  await page.keyboard.press('p')
  const soon = await stepMs(page)
  expect(late).toBeGreaterThan(180)
  expect(soon).toBeLessThan(late - 80)
  expect(mistakes).toEqual([])
})

browserTest('[ARENA24] without interpolation a rival is drawn at its newest received row', async (browser) => {
  serving.host.addBot(createBot(0, 128, 'gentle'))
  const page = await openArena(browser, serving.url, mistakes, '&weather=50ms,0ms,0%')
  await playArena(page)
  await page.waitForFunction(() => arena.fighters().some(({ owner }) => owner !== arena.peer))
  await page.waitForSelector('#menu', { state: 'hidden' })
  const smooth = await rivalsApart(page)
  await page.keyboard.press('p')
  expect(await page.isChecked('#smooth')).toBe(false)
  const plain = await rivalsApart(page)
  for (const { moving } of [smooth, plain]) expect(moving).toBeGreaterThan(30)
  expect(plain.apart).toBe(0)
  // An interpolated rival is drawn in the past: at its newest row only by chance.
  expect(smooth.apart).toBeGreaterThan(smooth.moving * 0.9)
  expect(mistakes).toEqual([])
})

/** In how many draws a rival moved, and in how many of these it was drawn elsewhere than its newest row has it. */
async function rivalsApart(page: Page): Promise<{ readonly moving: number; readonly apart: number }> {
  return await page.evaluate(async () => {
    // The switch has an effect from the next draw on.
    for (let draws = 0; draws < 3; draws++) await new Promise(requestAnimationFrame)
    const rivalOf = (all: ReturnType<Probe['fighters']>) => all.find(({ owner }) => owner !== arena.peer)
    let [moving, apart] = [0, 0]
    let before = rivalOf(arena.received())
    for (const until = performance.now() + 20_000; moving < 120 && performance.now() < until;) {
      await new Promise(requestAnimationFrame)
      const [drawn, received] = [rivalOf(arena.fighters()), rivalOf(arena.received())]
      const isMoving = before?.id === received?.id && (before?.x !== received?.x || before?.z !== received?.z)
      before = received
      // A fighter that has just begun a life is not interpolated yet.
      if (!isMoving || drawn === undefined || received === undefined || drawn.id !== received.id) continue
      moving++
      if (drawn.x !== received.x || drawn.y !== received.y || drawn.z !== received.z) apart++
    }
    return { moving, apart }
  })
}

/** Milliseconds from the key press to the first draw that shows the step: the median of three, each from rest. */
async function stepMs(page: Page): Promise<number> {
  const times: number[] = []
  for (let walk = 0; walk < 3; walk++) {
    const place = async (): Promise<string> => {
      await page.waitForTimeout(600)
      return await page.evaluate(() => JSON.stringify(arena.fighters()))
    }
    for (let last = ''; last !== (last = await place()););
    times.push(await page.evaluate(async () => {
      const own = (): { x: number; z: number } => arena.fighters().find(({ owner }) => owner === arena.peer)!
      const { x, z } = own()
      const startedAt = performance.now()
      arena.controls.held.add('KeyD')
      while (Math.hypot(own().x - x, own().z - z) < 0.01) await new Promise(requestAnimationFrame)
      arena.controls.held.delete('KeyD')
      return performance.now() - startedAt
    }))
  }
  return times.sort((a, b) => a - b)[1]!
}
