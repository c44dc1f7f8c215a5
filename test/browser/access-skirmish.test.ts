/** Skirmish under axe-core, as access.test.ts does with other pages. Without a graphics card its pictures take long. */

import { afterAll, expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { violationsOn } from './axe.ts'
import { browserTest } from './browser-test.ts'
import { begin, join, openPage, openSkirmish, until } from './skirmish-pages.ts'

const PHONE = { width: 390, height: 844 }

const open: ServingLockstep[] = []
afterAll(async () => { for (const serving of open) await serving.close() })

async function serveNew(): Promise<ServingLockstep> {
  const serving = await openSkirmish()
  open.push(serving)
  return serving
}

browserTest('[ACCESS1] skirmish: lobby, match and results, on a phone too', async (browser) => {
  const found: string[] = []
  const serving = await serveNew()
  const player = await join(browser, serving.url, 'Ada', [])
  found.push(...await violationsOn(player, 'skirmish lobby'))
  // Against one bot: the match ends when the player gives up.
  for (let seat = 3; seat <= 8; seat++)
    await player.selectOption(`#seats tr:nth-child(${seat}) td:nth-child(4) select`, '0')
  await until(player, 'document.querySelector("#seats tr:nth-child(8) td:nth-child(2)").textContent === "-"')
  await begin([player])
  await player.waitForTimeout(1000)
  found.push(...await violationsOn(player, 'skirmish match'))
  await player.keyboard.press('Tab')
  await player.waitForSelector('#surrender')
  found.push(...await violationsOn(player, 'skirmish players'))
  await player.click('#surrender')
  await until(player, '!document.querySelector("#results").hidden')
  found.push(...await violationsOn(player, 'skirmish results'))
  const again = await serveNew()
  const options = { viewport: PHONE, hasTouch: true, isMobile: true }
  // Without a graphics card, each page that draws takes time from the others.
  await player.close()
  const phone = await openPage(browser, again.url, [], options)
  found.push(...await violationsOn(phone, 'skirmish menu on a phone'))
  await phone.fill('#name', 'Bo')
  await phone.click('#play')
  await until(phone, 'globalThis.skirmish?.hand.seat >= 0')
  found.push(...await violationsOn(phone, 'skirmish lobby on a phone'))
  await begin([phone])
  await phone.waitForTimeout(1000)
  found.push(...await violationsOn(phone, 'skirmish match on a phone'))
  expect(found).toEqual([])
}, 300_000)
