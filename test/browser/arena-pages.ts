/** Pages of the arena for tests: what such a page exposes, how it is opened, and waiting for a condition. */

import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'

/** The folder of the game. */
export const ARENA_FOLDER: string = fileURLToPath(new URL('../../games/arena', import.meta.url))

/** What a page exposes, by the name `arena`. */
export interface Probe {
  readonly peer: number
  readonly role: 'player' | 'spectator'
  readonly counts: { draws: number; kills: number; hits: number }
  readonly following: number
  readonly controls: {
    yaw: number
    pitch: number
    choose(weapon: number): void
    held: Set<string>
    sample(): { fire: boolean }
  }
  fighters(): { id: number; owner: number; x: number; y: number; z: number }[]
  seats(): { owner: number; name: string; frags: number }[]
}
declare const arena: Probe

/** Opens the page, which draws nothing, so that nothing waits for it; its errors are pushed to `mistakes`. */
export async function openArena(browser: Browser, url: string, mistakes: string[], query = ''): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 800, height: 500 } })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
  await page.goto(`${url}/?norender${query}`)
  await page.waitForFunction(() => 'arena' in window, undefined, { timeout: 60_000 })
  return page
}

/** Joins as a player, and returns its id. */
export async function playArena(page: Page): Promise<number> {
  await page.click('#play')
  await page.waitForFunction(() => arena.role === 'player', undefined, { timeout: 60_000 })
  return await page.evaluate(() => arena.peer)
}

/** Waits until something is true, long enough for a busy machine. */
export async function waitFor(
  isTrue: () => boolean | Promise<boolean>,
  state: () => unknown = () => '',
  msMax = 60_000,
): Promise<void> {
  const deadline = Date.now() + msMax
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue} ${await state()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
