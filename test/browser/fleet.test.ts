/** A fleet in a browser: a page that joins through the fleet, and the operator page. Real processes. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { ChaosStage, freePort } from '../chaos/chaos-stage.ts'
import { browserTest } from './browser-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-fleet-'))
/** A folder for pictures of the page, to look at. */
const pictures = process.env['PICTURES']
const stage = new ChaosStage()

afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true, force: true })
})

browserTest('[FLEET1, FLEET13] a page joins through the fleet, and an operator sees and kicks it', async (browser) => {
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/fleet-page.ts', import.meta.url))], outdir: folder,
    bundle: true, format: 'esm', target: 'es2022', conditions: ['tickwire-source'], define: { 'process.env': '{}' },
  })
  const html = '<!doctype html><p id="says"></p><script type="module" src="fleet-page.js"></script>'
  writeFileSync(join(folder, 'index.html'), html)
  const [port, ops] = [await freePort(), await freePort()]
  const fleet = await stage.fleet(['--static', folder, '--ops', `${ops}`], port)
  await stage.server(fleet.url, '1', 8, { ORIGINS: fleet.url })
  const open = async (url: string, width: number): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: { width, height: 844 } })).newPage()
    await page.goto(url)
    return page
  }
  const players = [await open(fleet.url, 800), await open(fleet.url, 800)]
  for (const page of players) await page.getByText('playing, verified').waitFor()

  const errors: string[] = []
  const operator = await open(`http://127.0.0.1:${ops}/`, 390)
  operator.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()) })
  operator.on('pageerror', (error) => errors.push(String(error)))
  await operator.getByText('1 process, 1 room, 2 players').waitFor()
  await operator.getByRole('button', { name: 'Inspect' }).click()
  await operator.getByText('Peer 2').waitFor()
  expect(await operator.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  if (pictures !== undefined) {
    await operator.screenshot({ path: join(pictures, 'operator-phone.png') })
    await operator.setViewportSize({ width: 1180, height: 700 })
    await operator.screenshot({ path: join(pictures, 'operator.png') })
  }
  await operator.getByRole('button', { name: 'Kick' }).first().click()
  await operator.getByRole('button', { name: 'Sure?' }).click()
  await players[0]!.getByText('closed: kicked').waitFor()
  await operator.getByText('1 process, 1 room, 1 player').waitFor()
  expect(await players[1]!.textContent('#says')).toBe('playing, verified')
  expect(errors).toEqual([])
})
