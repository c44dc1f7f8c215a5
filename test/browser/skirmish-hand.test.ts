/** The hand of skirmish: mouse, keys and fingers become orders, and the page answers in the same frame. */

import type { CDPSession } from 'playwright-core'
import { afterEach, beforeEach, expect } from 'vitest'
import type { ServingLockstep } from 'tickwire/node'
import { browserTest } from './browser-test.ts'
import { begin, goHome, join, openSkirmish, PICTURES, textOf, until } from './skirmish-pages.ts'

let serving: ServingLockstep

beforeEach(async () => { serving = await openSkirmish() })
afterEach(async () => await serving.close())

const OWN = 'skirmish.hand.selection.units(skirmish.room.world, skirmish.hand.seat).length'

browserTest('[SKIRM19] boxes, kinds, groups, minimap, hotkeys, plans by mouse and keys', async (browser) => {
  const mistakes: string[] = []
  const page = await join(browser, serving.url, 'Ada', mistakes)
  await begin([page])
  const home = await goHome(page)
  await page.keyboard.press('q')
  await until(page, 'document.querySelector("#card .queue").textContent === "worker"')
  expect(await textOf(page, '#commands')).toBe('QWorker◆ 50XCancel')
  await page.keyboard.press('x')
  await until(page, 'document.querySelector("#card .queue").textContent === ""')
  // All of a kind, by two clicks on one of them.
  await page.keyboard.press('.')
  await until(page, `${OWN} === 1`)
  const worker = await page.evaluate(`(() => {
    const { hand } = skirmish
    hand.camera.place()
    return hand.camera.pixelOf(hand.camera.x, hand.camera.y, 0.4)
  })()`) as { x: number; y: number }
  await page.mouse.dblclick(worker.x, worker.y)
  await until(page, `${OWN} === 5`)
  // A group, and back to it. What is selected is shown in the same frame.
  await page.keyboard.press('Control+1')
  await until(page, 'skirmish.hand.selection.group(skirmish.room.world, skirmish.hand.seat, 1).length === 5')
  await page.keyboard.press('Escape')
  expect(await page.evaluate('skirmish.hand.selection.ids.size')).toBe(0)
  await page.keyboard.press('1')
  expect(await page.evaluate('skirmish.hand.selection.ids.size')).toBe(5)
  // A marker and the turn are there at once; the units walk when the order is executed.
  await page.mouse.click(home.x + 120, home.y + 120, { button: 'right' })
  const goals = await page.evaluate('skirmish.markers') as number
  expect(goals).toBeGreaterThan(0)
  // The minimap: a click looks there, a right click sends units there, a command that waits uses it.
  const map = (await page.locator('#minimap').boundingBox())!
  await page.mouse.click(map.x + map.width / 2, map.y + map.height / 2)
  await until(page, 'Math.abs(skirmish.hand.camera.x - 64) < 3 && Math.abs(skirmish.hand.camera.y - 64) < 3')
  await page.keyboard.press('a')
  await until(page, 'document.querySelector("#screen").classList.contains("is-aiming")')
  await page.mouse.click(map.x + map.width / 4, map.y + map.height / 2)
  expect(await page.evaluate('[skirmish.hand.aim, Math.round(skirmish.hand.camera.x / 10)]')).toEqual([undefined, 6])
  await until(page, 'skirmish.lastOrder?.name === "Advance" && skirmish.lastOrder.state === "executed"')
  // Edges and arrows scroll, the wheel zooms.
  const before = await page.evaluate('[skirmish.hand.camera.x, skirmish.hand.camera.height]') as number[]
  await page.mouse.move(957, 300)
  await until(page, `skirmish.hand.camera.x > ${before[0]! + 2}`)
  await page.mouse.move(480, 300)
  await page.mouse.wheel(0, 400)
  await until(page, `skirmish.hand.camera.height > ${before[1]!}`)
  // What cannot be paid is refused, with the reason.
  await page.keyboard.press('1')
  await page.keyboard.press('r')
  await until(page, 'document.querySelector("#toast").textContent === "This needs 600 crystals. You have 300."')
  await page.keyboard.press('q')
  await page.keyboard.press('1')
  const at = await goHome(page)
  await page.keyboard.press('1')
  await page.keyboard.press('q')
  await page.mouse.move(at.x, at.y)
  await until(page, 'skirmish.hand.plan?.isFree === false')
  await page.mouse.click(at.x - 150, at.y + 110)
  await until(page, 'skirmish.lastOrder?.name === "Build" && skirmish.lastOrder.state === "executed"')
  await page.screenshot({ path: `${PICTURES}/skirmish-hand.png` })
  expect(mistakes).toEqual([])
})

type Finger = { readonly x: number; readonly y: number }

/** Moves fingers from some places to others. */
async function swipe(session: CDPSession, from: readonly Finger[], to: readonly Finger[]): Promise<void> {
  const at = (share: number): Finger[] => from.map(({ x, y }, each) =>
    ({ x: x + (to[each]!.x - x) * share, y: y + (to[each]!.y - y) * share }))
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) })
  for (const share of [0.25, 0.5, 0.75, 1])
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(share) })
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}

browserTest('[SKIRM20] on a phone: drag to select, tap to order, two fingers to zoom', async (browser) => {
  const mistakes: string[] = []
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 }
  const page = await join(browser, serving.url, 'Ada', mistakes, phone)
  await page.screenshot({ path: `${PICTURES}/skirmish-phone-lobby.png` })
  await until(page, '!document.querySelector("#ready").disabled')
  await page.tap('#ready')
  await until(page, 'document.querySelector("#lobby").hidden')
  const session = await page.context().newCDPSession(page)
  await until(page, 'document.querySelector("#coach p").textContent.startsWith("Tap ")')
  await page.tap('#coach button')
  await page.tap('#home')
  await until(page, 'document.querySelector("#card b")?.textContent === "headquarters"')
  await page.tap('#commands button')
  await until(page, 'document.querySelector("#card .queue").textContent === "worker"')
  await swipe(session, [{ x: 40, y: 150 }], [{ x: 360, y: 560 }])
  await until(page, `${OWN} >= 5`)
  await page.touchscreen.tap(195, 600)
  await until(page, 'skirmish.lastOrder?.name === "Move" && skirmish.lastOrder.state === "executed"')
  const height = Number(await page.evaluate('skirmish.hand.camera.height'))
  await swipe(session, [{ x: 180, y: 400 }, { x: 210, y: 400 }], [{ x: 100, y: 400 }, { x: 300, y: 400 }])
  await until(page, `skirmish.hand.camera.height < ${height * 0.7}`)
  expect(await page.evaluate(OWN), 'two fingers select nothing').toBeGreaterThanOrEqual(5)
  await page.screenshot({ path: `${PICTURES}/skirmish-phone.png` })
  const boxes = await page.evaluate(`['#top', '#minimap', '#quick', '#card', '#commands'].map((name) => {
    const { left, right, top, bottom } = document.querySelector(name).getBoundingClientRect()
    return { name, left, right, top, bottom }
  })`) as { name: string; left: number; right: number; top: number; bottom: number }[]
  for (const a of boxes) {
    expect([a.name, a.left >= 0, a.right <= 390, a.bottom <= 844]).toEqual([a.name, true, true, true])
    for (const b of boxes)
      if (a.name < b.name && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        expect(`${a.name} on ${b.name}`).toBe('')
  }
  expect(mistakes).toEqual([])
})
