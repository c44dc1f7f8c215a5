/** Pages and workers: all transports of a page lead to the worker of its room. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { endPrograms, Program } from '../contract/program.ts'
import { browserTest } from './browser-test.ts'

const SERVER = new URL('../../.cache/test/workers-page.mjs', import.meta.url)
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-workers-'))
  const common: BuildOptions = { bundle: true, conditions: ['tickwire-source'], logLevel: 'error' }
  await build({
    ...common, entryPoints: [fileURLToPath(new URL('../browser-pages/match-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'), format: 'iife', globalName: 'match',
  })
  await build({
    ...common, entryPoints: [fileURLToPath(new URL('workers-process.ts', import.meta.url))],
    outfile: fileURLToPath(SERVER), platform: 'node', format: 'esm',
    external: ['ws', 'sodium-native', '@matrixai/*', 'node-datachannel', 'werift'],
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/match.js"></script>')
})
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

interface Look {
  readonly peer: number
  readonly transport: string
}

async function enter(page: Page, url: string): Promise<Look> {
  expect(await page.evaluate(`match.join(${JSON.stringify(url)}, {})`)).toBeTypeOf('number')
  return await page.evaluate('match.look()') as Look
}

browserTest('[WORK1] pages of two workers play over their best transport, and keep their seats', async (browser) => {
  const program = new Program(SERVER, [folder])
  const [, url = ''] = await program.says(/at (\S+) \./)
  const { webtransport } = await (await fetch(`${url}/tickwire/info`)).json() as { readonly webtransport?: object }
  const pages: Page[] = []
  const first: Look[] = []
  for (let index = 0; index < 4; index++) {
    const page = await browser.newPage()
    await page.goto(url)
    pages.push(page)
    first.push(await enter(page, url))
  }
  await program.says(/players 2 2\./)
  if (webtransport !== undefined) {
    // A match that began on WebSocket moves to WebTransport, whose port is that of the same worker.
    for (const page of pages) {
      await page.waitForFunction(`match.look().transport === 'webtransport'`, undefined, { timeout: 60_000 })
    }
  }
  for (const index of [0, 3]) {
    await pages[index]!.reload()
    expect((await enter(pages[index]!, url)).peer).toBe(first[index]!.peer)
  }
  program.said = ''
  await program.says(/players 2 2\./)
})
