/** The same 1,000-tick game hashes equally in this Node and in a real browser, tick by tick. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { stateDigest } from '../browser-pages/state-page.ts'
import { browserTest } from './browser-test.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/state-page.ts', import.meta.url))

/** If these change, so does every recorded replay: that is a break of the wire, never a detail. */
const GOLDEN = { tree: '0373dccbfe9869cb', flat: '58c4bbb3b3679251', all: 'd3dc6599e8d64a13' }

test('[STATE7] a game of 1,000 ticks has the golden hashes, on this engine as on all others', () => {
  expect(stateDigest()).toEqual(GOLDEN)
})

browserTest('[STATE7] a browser plays the same game to the same hashes', async (browser) => {
  const { outputFiles } = await build({
    entryPoints: [PAGE], bundle: true, minify: true, write: false, format: 'iife', globalName: 'state', conditions: ['tickwire-source'],
  })
  const page = await browser.newPage()
  await page.addScriptTag({ content: outputFiles[0]!.text })
  expect(await page.evaluate('state.stateDigest()')).toEqual(stateDigest())
})
