/** Skirmish with fog: the server steps the match, and a page receives only what its team sees. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { World } from 'tickwire'
import type { ServingRooms } from 'tickwire/node'
import { Building, Unit } from '../../games/skirmish/definitions.ts'
import { cellAt } from '../../games/skirmish/map-cells.ts'
import { BARRACKS, BUILDINGS, RAIDER, TANK, WORKER } from '../../games/skirmish/rules.ts'
import { serveFog } from '../../games/skirmish/serve-fog.ts'
import { spawnUnit } from '../../games/skirmish/units.ts'
import { buildPage } from '../../tools/page.ts'
import { browserTest } from './browser-test.ts'

/** A page without a graphics card needs seconds for what a test waits for. */
const PATIENT = { timeout: 30_000 }

const FOLDER = fileURLToPath(new URL('../../games/skirmish', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../test-results', import.meta.url))
let serving: ServingRooms

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  await buildPage(FOLDER)
  serving = await serveFog({ port: 0, observers: 2 }, `${FOLDER}/public`)
  serving.create('skirmish', { seed: 1 })
})
afterAll(async () => await serving.close())

async function until(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(expression), { timeout: 60_000 }).toBe(true)
}

/** Objects that the page shows, by the name of their entity. */
async function shown(page: Page, name: string): Promise<number[]> {
  return await page.evaluate(`[...skirmish.room.world.each(
    skirmish.room.runner.game.entities.find(({ schema }) => schema.name === '${name}'))].map(({ id }) => id)`)
}

/** Ids of all objects that the page has received. */
async function received(page: Page): Promise<number[]> {
  return await page.evaluate('[...skirmish.room.server.tools.host.insides.snapshots.held.ids].filter((id) => id !== 0)')
}

browserTest('[SKIRM17] a page with fog plays, receives nothing hidden, and remembers buildings', async (browser) => {
  const mistakes: string[] = []
  const page = await (await browser.newContext({ viewport: { width: 960, height: 600 } })).newPage()
  page.on('pageerror', (error) => mistakes.push(String(error)))
  page.on('console', (entry) => {
    if (entry.type() === 'error') mistakes.push(entry.text())
  })
  // The plain address: the page finds out that this server steps the matches.
  await page.goto(serving.url)
  await page.fill('#name', 'Ada')
  await page.click('#play')
  await until(page, 'globalThis.skirmish?.hand.seat === 0')
  const world: World = serving.room(serving.list()[0]!.id)!.world
  expect(await page.textContent('#lobby-map')).toMatch(/drawn by the server$/)
  expect(await page.isVisible('#speed')).toBe(false)
  await page.click('#ready')
  await until(page, 'document.querySelector("#lobby").hidden')
  // What only lockstep has is not shown.
  expect(await Promise.all(['#pause', '#watch-replay', '#net', '#people'].map((id) => page.isVisible(id))))
    .toEqual([false, false, true, true])
  await page.click('#net')
  expect(await page.isVisible('#network button')).toBe(false)
  await page.click('#net')
  const own = [...world.each(Unit)].filter(({ seat }) => seat === 0)
  const [scout] = own
  const hidden = Array.from({ length: 10 }, (_, each) => spawnUnit(world, TANK, 4, 60 + each, 64))
  const barracks = world.spawn(Building, { kind: BARRACKS, seat: 4, at: cellAt(64, 40), hp: BUILDINGS[BARRACKS]!.hp })
  const guard = spawnUnit(world, RAIDER, 4, 66, 42)
  expect(await shown(page, 'Unit')).toEqual(own.map(({ id }) => id))
  // The order of the page moves the workers on the server.
  await page.evaluate('skirmish.hand.selection.replace('
    + '[...skirmish.room.world.each(skirmish.room.runner.game.entities[0])].map(({ id }) => id))')
  await page.evaluate('skirmish.hand.commandAt({ x: 64, y: 30 }, false)')
  await expect.poll(() => scout!.goal, PATIENT).toBe(cellAt(64, 30))
  // A scout sees the building and its guard, and goes back. It is put there again while the page is slow: it walks on.
  const shownFrom = async (y: number, kind: string): Promise<number[]> => {
    scout!.x = 64
    scout!.y = y
    return await shown(page, kind)
  }
  await expect.poll(() => shownFrom(35, 'Building'), PATIENT).toContain(barracks.id)
  await expect.poll(() => shownFrom(35, 'Unit'), PATIENT).toContain(guard.id)
  await page.screenshot({ path: `${PICTURES}/skirmish-fog.png` })
  await expect.poll(() => shownFrom(20, 'Unit'), PATIENT).not.toContain(guard.id)
  await expect.poll(() => received(page), PATIENT).not.toContain(barracks.id)
  expect(await shown(page, 'Building')).toContain(barracks.id)
  // It falls unseen: the page still remembers it, until it looks there again.
  world.despawn(barracks)
  await page.waitForTimeout(500)
  expect(await shown(page, 'Building')).toContain(barracks.id)
  await expect.poll(() => shownFrom(35, 'Building'), PATIENT).not.toContain(barracks.id)
  // Neither left a trace of a fall. What falls in sight does, and so does an own unit alone in the dark.
  const falls = async (): Promise<number> => await page.evaluate('skirmish.falls')
  expect(await falls()).toBe(0)
  const worker = spawnUnit(world, WORKER, 4, 65, 34)
  await expect.poll(() => shownFrom(35, 'Unit'), PATIENT).toContain(worker.id)
  world.despawn(worker)
  await expect.poll(falls, PATIENT).toBe(1)
  world.despawn(scout!)
  await expect.poll(falls, PATIENT).toBe(2)
  const all = await received(page)
  expect(hidden.filter(({ id }) => all.includes(id))).toEqual([])
  expect(mistakes).toEqual([])
})
