/**
 * Takes pictures of the arena: a real server, a real page, and bots at fixed places. The best picture in
 * test-results is copied to docs/pictures by hand.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-arena.ts
 */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { Fighter, RAIL, ROCKETS, Seat } from '../games/arena/definitions.ts'
import { LIMITS } from '../games/arena/game.ts'
import { serveArena } from '../games/arena/start-arena.ts'
import { findBrowser } from '../test/browser/browser.ts'
import { buildPage } from './page.ts'

const FOLDER = fileURLToPath(new URL('../games/arena', import.meta.url))
const TAKEN = fileURLToPath(new URL('../test-results', import.meta.url))
/** Several takes: software rendering draws few frames, and some fall between two shots. */
const TAKES = 8

/** Place, view and weapon of each fighter. The first one is the camera. */
const CAST = [
  { x: 10.5, y: 0, z: 18, yaw: 0.42, pitch: 0, weapon: ROCKETS, fires: false },
  { x: 5.5, y: 0, z: 10.5, yaw: 5.1, pitch: 0.02, weapon: RAIL, fires: true },
  { x: 9, y: 0, z: 4.2, yaw: 3.6, pitch: -0.1, weapon: ROCKETS, fires: false },
  { x: 0, y: 2.5, z: 3, yaw: 3.9, pitch: -0.22, weapon: ROCKETS, fires: true },
]

mkdirSync(TAKEN, { recursive: true })
await buildPage(FOLDER)
const serving = await serveArena({
  port: 0,
  bots: 0,
  tickRate: 128,
  limits: LIMITS,
  isLocal: false,
  folder: `${FOLDER}/public`,
})
const path = findBrowser()
if (path === undefined) throw new Error('there is no browser to take pictures with')
const browser = await chromium.launch({
  executablePath: path,
  args: [
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist',
  ],
})
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
await page.goto(serving.url)
await page.waitForFunction(() => 'arena' in window, undefined, { timeout: 60_000 })
await page.fill('#name', 'You')
await page.click('#play')
await page.waitForFunction(
  () => (window as unknown as { arena: { role: string } }).arena.role === 'player',
  undefined,
  { timeout: 60_000 },
)
while ([...serving.host.world.each(Fighter)].length === 0) await page.waitForTimeout(100)
const you = [...serving.host.world.each(Fighter)][0]
const names = ['Ada', 'Grace', 'Hedy']
CAST.slice(1).forEach(({ yaw, pitch, weapon, fires }) =>
  serving.host.addBot((world) => ({ yaw, pitch, weapon, fire: fires && world.tick % 256 < 128 })),
)
await page.waitForTimeout(1000)
const hold = setInterval(() => {
  const all = [...serving.host.world.each(Fighter)]
  const ordered = [
    ...all.filter(({ owner }) => owner === you?.owner),
    ...all.filter(({ owner }) => owner !== you?.owner),
  ]
  ordered.forEach((fighter, index) => {
    const place = CAST[index]
    if (place === undefined) return
    Object.assign(fighter, {
      at: { x: place.x, y: place.y, z: place.z },
      speed: { x: 0, y: 0, z: 0 },
      health: index === 0 ? 87 : 100,
      armour: index === 0 ? 50 : 0,
      slugs: 9,
      rockets: 12,
    })
  })
}, 30)
for (const seat of serving.host.world.each(Seat)) {
  if (seat.owner !== you?.owner) Object.assign(seat, { name: names.shift() ?? 'Bot', isBot: true, frags: 3 })
}
const probe = CAST[0]
await page.evaluate(
  (look) => Object.assign((window as unknown as { arena: { controls: object } }).arena.controls, look),
  { yaw: probe?.yaw ?? 0, pitch: probe?.pitch ?? 0 },
)
for (let take = 0; take < TAKES; take++) {
  await page.waitForTimeout(900)
  await page.screenshot({ path: `${TAKEN}/arena-${take}.png` })
}
clearInterval(hold)
await browser.close()
await serving.close()
process.exit(0)
