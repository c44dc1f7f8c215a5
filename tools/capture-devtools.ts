/**
 * Takes the pictures of "reading the overlay": a real page in a real browser, in real weather, with a blow that only
 * the server knew.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-devtools.ts
 *
 * Writes docs/pictures/overlay.png, overlay-weather.png, overlay-phone.png and inspector.png.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { openRecording, sourceOf } from 'tickwire'
import { Inspection, MemorySink, type Recording } from 'tickwire/engine'
import { serve } from 'tickwire/node'
import { serveInspection } from '../packages/tickwire/src/cli/inspect-page.ts'
import { game, wind } from '../test/browser-pages/devtools-game.ts'
import { launchBrowser } from '../test/browser/browser.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PICTURES = join(ROOT, 'docs/pictures')
const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css"><script type="module" src="page.js"></script>
</head><body><canvas width="640" height="360"></canvas></body></html>`

const folder = mkdtempSync(`${tmpdir()}/devtools-`)
writeFileSync(`${folder}/index.html`, PAGE)
writeFileSync(
  `${folder}/style.css`,
  // The field is in the middle of the space that the overlay leaves.
  'body { margin: 0; height: 100vh; display: flex; align-items: center; background: #10131a }'
    + 'canvas { box-sizing: border-box; width: 620px; max-width: 100vw; margin-left: 10px; background: #181d29;'
    + 'border: 1px solid #2c3547; border-radius: 12px } @media (width < 600px) { canvas { margin: auto auto 60px } }',
)
await build({
  entryPoints: [join(ROOT, 'test/browser-pages/devtools-page.ts')], outfile: `${folder}/page.js`,
  bundle: true, format: 'esm', target: 'es2022', conditions: ['tickwire-source'], logLevel: 'warning',
})
const host = await serve(game, { port: 0, static: folder })
const browser = await launchBrowser()
try {
  const theirs = new MemorySink()
  const recorder = host.host.record(theirs)
  const page = await browser.newPage({ viewport: { width: 1020, height: 700 } })
  await page.goto(host.url)
  await until(async () => await page.evaluate<boolean>('window.page !== undefined && page.room.view.tick > 0'))
  await page.keyboard.press('Backquote')
  await page.evaluate(
    'page.devtools.record(); page.devtools.hasGhosts = true; '
      + 'page.devtools.setWeather({ latencyMs: 40, jitterMs: 20, loss: 0.03, reordering: 0.03 })',
  )
  await run(page, ['ArrowRight', 'ArrowDown', 'ArrowLeft'])
  wind.x = -40
  await run(page, ['ArrowUp', 'ArrowLeft'])
  await page.screenshot({ path: `${PICTURES}/overlay.png` })
  await press(page, 'a worse network')
  await pause(600)
  await page.screenshot({ path: `${PICTURES}/overlay-weather.png`, clip: { x: 640, y: 0, width: 380, height: 420 } })
  const ours = await page.evaluate<number[]>('Array.from(page.devtools.save())')
  recorder.close()
  await page.setViewportSize({ width: 390, height: 760 })
  await page.keyboard.press('Backquote')
  await page.keyboard.press('Backquote')
  await pause(1500)
  await page.screenshot({ path: `${PICTURES}/overlay-phone.png` })
  const inspection = new Inspection(opened(Uint8Array.from(ours)), { authority: opened(theirs.bytes()) })
  const served = await serveInspection(inspection, 'match.twr', 0)
  const shown = await browser.newPage({ viewport: { width: 1500, height: 900 } })
  await shown.goto(served.url)
  await until(async () => await shown.evaluate('document.body.dataset.isReady') === 'true')
  await shown.screenshot({ path: `${PICTURES}/inspector.png` })
  await served.close()
  console.log(`${inspection.packets().length} packets, ${inspection.mistakes.length} mispredictions: ${PICTURES}`)
} finally {
  await browser.close()
  await host.close()
  rmSync(folder, { recursive: true })
}

async function run(page: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.down(key)
    await pause(450)
    await page.keyboard.up(key)
    await pause(350)
  }
}

async function press(page: Page, title: string): Promise<void> {
  await page.evaluate(
    `document.querySelector('tickwire-devtools').shadowRoot.querySelector('button[title="${title}"]').click()`,
  )
}

function opened(bytes: Uint8Array): Recording {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  return recording
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let left = 400; left > 0 && !(await isTrue()); left--) await pause(50)
}
