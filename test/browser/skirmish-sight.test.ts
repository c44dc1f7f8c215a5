/** The fog of war in a page of skirmish, where the page steps the match itself. */

import { expect } from 'vitest'
import { browserTest } from './browser-test.ts'
import { begin, openPage, openSkirmish, until } from './skirmish-pages.ts'

const SMALL = { viewport: { width: 560, height: 420 } }
/** The first unit of the page, and a building of another seat. */
const SCOUT = '[...skirmish.room.world.each(skirmish.room.runner.game.entities[0])][0]'
const spawn = (at: number): string =>
  `skirmish.room.world.spawn(skirmish.room.runner.game.entities[1], { kind: 1, seat: 4, at: ${at}, hp: 900 }).id`

browserTest('[SKIRM31] fog hides buildings that were not seen, and a new match is dark', async (browser) => {
  const serving = await openSkirmish()
  try {
    const mistakes: string[] = []
    const page = await openPage(browser, `${serving.url}?alone=5`, mistakes, SMALL)
    await until(page, 'globalThis.skirmish?.hand.seat >= 0')
    await begin([page])
    const put = async (x: number, y: number): Promise<void> => {
      await page.evaluate(`Object.assign(${SCOUT}, { x: ${x}, y: ${y}, mode: 0 })`)
    }
    expect(await page.evaluate('skirmish.fog.isExplored(64, 60)')).toBe(false)
    const seen = Number(await page.evaluate(spawn(62 * 128 + 64)))
    expect(await page.evaluate(`skirmish.fog.isKnown(${seen})`)).toBe(false)
    await put(64, 60)
    await until(page, `skirmish.fog.isVisible(64, 60) && skirmish.fog.isKnown(${seen})`)
    await put(64, 20)
    await until(page, '!skirmish.fog.isVisible(64, 60)')
    const hidden = Number(await page.evaluate(spawn(62 * 128 + 60)))
    await page.waitForTimeout(1000)
    // The ground and the building are remembered. What was built in the dark is not known.
    expect(await page.evaluate(`[skirmish.fog.isExplored(64, 60), skirmish.fog.isKnown(${seen}),
      skirmish.fog.isKnown(${hidden})]`)).toEqual([true, true, false])
    // A seat that is out is named. The player that is out sees everything.
    const fall = async (seat: number): Promise<void> => {
      await page.evaluate(`[...skirmish.room.world.each(skirmish.room.runner.game.entities[3])][${seat}].isOut = true`)
    }
    await fall(2)
    await until(page, 'document.querySelector("#toast").textContent === "Rose is out. 7 of 8 seats are left."')
    await fall(0)
    await until(page, 'document.querySelector("#notice").textContent.startsWith("You are out. You see all now.")')
    expect(await page.evaluate('skirmish.fog.isVisible(64, 116)')).toBe(true)
    await page.click('#leave')
    await page.click('#go')
    await page.click('#alone')
    await until(page, 'globalThis.skirmish?.hand.seat >= 0 && skirmish.fog.isExplored(64, 12)')
    expect(await page.evaluate('skirmish.fog.isExplored(64, 60)')).toBe(false)
    expect(mistakes).toEqual([])
  } finally {
    await serving.close()
  }
})
