/**
 * Takes pictures of the shooter, on a desk and on an upright phone: a real server, two real pages, and two bots, at the
 * boss of the first level. They are written to test-results; the best ones are copied to docs/pictures by hand.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-shmup.ts
 */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { serve } from 'tickwire/node'
import { createBot } from '../games/shmup/bots.ts'
import { Pilot } from '../games/shmup/definitions.ts'
import { shmupGame } from '../games/shmup/game.ts'
import { launchBrowser, thisMachine } from '../test/browser/browser.ts'
import { buildPage } from './page.ts'

const FOLDER = fileURLToPath(new URL('../games/shmup', import.meta.url))
const TAKEN = fileURLToPath(new URL('../test-results', import.meta.url))
/** The part of the level that is skipped: the boss comes in a few seconds. */
const SKIPPED_SECONDS = 36
const TAKES = 6

mkdirSync(TAKEN, { recursive: true })
await buildPage(FOLDER)
const serving = await serve(shmupGame(1, SKIPPED_SECONDS), {
  port: 0, static: `${FOLDER}/public`, maxPlayers: 4, ops: false, signals: false, log: () => {},
})
const browser = await launchBrowser(thisMachine)
const desk = await browser.newPage({ viewport: { width: 960, height: 540 } })
const phone = await (await browser.newContext({
  viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true,
})).newPage()
for (const [page, name] of [[desk, 'Ada'], [phone, 'Bo']] as const) {
  await page.goto(serving.url)
  await page.fill('#name', name)
  await page.click('#play')
}
for (let seed = 0; seed < 2; seed++) serving.host.addBot(createBot(seed))
await desk.waitForTimeout(2000)
for (const pilot of serving.host.world.each(Pilot)) Object.assign(pilot, { level: 3, score: 1200 + pilot.level * 640 })
await desk.keyboard.down('Space')
for (let take = 0; take < TAKES; take++) {
  const key = take % 2 === 0 ? 'ArrowUp' : 'ArrowDown'
  await desk.keyboard.down(key)
  await desk.waitForTimeout(900)
  await desk.keyboard.up(key)
  await desk.waitForTimeout(900)
  await desk.screenshot({ path: `${TAKEN}/shmup-desk-${take}.png` })
  await phone.screenshot({ path: `${TAKEN}/shmup-phone-${take}.png` })
}
await browser.close()
await serving.close()
process.exit(0)
