/** The picture of the arena over a long match of bots: no GPU object is left behind. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-arena-crowd-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/arena-crowd.ts', import.meta.url))],
    outfile: join(folder, 'crowd.js'), bundle: true, format: 'iife', conditions: ['tickwire-source'], minify: true,
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><style>canvas { width: 100vw; height: 100vh }</style>'
    + '<body style="margin: 0"><canvas></canvas><script src="crowd.js"></script>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Look {
  readonly kills: number
  readonly fighters: number
  readonly alive: number
}

browserTest('[ARENA22] a match of bots that fight and die leaves no GPU object behind', async (browser) => {
  const page = await (await browser.newContext({ viewport: { width: 160, height: 100 } })).newPage()
  const mistakes: string[] = []
  page.on('pageerror', (error) => mistakes.push(String(error)))
  await page.goto(`file://${folder}/index.html`)
  const play = async (seconds: number): Promise<Look> => await page.evaluate(`crowd.play(${seconds})`) as Look
  // Each geometry, texture and program is made when it is drawn for the first time.
  const first = await play(40)
  expect(first.kills).toBeGreaterThan(5)
  const looks: Look[] = []
  // The long form plays ten minutes of match time.
  for (let round = 0; round < form(1, 10); round++) looks.push(await play(form(25, 60)))
  const last = looks.at(-1)!
  expect(last.kills).toBeGreaterThan(first.kills + 3)
  // A label more or less is a fighter that lives or waits.
  const labels = Math.max(0, last.fighters - first.fighters)
  expect(last.alive, JSON.stringify([first, ...looks])).toBeLessThanOrEqual(first.alive + labels)
  expect(mistakes).toEqual([])
}, form(180_000, 1_800_000))
