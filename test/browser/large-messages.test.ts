/** Large messages between a page and a server, over a real socket. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { serve } from 'tickwire/node'
import { Chat, DATA_BYTES, game, isPattern, Level, Load, pattern } from '../browser-pages/large-page.ts'
import { browserTest } from './browser-test.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/large-page.ts', import.meta.url))

type Large = typeof import('../browser-pages/large-page.ts')
declare const large: Large

browserTest(
  '[LANE8] a page and a server send 260,864 bytes and a reply of 200 KB, and chat meanwhile',
  async (browser) => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwire-large-'))
    await build({
      entryPoints: [PAGE],
      outfile: join(folder, 'large.js'),
      bundle: true,
      format: 'iife',
      globalName: 'large',
      conditions: ['tickwire-source'],
    })
    writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/large.js"></script>')
    const serving = await serve(game, { port: 0, static: folder, log: () => {} })
    try {
      const { host } = serving
      const levels: number[] = []
      host.on(Level, ({ data }) => levels.push(isPattern(data) ? data.length : -1))
      host.handle(Load, ({ slot }) => ({ save: pattern(200_000 + slot) }))
      const page = await browser.newPage()
      await page.goto(serving.url)
      expect(await page.evaluate(() => large.join(location.origin))).toBe('websocket')
      // The page is in as soon as the server says so; the match adds the player with its next tick.
      await expect.poll(() => host.peers.length, { timeout: 30_000 }).toBe(1)
      const [peer] = host.peers
      expect(await page.evaluate((length) => [large.send(length + 1), large.send(length)], DATA_BYTES)).toEqual([
        'too-large',
        'queued',
      ])
      expect(host.send(peer!, Level, { data: pattern(DATA_BYTES) })).toBe('queued')
      host.send(peer!, Chat, { text: 'meanwhile' })
      expect(await page.evaluate(() => large.load(7))).toBe(200_007)
      await expect.poll(() => levels, { timeout: 60_000 }).toEqual([DATA_BYTES])
      await expect.poll(() => page.evaluate(() => large.seen().levels), { timeout: 60_000 }).toEqual([DATA_BYTES])
      const { chats, progress } = await page.evaluate(() => large.seen())
      expect(chats).toEqual(['meanwhile'])
      expect(progress.map(({ name }) => name)).toContain('Level')
      await page.close()
    } finally {
      await serving.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
