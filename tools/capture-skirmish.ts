/**
 * Takes pictures of skirmish: a real page with a posed battle, in full graphics. The best picture in test-results is
 * copied to docs/pictures by hand.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-skirmish.ts
 */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { serveSkirmish } from '../games/skirmish/serve-skirmish.ts'
import { findBrowser } from '../test/browser/browser.ts'
import { buildPage } from './page.ts'

const FOLDER = fileURLToPath(new URL('../games/skirmish', import.meta.url))
const TAKEN = fileURLToPath(new URL('../test-results', import.meta.url))
/** Several takes: software rendering draws few frames, and some fall between two shots. */
const TAKES = 6

/**
 * A base with an army, and attackers at its gate. The match runs in the page, so the page may write its world. Entities
 * are those of the game, in its order: units first, then buildings.
 */
const POSE = `(() => {
  const { world, runner } = skirmish.room
  const [Unit, Building] = runner.game.entities
  const at = (x, y) => y * 128 + x
  const build = (kind, seat, x, y, hp) => world.spawn(Building, { kind, seat, at: at(x, y), hp })
  build(1, 0, 58, 20, 900); build(1, 0, 68, 20, 900); build(2, 0, 55, 15, 1100)
  build(3, 0, 61, 24, 700); build(3, 0, 66, 24, 700)
  const crowd = (seat, kinds, x, y, across, count, goal) => {
    for (let each = 0; each < count; each++) {
      const kind = kinds[each % kinds.length]
      world.spawn(Unit, { kind, seat, x: x + (each % across) * 0.8, y: y + Math.floor(each / across) * 0.8,
        hp: [60, 100, 110, 340, 90][kind], mode: 2, goal })
    }
  }
  crowd(0, [1, 1, 3], 59, 22, 12, 30, at(66, 32))
  crowd(0, [4], 60, 20, 3, 4, at(66, 31))
  crowd(1, [1, 2, 1, 3], 58, 31, 11, 40, at(64, 18))
})()`

mkdirSync(TAKEN, { recursive: true })
await buildPage(FOLDER)
const serving = await serveSkirmish({ port: 0, observers: 0, fog: false }, { static: `${FOLDER}/public` })
const path = findBrowser()
if (path === undefined) throw new Error('there is no browser to take pictures with')
const browser = await chromium.launch({
  executablePath: path,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist'],
})
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
await page.addInitScript(() => localStorage.setItem('skirmish-knows-how', '1'))
await page.goto(`${serving.url}?alone=5&graphics=full`)
await page.waitForFunction(() => 'skirmish' in globalThis, undefined, { timeout: 60_000 })
await page.locator('#ready:not([disabled])').click({ timeout: 60_000 })
await page.locator('#lobby').waitFor({ state: 'hidden', timeout: 60_000 })
// The battle is over in seconds, and software rendering draws few frames.
await page.evaluate('skirmish.room.setSpeed(0.5)')
await page.evaluate(POSE)
await page.keyboard.press('f')
await page.evaluate(`(() => {
  const { camera } = skirmish.hand
  camera.lookAt({ x: 64, y: 26 })
  camera.height = 17
})()`)
for (let take = 0; take < TAKES; take++) {
  await page.waitForTimeout(900)
  await page.screenshot({ path: `${TAKEN}/skirmish-${take}.png` })
}
await browser.close()
await serving.close()
process.exit(0)
