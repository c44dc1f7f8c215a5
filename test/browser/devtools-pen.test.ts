/** What the overlay draws with, on a real canvas. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { browserTest } from './browser-test.ts'

const SOURCE = `
import { Pen } from './pen.ts'
import { Series } from './series.ts'
globalThis.tools = { Pen, Series }
`

browserTest('[DEV13] a curve stays within its ground, and over no text', async (browser) => {
  const resolveDir = fileURLToPath(new URL('../../packages/tickwire/src/devtools', import.meta.url))
  const { outputFiles } = await build({ stdin: { contents: SOURCE, resolveDir }, bundle: true, write: false })
  const page = await browser.newPage()
  await page.addScriptTag({ content: outputFiles[0]!.text })
  const lines = await page.evaluate<number[]>(`(() => {
    const context = new OffscreenCanvas(120, 80).getContext('2d')
    const pen = new tools.Pen(context, 120)
    const series = new tools.Series(60)
    for (let at = 0; at < 60; at++) series.push(at % 3 === 0 ? 100 : -100)
    pen.begin(80, false)
    pen.skip(20)
    pen.curve(36, series, -2, 5, 'red', [0])
    const { data } = context.getImageData(0, 0, 120, 80)
    return [...Array(80).keys()].filter((y) => data.subarray(480 * y, 480 * (y + 1)).some((value) => value > 0))
  })()`)
  expect([lines[0], lines.at(-1), lines.length]).toEqual([20, 55, 36])
})
