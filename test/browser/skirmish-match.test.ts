/**
 * A whole match of skirmish: two pages on bad lines, a reload, a desync and a killed relay in the middle, and the
 * recording afterwards. In the long form six bots play too, and the match ends as matches do.
 */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect } from 'vitest'
import type { ServingGroup } from '../../games/skirmish/serve-group.ts'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { form, IS_LONG } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { begin, exceptPlannedHeal, expectSameHash, join, openGroup, PICTURES, textOf, until } from './skirmish-pages.ts'

const SMALL = { viewport: { width: 480, height: 480 } }
const MATCH_MS = form(60_000, 15 * 60_000)
/** A page that is loaded again in the middle of a long match steps minutes of it, and both pages draw in software. */
const COMEBACK_MS = form(60_000, 300_000)
/** A round trip of 100 ms and 5 % loss, both ways. */
const WEATHER = 'skirmish.wire.set({ latencyMs: 50, jitterMs: 10, loss: 0.05 })'

let group: ServingGroup
let folder = ''

beforeEach(async () => {
  folder = mkdtempSync(joinPath(tmpdir(), 'tickwire-skirmish-'))
  group = await openGroup(folder)
})
afterEach(async () => {
  await group.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Trains what can be trained, and sends the army at the next seat, as an impatient player does. */
async function play(page: Page): Promise<void> {
  await page.keyboard.press('b')
  await page.keyboard.press('q')
  await page.keyboard.press('f')
  await page.keyboard.press('a')
  const map = (await page.locator('#minimap').boundingBox())!
  await page.mouse.click(map.x + map.width * 0.78, map.y + map.height * 0.25)
  await page.keyboard.press('Escape')
}

browserTest('[SKIRM25] a match on bad lines, with a reload, a desync and a killed relay, verifies', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, group.url, 'Ada', mistakes, SMALL)
  const bo = await join(browser, group.url, 'Bo', mistakes, SMALL)
  for (let seat = 3; seat <= 8 && !IS_LONG; seat++) {
    await ada.selectOption(`#seats tr:nth-child(${seat}) td:nth-child(4) select`, '0')
    await until(ada, `document.querySelector("#seats tr:nth-child(${seat}) td:nth-child(2)").textContent === "-"`)
  }
  for (const page of [ada, bo]) await page.evaluate(WEATHER)
  await begin([ada, bo])
  // A starved machine may lose a relay that lives: every handover begins another recording.
  await ada.evaluate('{ globalThis.handovers = 0; skirmish.room.onContinued(() => { globalThis.handovers++ }) }')
  for (const page of [ada, bo]) await play(page)
  await until(ada, `skirmish.room.tick > ${form(400, 2400)}`, MATCH_MS)

  const seat = Number(await bo.evaluate('skirmish.hand.seat'))
  await bo.reload()
  const comeback = `[globalThis.skirmish?.hand.seat, globalThis.skirmish?.room.tick > 0,
    document.querySelector('#problem').textContent]`
  await expect.poll(() => bo.evaluate(comeback), { timeout: COMEBACK_MS }).toEqual([seat, true, ''])
  await bo.evaluate(WEATHER)
  await expectSameHash([ada, bo], COMEBACK_MS)

  await bo.click('#net')
  await bo.click('#network button:text("Corrupt one number")')
  await until(ada, 'document.querySelector("#network pre").textContent.includes(": healed in ")', 2 * COMEBACK_MS)
  expect(await textOf(ada, '#network pre')).toMatch(/Unit \d+, hp, \d+ against \d+/)
  await bo.click('#net')
  await expectSameHash([ada, bo], COMEBACK_MS)

  await ada.click('#network button:text("Kill the relay")')
  for (const page of [ada, bo]) await until(page, 'skirmish.room.isContinued', COMEBACK_MS)
  await ada.click('#net')
  await expectSameHash([ada, bo], COMEBACK_MS)

  const isOver = '!document.querySelector("#results").hidden'
  for (const deadline = Date.now() + MATCH_MS; IS_LONG && Date.now() < deadline;) {
    if (await ada.evaluate(isOver) === true) break
    for (const page of [ada, bo]) await play(page)
    await ada.waitForTimeout(5000)
  }
  if (!IS_LONG) {
    await bo.keyboard.press('Tab')
    await bo.click('#surrender')
  }
  for (const page of [ada, bo]) await until(page, isOver, COMEBACK_MS)
  await ada.screenshot({ path: `${PICTURES}/skirmish-match.png` })
  await expectSameHash([ada, bo], COMEBACK_MS)
  // Lines of the killed relay, and of transports that this machine does not have.
  const others = mistakes.filter((text) => !text.includes('WebTransport') && !text.includes('net::'))
  expect(exceptPlannedHeal(others, 2)).toEqual([])
  const handovers = Number(await ada.evaluate('handovers'))
  expect(handovers).toBeGreaterThanOrEqual(1)
  // The players leave, and the second relay completes its recording. That of the first one stops where it was killed.
  for (const page of [ada, bo]) await page.click('#again')
  const verified = async (): Promise<string> => {
    // The name of a match that was handed over has the tick, behind the seed.
    const file = readdirSync(folder).sort((a, b) => b.length - a.length || (a < b ? 1 : -1))[0] ?? ''
    const lines: string[] = []
    const print = (line: string): void => { lines.push(line) }
    const world = { print, complain: print, nowSeconds: () => 0, entropy: { fill: () => {} } }
    const code = await startTickwire(['verify', joinPath(folder, file), '--step', 'games/skirmish/game.ts'], world)
    return `${code}: ${lines.join(' ')}`
  }
  await expect.poll(verified, { timeout: 60_000, interval: 3000 })
    .toMatch(/^0: .* players held the ticks up to .* continued from tick .* images are equal .*genuine$/)
  expect(readdirSync(folder)).toHaveLength(1 + handovers)
}, 2 * MATCH_MS + 240_000)
