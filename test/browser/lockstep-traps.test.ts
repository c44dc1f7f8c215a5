/** Traps of development mode in a page, and in a page that is built for production. */

import { mkdtempSync, rmSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, expect } from 'vitest'
import { browserTest } from './browser-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-traps-'))
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

async function bundle(mode: string): Promise<string> {
  const outfile = join(folder, `${mode}.js`)
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/lockstep-traps-page.ts', import.meta.url))],
    outfile, bundle: true, format: 'iife', globalName: 'match', conditions: ['tickwire-source'],
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
  })
  return readFileSync(outfile, 'utf8')
}

browserTest('[LOCK45] a page in development names what step uses; one for production has no traps', async (browser) => {
  const warnings: Record<string, string[]> = { development: [], production: [] }
  for (const mode of ['development', 'production']) {
    const page = await browser.newPage()
    page.on('console', (message) => { warnings[mode]!.push(message.text()) })
    await page.addScriptTag({ content: await bundle(mode) })
    expect(await page.evaluate('match.play()')).toBe(true)
    await page.close()
  }
  const names = warnings['development']!.map((text) => /^(\S+): called in step \(tick \d+\).*Fix: /.exec(text)?.[1])
  expect(names.sort()).toEqual(['Array.sort', 'Date.now', 'Math.sin', 'String.localeCompare'])
  expect(warnings['production']).toEqual([])
})
