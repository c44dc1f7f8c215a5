/** Skirmish: pages and bots in one match, through a relay: the lobby, the match, and its end. */

import { afterEach, beforeEach, expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { browserTest } from './browser-test.ts'
import {
  begin, exceptPlannedHeal, expectSameHash, join, openPage, openSkirmish, PICTURES, textOf, until,
} from './skirmish-pages.ts'

let serving: ServingLockstep
/** Several pages at once: software rendering draws every pixel. */
const SMALL = { viewport: { width: 560, height: 420 } }

beforeEach(async () => { serving = await openSkirmish() })
afterEach(async () => await serving.close())

browserTest('[SKIRM15, DESYNC12] orders by mouse reach both pages, and a wrong number is healed', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, serving.url, 'Ada', mistakes)
  const bo = await join(browser, serving.url, 'Bo', mistakes)
  await until(ada, 'document.querySelector("#seats").textContent.includes("Bo")')
  await ada.screenshot({ path: `${PICTURES}/skirmish-lobby.png` })
  await begin([ada, bo])
  await ada.mouse.move(250, 100)
  await ada.mouse.down()
  await ada.mouse.move(720, 420, { steps: 3 })
  await ada.mouse.up()
  await until(ada, 'skirmish.hand.selection.ids.size === 5')
  await ada.mouse.click(480, 440, { button: 'right' })
  await until(ada, 'document.querySelector("#card").textContent.includes("5 worker")')
  await ada.screenshot({ path: `${PICTURES}/skirmish.png` })
  await expectSameHash([ada, bo])
  expect(Number(await ada.evaluate('skirmish.drawCalls'))).toBeLessThanOrEqual(60)
  // One number of one page is wrong. Both pages draw in software, so every answer takes a draw of both.
  await ada.click('#net')
  await ada.click('text=Corrupt one number')
  const healed = String.raw`/healed in \d+ ms\n.*Unit \d+, hp, \d+ against \d+/`
  for (const page of [ada, bo]) await until(page, `${healed}.test(document.querySelector("#network pre").textContent)`)
  await bo.screenshot({ path: `${PICTURES}/skirmish-desync.png` })
  expect(exceptPlannedHeal(mistakes, 2)).toEqual([])
})

browserTest('[SKIRM23] the lobby has seats, teams, bots, maps, speed, chat and shares of the seed', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, serving.url, 'Ada', mistakes, SMALL)
  const bo = await join(browser, serving.url, 'Bo', mistakes, SMALL)
  // The map and how its seed was agreed: the relay and the first player have a share each.
  expect(await textOf(bo, '#lobby-map')).toMatch(/^Seed [0-9a-f]+, agreed by 2$/)
  await bo.click('#shares summary')
  expect((await textOf(bo, '#share-rows')).replaceAll(/[0-9a-f]{12}…/g, ' hash').replace(/\d+/, 'N'))
    .toBe('relay hash hashplayer N hash hash')
  await bo.click('#seats tr:nth-child(6) button')
  await until(ada, 'document.querySelector("#seats tr:nth-child(6)").textContent.includes("Bo")')
  await ada.selectOption('#seats select[aria-label="team of Cyan"]', { value: '1' })
  // All bots at once, and one of them by itself.
  await until(bo, 'document.querySelector("#bots").value === "1"')
  await ada.selectOption('#bots', '3')
  await until(bo, 'document.querySelector("#bots").value === "3"')
  await ada.selectOption('#seats select[aria-label="bot of Rose"]', '0')
  await until(bo, 'document.querySelector("#bots").value === "-1"')
  await ada.selectOption('#speed', '150')
  await until(bo, 'skirmish.room.runner.roster.speedPercent === 150')
  await until(bo, 'document.querySelector("#speed").value === "150"')
  await until(bo, 'document.querySelector("#seats tr:nth-child(3) td:nth-child(2)").textContent === "-"')
  await until(bo, 'document.querySelector("#seats select[aria-label=\'team of Cyan\']").value === "1"')
  // Another map: both pages draw it, and everything stands on it.
  expect(await textOf(bo, '#map-hint')).toMatch(/^Boulders: /)
  const deposits = '[...skirmish.room.world.each(skirmish.room.runner.game.entities[2])].map(({ at }) => at).join()'
  const before = await bo.evaluate(deposits)
  await ada.click('#maps button:nth-child(3)')
  await until(bo, 'document.querySelector("#map-hint").textContent.startsWith("Citadel: ")')
  expect(await bo.evaluate('document.querySelector("#maps button:nth-child(3)").ariaPressed')).toBe('true')
  expect(await bo.evaluate(deposits)).not.toBe(before)
  await until(bo, 'skirmish.hasMap')
  await bo.screenshot({ path: `${PICTURES}/skirmish-maps.png` })
  await expectSameHash([ada, bo])
  expect(await ada.evaluate('skirmish.falls'), 'what stood on the map before did not fall').toBe(0)
  await bo.click('#talk')
  await bo.keyboard.type('hello <b>all</b>')
  await bo.keyboard.press('Enter')
  await until(ada, 'document.querySelector("#chat").textContent === "Bo: hello <b>all</b>"')
  // Speed and map, teams and bots: nothing of the network can be chosen.
  const controls = `[...new Set([...document.querySelectorAll('#lobby select, #lobby input, #lobby button')]
    .map((each) => each.id || (each.ariaLabel ?? each.textContent).split(' ')[0]))].sort().join(' ')`
  expect(await ada.evaluate(controls)).toBe('Boulders Canyons Citadel bot bots lobby-leave ready sit speed team')
  // One player that is not ready holds the match.
  await ada.click('#ready')
  await until(bo, 'document.querySelector("#seats tr:nth-child(1)").textContent.includes("✓")')
  await until(ada, 'document.querySelector("#lobby-note").textContent === "Waiting for 1 player."')
  await bo.click('#ready')
  await until(ada, 'document.querySelector("#lobby-note").textContent.startsWith("The match begins in")')
  await until(bo, 'document.querySelector("#lobby").hidden')
  expect(mistakes).toEqual([])
})

browserTest('[SKIRM24] pause with limits, votes, surrender, results and the replay', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, serving.url, 'Ada', mistakes, SMALL)
  const bo = await join(browser, serving.url, 'Bo', mistakes, SMALL)
  const cy = await join(browser, serving.url, 'Cy', mistakes, SMALL)
  // Only the three players: the match ends when two of them are out.
  for (let seat = 4; seat <= 8; seat++) {
    await ada.selectOption(`#seats tr:nth-child(${seat}) td:nth-child(4) select`, '0')
    await until(ada, `document.querySelector("#seats tr:nth-child(${seat}) td:nth-child(2)").textContent === "-"`)
  }
  await begin([ada, bo, cy])
  await bo.keyboard.press('p')
  await until(ada, 'document.querySelector("#notice").textContent.startsWith("Paused by Bo. P: go on. Ends")')
  expect(await textOf(ada, '#notice')).toMatch(/; 2 of 3 pauses left\.$/)
  await ada.click('#pause')
  await until(bo, '!skirmish.room.runner.roster.isPaused')
  // Two of three vote: a bot takes the seat of the third.
  for (const page of [ada, bo]) {
    await page.keyboard.press('Tab')
    await page.click('#people-rows tr:nth-child(3) button')
  }
  await until(cy, 'skirmish.hand.seat === -1')
  await until(ada, 'document.querySelector("#people-rows tr:nth-child(3) td:nth-child(3)").textContent === "easy bot"')
  await ada.screenshot({ path: `${PICTURES}/skirmish-players.png` })
  await bo.click('#surrender')
  await until(ada, 'document.querySelector("#people-rows tr:nth-child(2) td:nth-child(3)").textContent === "out"')
  await ada.click('#surrender')
  await until(ada, '!document.querySelector("#results").hidden')
  expect(await textOf(ada, '#result')).toBe('Defeat')
  expect(await textOf(ada, '#graphs')).toBe('ArmyCrystals minedKills')
  await ada.screenshot({ path: `${PICTURES}/skirmish-results.png` })
  const last = Number(await ada.evaluate('skirmish.room.tick'))
  await ada.click('#watch-replay')
  await until(ada, 'document.body.classList.contains("is-replay") && skirmish.room.tick > 5')
  await ada.evaluate(`document.querySelector('#scrubber').value = '${last - 40}'
    document.querySelector('#scrubber').dispatchEvent(new Event('input'))`)
  await until(ada, `skirmish.room.tick >= ${last - 40}`)
  await ada.click('#replay-end')
  await until(ada, '!document.querySelector("#menu").hidden')
  expect(mistakes).toEqual([])
})

browserTest('[SKIRM18, LOCK19] a page loaded again has its seat; an observer is seconds late', async (browser) => {
  const mistakes: string[] = []
  const ada = await join(browser, serving.url, 'Ada', mistakes, SMALL)
  const bo = await join(browser, serving.url, 'Bo', mistakes, SMALL)
  await begin([ada, bo])
  const seat = Number(await bo.evaluate('skirmish.hand.seat'))
  await bo.reload()
  await until(bo, `globalThis.skirmish?.hand.seat === ${seat}`)
  await bo.keyboard.press('b')
  await until(bo, 'document.querySelector("#card b")?.textContent === "headquarters"')
  await bo.keyboard.press('q')
  await until(ada, `[...document.querySelectorAll('#seats tr')].length === 8`)
  await until(bo, 'document.querySelector("#card .queue").textContent === "worker"')
  await expectSameHash([ada, bo])
  const eve = await openPage(browser, serving.url, mistakes, SMALL)
  await eve.click('#observe')
  await until(eve, 'globalThis.skirmish?.room.tick > 30')
  const [late, now] = await Promise.all([eve, ada].map((page) => page.evaluate('skirmish.room.tick')))
  expect(Number(now) - Number(late)).toBeGreaterThan(100)
  expect(await eve.evaluate('[skirmish.room.player, skirmish.hand.seat]')).toEqual([0, -1])
  expect(await textOf(eve, '#commands')).toBe('')
  await until(eve, 'document.querySelector("#notice").textContent.startsWith("You watch")')
  expect(mistakes).toEqual([])
})
