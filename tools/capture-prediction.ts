/**
 * Takes the README's moving picture: hello in two windows of a real browser, against a real server with a round trip of
 * 200 ms. At first each window draws what the server last sent, then what Tickwire predicts and interpolates.
 *
 *   node --conditions=tickwire-source --import tsx tools/capture-prediction.ts
 *
 * The keys are pressed by a script; everything else is as in a match, and so are the milliseconds in the picture. Take
 * it on a quiet machine. Needs img2webp (Debian: webp). Writes docs/pictures/prediction.webp,
 * and one of its pictures for readers that asked for less motion.
 */

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { serve } from 'tickwire/node'
import { build } from 'esbuild'
import { game } from '../games/hello/game.ts'
import { launchBrowser } from '../test/browser/browser.ts'
import type { Stage } from './capture-prediction-stage.ts'
import { ROOT } from './typecheck.ts'

const PICTURE = join(ROOT, 'docs/pictures/prediction.webp')
const STILL = join(ROOT, 'docs/pictures/prediction-still.png')
const FOLDER = join(ROOT, '.cache', 'capture-prediction')
const HEAD = '<!doctype html><link rel="icon" href="data:,"><style>body { margin: 0 }</style>'

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
await build({
  entryPoints: {
    window: join(ROOT, 'tools/capture-prediction-page.ts'),
    stage: join(ROOT, 'tools/capture-prediction-stage.ts'),
  },
  outdir: FOLDER, bundle: true, format: 'esm', conditions: ['tickwire-source'], logLevel: 'warning',
})
const script = (name: string): string => `<script type="module" src="${name}.js"></script>`
const frame = '<iframe src="window.html" width="640" height="360"></iframe>'
writeFileSync(join(FOLDER, 'window.html'), `${HEAD}<canvas width="640" height="360"></canvas>${script('window')}`)
writeFileSync(join(FOLDER, 'index.html'), `${HEAD}${frame}${frame}${script('stage')}`)

const weather = { latencyMs: 100, jitterMs: 0, loss: 0 }
const serving = await serve(game, { port: 0, static: FOLDER, weather })
const browser = await launchBrowser()
try {
  const page = await browser.newPage({ viewport: { width: 1320, height: 400 } })
  await page.goto(serving.url)
  await page.waitForFunction(() => (window as unknown as { stage: Stage }).stage?.isReady(), undefined, {
    timeout: 60_000,
  })
  // The clocks of both pages settle.
  await page.waitForTimeout(3_000)
  const frames = await recorded(page)
  execFileSync('img2webp', ['-loop', '0', '-lossless', '-m', '6', ...frames.flat(), '-o', PICTURE])
  // With prediction on, and both players in motion.
  copyFileSync(frames[Math.floor(frames.length * 0.86)]!.at(-1)!, STILL)
  console.log(`${frames.length} frames, ${(statSync(PICTURE).size / 1024).toFixed(0)} KiB: ${PICTURE}`)
} finally {
  await browser.close()
  await serving.close()
}

/** Writes each frame as a file. Returns the arguments of img2webp: each frame with its duration. */
async function recorded(page: Page): Promise<string[][]> {
  const list: string[][] = []
  const { count, reactions } = await page.evaluate(() => (window as unknown as { stage: Stage }).stage.record())
  for (const isOn of [false, true]) {
    const times = reactions.filter(({ isPredicted }) => isPredicted === isOn).map(({ ms }) => Math.round(ms))
    console.log(`prediction ${isOn ? 'on' : 'off'}, key to screen: ${times.toSorted((a, b) => a - b).join(', ')} ms`)
  }
  for (let at = 0; at < count; at++) {
    const { png, ms } = await page.evaluate((index) => (window as unknown as { stage: Stage }).stage.frame(index), at)
    const path = join(FOLDER, `${String(at).padStart(4, '0')}.png`)
    writeFileSync(path, Buffer.from(png, 'base64'))
    list.push(['-d', String(Math.max(10, Math.round(ms))), path])
  }
  return list
}
