/** The arena, as friends meet it: real pages, the real server, whatever transport they find; nothing is drawn, so that nothing waits for it. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { ObjectOf } from 'tickwire'
import type { Serving } from 'tickwire/node'
import { Fighter, Kill, Seat, type input } from '../../games/arena/definitions.ts'
import { LIMITS } from '../../games/arena/game.ts'
import { serveArena } from '../../games/arena/start-arena.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/arena', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))

/** What the page shows of itself. */
interface Probe {
  readonly peer: number
  readonly counts: { draws: number; kills: number; hits: number }
  readonly controls: { yaw: number; pitch: number; choose(weapon: number): void; held: Set<string> }
  fighters(): { owner: number; x: number; y: number; z: number }[]
}
declare const arena: Probe

let serving: Serving<typeof input>
let mistakes: string[] = []

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
})
beforeEach(async () => {
  mistakes = []
  serving = await serveArena({ port: 0, bots: 0, tickRate: 128, limits: LIMITS, isLocal: false, folder: `${FOLDER}/public` })
})
afterEach(async () => await serving.close())

browserTest('[ARENA8] two pages see each other move, one shoots the other, and both pages and the server hear of the kill', async (browser) => {
  const [first, second] = [await open(browser), await open(browser)]
  for (const page of [first, second]) await page.click('#play')
  await waitFor(() => bodies().length === 2)
  const [shooter, target] = [await bodyOf(first), await bodyOf(second)]
  Object.assign(shooter, { at: { x: 0, y: 0, z: 19 } })
  Object.assign(target, { at: { x: -9, y: 0, z: 15 } })

  // The second page walks, and the first sees it.
  await second.evaluate(() => { arena.controls.yaw = 0 })
  await second.keyboard.down('d')
  await waitFor(() => target.at.x > -4)
  await second.keyboard.up('d')
  await waitFor(async () => (await first.evaluate((owner) => arena.fighters().find((each) => each.owner === owner)!.x, target.owner)) > -4)

  let killsOfServer = 0
  serving.host.onEvent(Kill, () => { killsOfServer++ })
  target.health = 40
  const aim = async (): Promise<void> => await first.evaluate((owner) => {
    const own = arena.fighters().find((each) => each.owner === arena.peer)!
    const other = arena.fighters().find((each) => each.owner === owner)
    if (other === undefined) return
    arena.controls.choose(2)
    arena.controls.yaw = Math.atan2(own.x - other.x, own.z - other.z)
    arena.controls.pitch = Math.atan2(other.y - own.y - 0.6, Math.hypot(own.x - other.x, own.z - other.z))
  }, target.owner)
  await aim()
  await first.keyboard.down('Control')
  // Like a person: who missed aims again.
  await waitFor(async () => {
    await aim()
    return killsOfServer === 1
  })
  await first.keyboard.up('Control')
  for (const page of [first, second]) await waitFor(async () => (await page.evaluate(() => arena.counts.kills)) === 1)
  expect(await first.evaluate(() => arena.counts.hits)).toBeGreaterThan(0)
  expect([...serving.host.world.each(Seat)].map(({ frags }) => frags).sort()).toEqual([0, 1])
  await waitFor(async () => await second.textContent('#feed li') !== null)

  await first.keyboard.press('Enter')
  await first.keyboard.type('good game')
  await first.keyboard.press('Enter')
  await waitFor(async () => (await second.textContent('#chat'))!.includes('good game'))
  await first.close()
  await waitFor(() => bodies().length === 1)
  await second.close()
  expect(mistakes).toEqual([])
})

browserTest('[ARENA9] a spectator follows a player; a phone plays by touch, without a scrollbar', async (browser) => {
  const player = await open(browser)
  await player.click('#play')
  await waitFor(() => bodies().length === 1)
  const watcher = await open(browser)
  await watcher.click('#watch')
  await waitFor(async () => (await watcher.textContent('#notice'))!.startsWith('Watching Guest'))
  expect(bodies()).toHaveLength(1)
  await watcher.close()

  const context = await browser.newContext({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  const phone = await context.newPage()
  phone.on('pageerror', (error) => mistakes.push(String(error)))
  await phone.goto(`${serving.url}/?norender`)
  await phone.waitForFunction(() => 'arena' in window)
  await phone.tap('#play')
  await waitFor(() => bodies().length === 2)
  const body = await bodyOf(phone)
  Object.assign(body, { at: { x: 0, y: 0, z: 14 } })
  await phone.screenshot({ path: `${PICTURES}/arena-phone.png` })
  const line = await context.newCDPSession(phone)
  const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]): Promise<void> => {
    await line.send('Input.dispatchTouchEvent', { type, touchPoints: points })
  }
  await touch('touchStart', [{ x: 90, y: 500 }])
  await touch('touchMove', [{ x: 90, y: 440 }])
  await waitFor(() => Math.hypot(body.speed.x, body.speed.z) > 5)
  await touch('touchEnd', [])
  await waitFor(() => Math.hypot(body.speed.x, body.speed.z) < 0.5)
  const yaw = await phone.evaluate(() => arena.controls.yaw)
  await touch('touchStart', [{ x: 280, y: 300 }])
  await touch('touchMove', [{ x: 200, y: 300 }])
  await touch('touchEnd', [])
  expect(await phone.evaluate(() => arena.controls.yaw)).not.toBe(yaw)
  const { rockets } = body
  const button = await phone.locator('#touch-fire').boundingBox()
  await touch('touchStart', [{ x: button!.x + 40, y: button!.y + 40 }])
  await waitFor(() => body.rockets < rockets || !body.isAlive)
  await touch('touchEnd', [])
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await context.close()
  await player.close()
  expect(mistakes).toEqual([])
})

browserTest('[ARENA12] at 200 ms and 10 % loss a page draws its own player on the move within three draws of the key', async (browser) => {
  await serving.close()
  serving = await serveArena({ port: 0, bots: 0, tickRate: 128, limits: LIMITS, isLocal: false, folder: `${FOLDER}/public`, weather: { latencyMs: 95, jitterMs: 10, loss: 0.1 } })
  const page = await open(browser)
  await page.click('#play')
  const body = await bodyOf(page)
  Object.assign(body, { at: { x: 0, y: 0, z: 17 } })
  const draws: number[] = []
  for (let walk = 0; walk < 5; walk++) {
    await page.waitForTimeout(1200)
    draws.push(await page.evaluate(() => new Promise<number>((resolve) => {
      const own = () => arena.fighters().find(({ owner }) => owner === arena.peer)!
      const { x, z } = own()
      const before = arena.counts.draws
      const look = (): void => {
        if (Math.hypot(own().x - x, own().z - z) < 0.004) return void requestAnimationFrame(look)
        arena.controls.held.delete('KeyW')
        resolve(arena.counts.draws - before)
      }
      arena.controls.held.add('KeyW')
      look()
    })))
  }
  // A machine that is busy may miss some; the median is what is felt.
  expect(draws.sort((a, b) => a - b)[2]).toBeLessThanOrEqual(3)
  await page.close()
})

function bodies(): ObjectOf<typeof Fighter>[] {
  return [...serving.host.world.each(Fighter)]
}

async function bodyOf(page: Page): Promise<ObjectOf<typeof Fighter>> {
  const peer = await page.evaluate(() => arena.peer)
  await waitFor(() => bodies().some(({ owner }) => owner === peer))
  return bodies().find(({ owner }) => owner === peer)!
}

async function open(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 800, height: 500 } })
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error') mistakes.push(message.text()) })
  await page.goto(`${serving.url}/?norender`)
  await page.waitForFunction(() => 'arena' in window)
  return page
}

async function waitFor(isTrue: () => boolean | Promise<boolean>, msMax = 15_000): Promise<void> {
  const deadline = Date.now() + msMax
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
