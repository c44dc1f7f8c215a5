/** The game of docs/guide/mobile.md on a phone of 390 x 844: touch with two thumbs, the page, and its sound. */

import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ObjectOf } from 'tickwire'
import { serve, type Serving } from 'tickwire/node'
import { game, Player } from '../../docs/guide/examples/mobile/game.ts'
import { violationsOn } from './axe.ts'
import { browserTest } from './browser-test.ts'
import { PageFolder } from './page-folder.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/guide/examples/mobile', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
const SIZE = { width: 390, height: 844 }
const WAIT = { timeout: 60_000 }

let folder: PageFolder
let host: Serving

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  folder = await PageFolder.build({})
  cpSync(join(EXAMPLE, 'public'), folder.path, { recursive: true })
  await build({
    entryPoints: [join(EXAMPLE, 'client.ts')], outdir: folder.path, bundle: true, format: 'esm', target: 'es2022',
    conditions: ['tickwire-source'],
  })
  host = await serve(game, { port: 0, static: folder.path })
})
afterAll(async () => {
  await host.close()
  folder.remove()
})

interface Phone {
  readonly page: Page
  readonly touch: CDPSession
  readonly player: () => ObjectOf<typeof Player>
  readonly mistakes: readonly string[]
}

async function open(browser: Browser): Promise<Phone> {
  const context = await browser.newContext({ viewport: SIZE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 })
  const page = await context.newPage()
  // The page keeps its sound to itself. Here its context can be asked.
  await page.addInitScript(() => {
    const Original = AudioContext
    window.AudioContext = class extends Original {
      constructor() {
        super()
        Object.assign(window, { audio: this })
      }
    }
  })
  const mistakes: string[] = []
  page.on('pageerror', (error) => mistakes.push(String(error)))
  const known = new Set([...host.host.world.each(Player)].map(({ id }) => id))
  await page.goto(host.url)
  const own = (): ObjectOf<typeof Player> | undefined =>
    [...host.host.world.each(Player)].find(({ id }) => !known.has(id))
  await expect.poll(own, WAIT).toBeDefined()
  return { page, touch: await context.newCDPSession(page), player: () => own()!, mistakes }
}

type Finger = readonly [x: number, y: number]

/** The fingers on the screen from now on. */
async function fingers(
  touch: CDPSession, type: 'touchStart' | 'touchMove' | 'touchEnd', on: readonly Finger[],
): Promise<void> {
  await touch.send('Input.dispatchTouchEvent', { type, touchPoints: on.map(([x, y], id) => ({ x, y, id })) })
}

async function middleOf(page: Page, selector: string): Promise<Finger> {
  const { x, y, width, height } = (await page.locator(selector).boundingBox())!
  return [x + width / 2, y + height / 2]
}

browserTest('[MOBILE1] on a phone one thumb walks, also off the stick, and the other dashes', async (browser) => {
  const { page, touch, player, mistakes } = await open(browser)
  const [x, y] = await middleOf(page, '#stick')
  const dash = await middleOf(page, '#dash')
  await fingers(touch, 'touchStart', [[x, y]])
  // Beyond the edge of the stick.
  await fingers(touch, 'touchMove', [[x + 110, y]])
  await expect.poll(() => player().at.x, WAIT).toBeGreaterThan(10)
  const before = player().dashes
  await fingers(touch, 'touchStart', [[x + 110, y], dash])
  await expect.poll(() => player().dashes, WAIT).toBeGreaterThan(before)
  await page.screenshot({ path: join(PICTURES, 'mobile.png') })
  await fingers(touch, 'touchEnd', [])
  // The stick is back in its middle: the player stands.
  const stands = async (): Promise<boolean> => {
    const { x: from } = player().at
    await page.waitForTimeout(300)
    return player().at.x === from
  }
  await expect.poll(stands, WAIT).toBe(true)
  expect(mistakes).toEqual([])
})

browserTest('[MOBILE2, ACCESS1] the page fits a phone, scrolls not, and has sound after a touch', async (browser) => {
  const { page, mistakes } = await open(browser)
  const sound = async (): Promise<string> =>
    await page.evaluate(() => (window as unknown as { audio: AudioContext }).audio.state)
  expect(await sound()).toBe('suspended')
  await page.touchscreen.tap(200, 300)
  await expect.poll(sound, WAIT).toBe('running')
  const sizes = await page.evaluate(() => {
    scrollTo(0, 200)
    const { width, clientWidth } = document.querySelector('canvas')!
    return { scrolled: scrollY, wide: document.documentElement.scrollWidth, ratio: width / clientWidth }
  })
  expect(sizes).toEqual({ scrolled: 0, wide: SIZE.width, ratio: 2 })
  for (const selector of ['#stick', '#dash']) {
    const box = (await page.locator(selector).boundingBox())!
    // The size of a thumb, within the screen.
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44)
    expect(box.x >= 0 && box.x + box.width <= SIZE.width && box.y + box.height <= SIZE.height).toBe(true)
  }
  expect(await violationsOn(page, 'the page of the guide to phones')).toEqual([])
  expect(mistakes).toEqual([])
})
