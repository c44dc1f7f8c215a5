/** The picture of skirmish with 2,000 units: draw calls, GPU objects, and the reduced mode. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { PICTURES } from './skirmish-pages.ts'

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-crowd-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/skirmish-crowd.ts', import.meta.url))],
    outfile: join(folder, 'crowd.js'), bundle: true, format: 'iife', conditions: ['tickwire-source'], minify: true,
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><style>canvas { width: 100vw; height: 100vh }</style>'
    + '<body style="margin: 0"><canvas></canvas><script src="crowd.js"></script>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Look {
  readonly units: number
  readonly drawCalls: number
  readonly isReduced: boolean
  readonly alive: number
  readonly made: number
}

browserTest('[SKIRM22] 2,000 units take at most 60 draw calls, and no GPU object is added', async (browser) => {
  const page = await (await browser.newContext({ viewport: { width: 960, height: 600 } })).newPage()
  const mistakes: string[] = []
  page.on('pageerror', (error) => mistakes.push(String(error)))
  await page.goto(`file://${folder}/index.html`)
  const play = async (ticks: number): Promise<Look> => await page.evaluate(`(() => {
    for (let tick = 0; tick < ${ticks}; tick++) {
      crowd.step()
      if (tick % 3 === 0) crowd.draw()
    }
    return crowd.look()
  })()`) as Look
  // Buffers are made when something is drawn for the first time: shots, falls, marks.
  const first = await play(form(180, 300))
  expect(first.units).toBeGreaterThanOrEqual(1990)
  // Terrain (4), headquarters, five kinds of units, bars, shots: all of it is drawn.
  expect(first.drawCalls).toBeGreaterThan(11)
  // This machine draws with its processor, and the page has noticed.
  expect(first.isReduced).toBe(true)
  for (let round = 0; round < form(2, 60); round++) {
    const { drawCalls, made } = await play(60)
    expect(drawCalls).toBeLessThanOrEqual(60)
    expect(made, 'objects that were made').toBe(first.made)
  }
  // A new map replaces the terrain of the last one.
  const { alive } = await play(1)
  for (let seed = 12; seed < form(16, 60); seed++) await page.evaluate(`crowd.change(${seed})`)
  expect((await play(3)).alive).toBeLessThanOrEqual(alive)
  await page.screenshot({ path: `${PICTURES}/skirmish-crowd.png` })
  expect(mistakes).toEqual([])
})
