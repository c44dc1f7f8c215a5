/** The buttons of skirmish's network panel: each breaks what it says, and the match goes on. */

import { afterEach, beforeEach, expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { browserTest } from './browser-test.ts'
import {
  begin, exceptPlannedHeal, expectSameHash, join, openSkirmish, PICTURES, textOf, until,
} from './skirmish-pages.ts'

const SMALL = { viewport: { width: 640, height: 640 } }
let serving: ServingLockstep

beforeEach(async () => { serving = await openSkirmish() })
afterEach(async () => await serving.close())

browserTest('[SKIRM21] weather, a cut line, and a corrupted number that is named and healed', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, serving.url, 'Ada', mistakes, SMALL)
  const bo = await join(browser, serving.url, 'Bo', mistakes, SMALL)
  await begin([ada, bo])
  for (const page of [ada, bo]) await page.click('#net')
  // Every page knows the round trip and the state of every player.
  await until(ada, 'document.querySelector("#network .health").textContent.includes("Bo: in sync, ")')
  await bo.click('#network button:text("other continent")')
  const player = Number(await bo.evaluate('skirmish.room.player'))
  await until(ada, `skirmish.reports.players.get(${player}).rtts.at(-1) > 150`)
  await until(bo, 'Number.parseInt(document.querySelector("#net").textContent) > 150')
  // Orders of the page with the long way are executed, and stand on the time line.
  await bo.keyboard.press('b')
  await bo.keyboard.press('q')
  await until(bo, 'skirmish.lastOrder?.name === "Train" && skirmish.lastOrder.state === "executed"')
  const took = Number(await bo.evaluate('skirmish.lastOrder.executedAt - skirmish.lastOrder.at'))
  expect(took).toBeGreaterThan(150)
  await bo.screenshot({ path: `${PICTURES}/skirmish-network.png` })
  await bo.click('#network button:text("clear")')
  await until(ada, `skirmish.reports.players.get(${player}).rtts.at(-1) < 120`)

  await bo.click('#network button:text("Corrupt one number")')
  // A page that is too slow for its first case is healed in the next one.
  await until(ada, 'document.querySelector("#network pre").textContent.includes(": healed in ")')
  const said = await textOf(ada, '#network pre')
  expect(said).toMatch(/^Desync in tick \d+, judged by first, \d+ ms\nBo: healed in \d+ ms\n/)
  // The field, both values, and the line of the source.
  const [, own, right] = /Unit \d+, hp, (\d+) against (\d+)/.exec(said) ?? []
  expect(Number(right) - Number(own)).toBe(7)
  expect(said).toMatch(/page\/sabotage\.ts:\d+/)
  await until(bo, 'document.querySelector("#network pre").textContent.startsWith("Desync in tick ")')
  await expectSameHash([ada, bo])

  await bo.click('#network button:text("Cut my line for 10 s")')
  await until(bo, 'document.querySelector("#network").textContent.includes("Your line is cut.")')
  await until(ada, 'document.querySelector("#notice").textContent === "Away: Bo"')
  await until(ada, 'document.querySelector("#notice").textContent === ""')
  await expectSameHash([ada, bo])
  const others = mistakes.filter((text) => !text.includes('WebTransport') && !text.includes('net::'))
  expect(exceptPlannedHeal(others, 2)).toEqual([])
})
