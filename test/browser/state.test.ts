/** The same 1,000-tick game hashes equally in this Node and in a real browser, tick by tick. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { stateDigest } from '../browser-pages/state-page.ts'
import { browserTest } from './browser-test.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/state-page.ts', import.meta.url))

/** If these change, recorded replays no longer play: such a change breaks the wire format. */
const GOLDEN = { tree: '5be5645f2461f537', flat: '43f8402a8984691c', all: 'b4918739a6a795a6' }

test('[STATE7] a game of 1,000 ticks has the golden hashes, on this engine as on all others', () => {
  expect(stateDigest()).toEqual(GOLDEN)
})

browserTest('[STATE7] a browser plays the same game to the same hashes', async (browser) => {
  const { outputFiles } = await build({
    entryPoints: [PAGE],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'state',
    conditions: ['tickwire-source'],
  })
  const page = await browser.newPage()
  await page.addScriptTag({ content: outputFiles[0]!.text })
  expect(await page.evaluate('state.stateDigest()')).toEqual(stateDigest())
})
