/**
 * A relay is killed, or asked to end, in the middle of a match of two pages and a process of Node: the match goes on at
 * the next one.
 */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { relay } from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { startGroup, type GroupProcess } from '../contract/relay-group.ts'
import { game, Spawn } from '../sim/lockstep-game.ts'
import { browserTest } from './browser-test.ts'
import { PageFolder } from './page-folder.ts'

let folder: PageFolder
let group: readonly GroupProcess[] = []

beforeAll(async () => {
  folder = await PageFolder.build({ match: new URL('../browser-pages/lockstep-page.ts', import.meta.url) })
})
afterAll(() => {
  for (const { child } of group) child.kill('SIGKILL')
  folder.remove()
})

browserTest('[HAND11] two pages and a process of Node play on after SIGKILL to their relay', async (browser) => {
  await playOn(browser, 'SIGKILL')
})

browserTest('[HAND13] two pages and a process of Node play on at once after SIGTERM to the relay', async (browser) => {
  // After a crash the page takes 1.2 s to know it.
  expect(await playOn(browser, 'SIGTERM')).toBeLessThan(2500)
})

/** Ends the relay of a match by a signal. All go on. Returns the longest time between two ticks, in ms. */
async function playOn(browser: Browser, signal: NodeJS.Signals): Promise<number> {
  for (const { child } of group) child.kill('SIGKILL')
  group = await startGroup(2, folder.path)
  const [first] = group as [GroupProcess]
  const hashes: string[] = []
  const node = await connect(game, relay(first.udp), {
    runner: { onTick: (tick, low, high) => { hashes[tick] = `${high}.${low}` } },
  })
  const continued: number[] = []
  node.onContinued((tick) => { continued.push(tick) })
  const pages = await Promise.all([0, 1].map(async () => {
    const page = await browser.newPage()
    await page.goto(first.url)
    return page
  }))
  for (const page of pages) await page.evaluate(`match.join(${JSON.stringify(first.url)})`)
  for (const page of pages) await page.waitForFunction('match.state().tick > 80')
  for (const page of pages) expect(await page.evaluate('match.give(1)')).toBe('sent')
  first.child.removeAllListeners('exit')
  await pages[0]!.evaluate('match.state()')
  first.child.kill(signal)
  for (const page of pages) await page.waitForFunction('match.handovers().isBack')
  await expect.poll(() => node.isContinued && !node.isAway, { timeout: 10_000 }).toBe(true)
  const [tick] = continued as [number]
  expect(tick).toBeGreaterThan(80)
  for (const page of pages) expect(await page.evaluate('match.handovers().continued')).toEqual([tick])
  for (const page of pages) expect(await page.evaluate('match.give(2)')).toBe('sent')
  expect([continued, node.order(Spawn, { count: 1 })]).toEqual([[tick], 'sent'])
  const last = tick + 60
  for (const page of pages) await page.waitForFunction(`match.look().length >= ${last}`)
  await expect.poll(() => node.tick, { timeout: 10_000 }).toBeGreaterThanOrEqual(last)
  for (const page of pages)
    expect((await page.evaluate('match.look()') as string[]).slice(0, last)).toEqual(hashes.slice(1, last + 1))
  node.leave()
  const { gapMs } = await pages[0]!.evaluate('match.state()') as { gapMs: number }
  for (const page of pages) await page.close()
  return gapMs
}
