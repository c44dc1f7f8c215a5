/**
 * The main thread of skirmish's page with 2,000 units, in Chromium: CPU time of its thread, so that neither other
 * programs nor the software that draws the pixels in another process count.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { CDPSession, Page } from 'playwright-core'
import { findBrowser, launchBrowser } from '../../test/browser/browser.ts'
import type { Figure } from '../harness.ts'

const WARM_TICKS = 90
const TICKS = 150

/** Figures of the page. Empty: this machine has no browser. */
export async function pageFigures(): Promise<Figure[]> {
  if (findBrowser() === undefined) return []
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-crowd-'))
  const browser = await launchBrowser()
  try {
    await build({
      entryPoints: [fileURLToPath(new URL('../../test/browser-pages/skirmish-crowd.ts', import.meta.url))],
      outfile: join(folder, 'crowd.js'), bundle: true, format: 'iife', conditions: ['tickwire-source'], minify: true,
    })
    writeFileSync(join(folder, 'index.html'), '<!doctype html><canvas></canvas><script src="crowd.js"></script>')
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(`file://${folder}/index.html`)
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    await play(page, WARM_TICKS, 'crowd.step(); crowd.draw()')
    const steps = await cpuMs(session, () => play(page, TICKS, 'crowd.step()'))
    const both = await cpuMs(session, () => play(page, TICKS, 'crowd.step(); crowd.draw()'))
    return [
      { name: 'page_tick_ms_mean', value: steps / TICKS, unit: 'ms', against: null, atMost: 8 },
      { name: 'page_frame_ms_mean', value: Math.max(0, both - steps) / TICKS, unit: 'ms', against: null, atMost: 8 },
    ]
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs some code once in each of many tasks, as a page does. */
async function play(page: Page, ticks: number, code: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    let left = ${ticks}
    const run = () => {
      ${code}
      if (--left === 0) done()
      else requestAnimationFrame(run)
    }
    run()
  })`)
}

/** CPU milliseconds of the page's thread in tasks. */
async function cpuMs(session: CDPSession, run: () => Promise<void>): Promise<number> {
  const before = await taskSeconds(session)
  await run()
  return (await taskSeconds(session) - before) * 1000
}

async function taskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}
