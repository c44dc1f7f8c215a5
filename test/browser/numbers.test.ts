/** The same numbers, to the bit, in this Node and in a real browser: part by part, so that a difference says where. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { numbersDigest, partDigest, PARTS } from '../browser-pages/numbers-page.ts'
import { browserTest } from './browser-test.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/numbers-page.ts', import.meta.url))

browserTest('[NUM7] a browser computes the same digest of exact numbers, generators and hashes', async (browser) => {
  const { outputFiles } = await build({
    entryPoints: [PAGE], bundle: true, minify: true, write: false, format: 'iife', globalName: 'numbers',
  })
  const page = await browser.newPage()
  await page.addScriptTag({ content: outputFiles[0]!.text })
  for (const part of Object.keys(PARTS)) {
    expect(await page.evaluate(`numbers.partDigest(${JSON.stringify(part)})`), part).toBe(partDigest(part))
  }
  expect(await page.evaluate('numbers.numbersDigest()')).toBe(numbersDigest())
})
