/** The same game of a thousand ticks, with rollbacks, hashes equally in this Node and in a real browser. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { stateDigest } from '../browser-pages/state-page.ts'
import { browserTest } from './browser-test.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/state-page.ts', import.meta.url))

test('[STATE7] a game with rollbacks has one digest, and another length another', () => {
  expect(stateDigest(60)).toBe(stateDigest(60))
  expect(stateDigest(60)).not.toBe(stateDigest(61))
})

browserTest('[STATE7] a thousand ticks hash equally in Node and in a browser', async (browser) => {
  const { outputFiles } = await build({
    entryPoints: [PAGE], bundle: true, minify: true, write: false, format: 'iife', globalName: 'state', conditions: ['tickwire-source'],
  })
  const page = await browser.newPage()
  await page.addScriptTag({ content: outputFiles[0]!.text })
  expect(await page.evaluate('state.stateDigest()')).toBe(stateDigest())
})
