/** hello with one server, two tabs, real Chromium, and any transport it finds. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ObjectOf } from 'tickwire'
import { serve, type Serving } from 'tickwire/node'
import { game, Player } from '../../games/hello/game.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/hello', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))

let host: Serving

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  // A page that is closed keeps its seat for a while. Here that is a second.
  host = await serve(game, { port: 0, static: `${FOLDER}/public`, resumeMs: 1000 })
})
afterAll(async () => await host.close())

browserTest('[HELLO2] two tabs see each other move, under the strictest content policy', async (browser) => {
  const mistakes: string[] = []
  const first = await open(browser, mistakes)
  const second = await open(browser, mistakes)
  // Two pages start on a machine that may be busy. The errors of the pages explain a failure better than the elapsed
  // time.
  await waitFor(() => players().length === 2, 120_000).catch((error) => {
    throw new Error(`${error}; pages said: ${mistakes.join('; ')}`)
  })
  const [walker] = players()

  await first.keyboard.down('ArrowRight')
  await waitFor(() => walker!.x > 400)
  await first.keyboard.up('ArrowRight')
  const x = await settled(() => walker!.x)

  // Both tabs draw the walker where the server has it.
  for (const page of [first, second]) await waitFor(async () => await isPainted(page, x, walker!.y))
  await first.screenshot({ path: `${PICTURES}/hello-first.png` })
  await second.screenshot({ path: `${PICTURES}/hello-second.png` })
  expect(mistakes).toEqual([])

  await second.close()
  await waitFor(() => players().length === 1)
  await first.close()
  await waitFor(() => players().length === 0)
})

function players(): ObjectOf<typeof Player>[] {
  return [...host.host.world.each(Player)]
}

async function open(browser: Browser, mistakes: string[]): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 } })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
  await page.goto(host.url)
  return page
}

async function isPainted(page: Page, x: number, y: number): Promise<boolean> {
  const alpha = await page.evaluate(([px, py]) => {
    const canvas = document.querySelector('canvas')!.getContext('2d')!
    return canvas.getImageData(px!, py!, 1, 1).data[3]
  }, [Math.round(x), Math.round(y)])
  return alpha !== 0
}

/** A number once it has stopped changing. */
async function settled(read: () => number): Promise<number> {
  for (let before = NaN; ;) {
    const value = read()
    if (value === before) return value
    before = value
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function waitFor(isTrue: () => boolean | Promise<boolean>, msMax = 60_000): Promise<void> {
  const deadline = Date.now() + msMax
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
