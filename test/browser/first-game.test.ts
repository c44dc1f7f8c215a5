/**
 * docs/guide/first-game.md, done by a machine: its commands in its order, its files, the packed package, two tabs.
 */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'
import { browserTest } from './browser-test.ts'
import { commandsOf, GuideRun } from './guide-run.ts'

const guide = new GuideRun()
const { folder, checkout } = guide
const game = join(folder, 'coins')

afterAll(() => guide.end())

browserTest(
  'the guide to a first game ends in two tabs that see the same coins and each other walk',
  async (browser) => {
    const [makePackage, makeFolder, makePage, play, check, ...rest] = commandsOf('first-game.md')
    expect(rest).toEqual([])
    guide.copyCheckout()
    guide.run(checkout, makePackage!)
    guide.run(folder, makeFolder!)
    cpSync(join(ROOT, 'docs/guide/examples/first-game'), game, { recursive: true })
    guide.run(game, makePage!)
    expect(guide.run(game, check!)).toContain('# pass 1')

  const url = await guide.start(game, play!)
  const pages = [await browser.newPage(), await browser.newPage()] as const
  for (const page of pages) await page.goto(url)
  for (const page of pages) await paints(page, 'gold', 640)
  // Player 1 starts in the middle, at 320; its hue is 47.
  await pages[0].keyboard.down('ArrowLeft')
  for (const page of pages) await paints(page, 'hsl(47 80% 60%)', 200)
  for (const page of pages) await page.close()
})

/** Waits until the page has painted a pixel of this colour in the first `columns` of its canvas. */
async function paints(page: Page, colour: string, columns: number): Promise<void> {
  await page.waitForFunction(([wanted, width]) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d')!
    probe.fillStyle = wanted
    probe.fillRect(0, 0, 1, 1)
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data
    const { data } = document.querySelector('canvas')!.getContext('2d')!.getImageData(0, 0, width, 360)
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) return true
    }
    return false
  }, [colour, columns] as const)
}
