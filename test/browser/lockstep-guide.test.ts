/** docs/guide/lockstep.md, done by a machine: its code, its page and its server, in two tabs. */

import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { LocalFeed, LockstepRunner } from 'tickwire/lockstep'
import { game, Move, Unit } from '../../docs/guide/examples/lockstep/game.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { browserTest } from './browser-test.ts'
import { commandsOf, GuideRun } from './guide-run.ts'

const guide = new GuideRun()
const EXAMPLE = join(ROOT, 'docs/guide/examples/lockstep')

afterAll(() => guide.end())

test('[LOCK72] the code of the guide has at most 60 lines, and its units go where they are sent', () => {
  const files = ['game.ts', 'server.ts', 'client.ts'].map((name) => readFileSync(join(EXAMPLE, name), 'utf8'))
  expect(files.join('').split('\n').length - 1).toBeLessThanOrEqual(60)
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: game.tickRate, players: 2 }), { heavy: true })
  runner.update(0)
  const own = [...runner.world.seen(Unit)].filter(({ owner }) => owner === 1).map(({ id }) => id)
  expect(own).toHaveLength(5)
  expect(runner.order(1, Move, { units: own, to: { x: 200, y: 100 } })).toBe('sent')
  const others = [...runner.world.seen(Unit)].filter(({ owner }) => owner === 2).map(({ id }) => id)
  expect(runner.order(1, Move, { units: others, to: { x: 0, y: 0 } })).toBe('refused')
  for (let now = 0; runner.tick < 260; now += 100) runner.update(now)
  for (const { at, owner } of runner.world.seen(Unit)) {
    if (owner === 1) expect(at).toMatchObject({ x: 200, y: 100 })
    else expect(at.x).toBe(56)
  }
})

/** Waits until the page has painted the colour of a player near a place. */
async function paints(page: Page, owner: number, x: number, y: number): Promise<void> {
  await page.waitForFunction(([colour, left, top]) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d')!
    probe.fillStyle = colour
    probe.fillRect(0, 0, 1, 1)
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data
    const { data } = document.querySelector('canvas')!.getContext('2d')!.getImageData(left - 6, top - 6, 12, 12)
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true
    return false
  }, [`hsl(${owner * 47} 80% 60%)`, x, y] as const)
}

browserTest('[LOCK72] the guide ends in two tabs that command units, and one that plays alone', async (browser) => {
  const [makePage, play, check, ...rest] = commandsOf('lockstep.md')
  expect(rest).toEqual([])
  const folder = join(guide.folder, 'march')
  cpSync(EXAMPLE, folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  guide.run(folder, `${makePage!.trim()} --conditions=tickwire-source`)
  const url = await guide.start(folder, play!.replace('npx tsx', 'node --conditions=tickwire-source --import tsx'))
  const pages = [await browser.newPage(), await browser.newPage()] as const
  for (const page of pages) await page.goto(url)
  for (const page of pages) await paints(page, 2, 2 * 56, 64)
  await pages[0].mouse.move(0, 0)
  await pages[0].locator('canvas').click({ position: { x: 120, y: 300 } })
  for (const page of pages) await paints(page, 1, 120, 300)
  const alone = await browser.newPage()
  await alone.goto(`${url}?alone`)
  await paints(alone, 1, 56, 64)
  guide.run(folder, check!.replace('npx tsx', 'node --conditions=tickwire-source --import tsx'))
})
