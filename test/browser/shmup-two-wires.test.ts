/** The shooter with two pages in Chromium and two R-Type clients on UDP, in one match. */

import { createSocket } from 'node:dgram'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { Match, Pilot } from '../../games/shmup/definitions.ts'
import { serveShmup, type ShmupServing } from '../../games/shmup/start-shmup.ts'
import { buildPage } from '../../tools/page.ts'
import { form, IS_LONG } from '../form.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'
import { ReferencePilot } from '../reference/rtype-pilot.ts'
import { browserTest } from './browser-test.ts'

const FOLDER = fileURLToPath(new URL('../../games/shmup', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
const PLAY_MS = form(5000, 150_000)
const TURN_MS = 700

let served: ShmupServing
const cleanups: (() => void)[] = []

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  served = await serveShmup({ port: 0, bots: 0, level: 1, rtypePort: 0 }, `${FOLDER}/public`)
})
afterAll(async () => {
  for (const cleanup of cleanups) cleanup()
  await served.rtype!.close()
  await served.serving.close()
})

interface OpenPage {
  readonly page: Page
  /** What the page shows, in words. */
  shows(): Promise<string>
}

/** A page that plays. */
async function open(browser: Browser, name: string, mistakes: string[]): Promise<OpenPage> {
  const page = await (await browser.newContext({ viewport: { width: 640, height: 360 } })).newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'error') mistakes.push(entry.text())
  })
  await page.goto(served.serving.url)
  await page.fill('#name', name)
  await page.click('#play')
  return { page, shows: async () => (await page.getAttribute('#screen', 'aria-label')) ?? '' }
}

/** An R-Type client on a socket, steered by what it received. */
function join(name: string, clientId: number, place: number): { client: ReferenceClient; pilot: ReferencePilot } {
  const port = Number(served.rtype!.port.localAddress.split(':').at(-1))
  const socket = createSocket('udp4')
  const client = new ReferenceClient(name, clientId)
  const pilot = new ReferencePilot()
  socket.on('message', (bytes) => client.handle(performance.now(), bytes))
  const timer = setInterval(() => {
    const now = performance.now()
    pilot.follow(client.received)
    client.input = pilot.press(client.playerId, place, now)
    for (const bytes of client.poll(now)) socket.send(bytes, port, '127.0.0.1')
  }, 8)
  cleanups.push(() => {
    clearInterval(timer)
    socket.close()
  })
  return { client, pilot }
}

/** Flies up and down and fires, like a simple player, until `isOver` or the end of the time. */
async function fly(pages: readonly Page[], isOver: () => boolean): Promise<void> {
  for (const page of pages) await page.keyboard.down('Space')
  const until = performance.now() + PLAY_MS
  for (let turn = 0; performance.now() < until && !isOver(); turn++) {
    for (const [index, page] of pages.entries()) {
      const [on, off] = (turn + index) % 2 === 0 ? ['ArrowDown', 'ArrowUp'] : ['ArrowUp', 'ArrowDown']
      await page.keyboard.up(off!)
      await page.keyboard.down(on!)
    }
    await new Promise((resolve) => setTimeout(resolve, TURN_MS))
  }
}

browserTest('[SHMUP7] two pages and two R-Type clients finish a level in one match', async (browser) => {
  const mistakes: string[] = []
  const pages = [await open(browser, 'Ada', mistakes), await open(browser, 'Bo', mistakes)]
  const guests = [join('Cy', 4711, 2), join('Dee', 4712, 3)]
  const { world } = served.serving.host
  const names = (): string[] => [...world.each(Pilot)].map(({ name }) => name).sort()
  await expect.poll(names, { timeout: 60_000 }).toEqual(['Ada', 'Bo', 'Cy', 'Dee'])
  // Each of the four sees all four.
  const namesIn = (text: string): string[] => ['Ada', 'Bo', 'Cy', 'Dee'].filter((name) => text.includes(`${name}, `))
  for (const { shows } of pages) {
    await expect.poll(async () => namesIn(await shows()), { timeout: 30_000 }).toHaveLength(4)
  }
  for (const { pilot } of guests) await expect.poll(() => pilot.players, { timeout: 30_000 }).toBe(4)

  const isOver = (): boolean => [...world.each(Match)].some(({ level, phase }) => level > 1 || phase !== 0)
  await fly(pages.map(({ page }) => page), isOver)
  await pages[0]!.page.screenshot({ path: `${PICTURES}/shmup-two-wires.png` })
  for (const { client } of guests) {
    expect(client.broken).toBe(0)
    expect(client.packets('TRANSFORM_SNAPSHOT').length).toBeGreaterThan(30)
    expect(client.packets('WEAPON_FIRE').length).toBeGreaterThan(10)
  }
  if (IS_LONG) {
    for (const { shows } of pages) await expect.poll(shows, { timeout: 30_000 }).toMatch(/^Level 1, complete|^Level 2/)
    for (const { client } of guests) {
      const completed = (): unknown => client.packets('LEVEL_COMPLETE').at(-1)
      await expect.poll(completed, { timeout: 30_000 }).toMatchObject({ completed_level: 1, next_level: 2 })
    }
    expect([...world.each(Pilot)].every(({ score }) => score >= 2000)).toBe(true)
  }
  expect(mistakes).toEqual([])
})
