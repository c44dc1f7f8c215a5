/** Seats in a real browser: a seat survives a reload, and two pages never share one. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serve, serveRooms } from 'tickwire/node'
import type { ConnectOptions } from 'tickwire/browser'
import { game, Walker } from '../browser-pages/match-page.ts'
import { browserTest } from './browser-test.ts'

/** A reload may take long on a busy machine. */
const RESUME_MS = 120_000

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-rooms-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/match-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'),
    bundle: true,
    format: 'iife',
    globalName: 'match',
    conditions: ['tickwire-source'],
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/match.js"></script>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function joinMatch(page: Page, url: string, options: ConnectOptions = {}): Promise<number> {
  expect(await page.evaluate(`match.join(${JSON.stringify(url)}, ${JSON.stringify(options)})`)).toBeTypeOf('number')
  return (await page.evaluate('match.look()') as { peer: number }).peer
}

async function until(isTrue: () => boolean, msMax = 90_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !isTrue();) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
}

browserTest(
  '[SEAT9] a reloaded page resumes its seat; a copied tab is another player; a leave is final',
  async (browser) => {
    const serving = await serve(game, { port: 0, static: folder, log: () => {}, resumeMs: RESUME_MS })
    try {
      const walkers = (): readonly (readonly [owner: number, x: number])[] =>
        [...serving.host.world.each(Walker)].map(({ owner, x }) => [owner, x])
      const page = await browser.newPage()
      await page.goto(serving.url)
      const peer = await joinMatch(page, serving.url)
      await page.evaluate('match.hold(true)')
      await until(() => (walkers()[0]?.[1] ?? 0) > 30)
      const [[, x] = [0, 0]] = walkers()
      await page.reload()
      expect(await joinMatch(page, serving.url)).toBe(peer)
      expect([walkers().length, walkers()[0]![0], walkers()[0]![1] >= x]).toEqual([1, peer, true])

      // A window that a page opens has a copy of its storage.
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void open(location.href)')])
      await popup.waitForLoadState()
      const other = await joinMatch(popup, serving.url)
      expect([other === peer, serving.host.members.length]).toEqual([false, 2])

      await page.bringToFront()
      // As at a reload before the server has answered: the ticket is gone at once, and is not written again.
      const kept = await page.evaluate(`match.leave(); dispatchEvent(new Event('pagehide')); sessionStorage.length`)
      expect(kept).toBe(0)
      await until(() => serving.host.members.length === 1)
      await page.reload()
      expect([peer, other]).not.toContain(await joinMatch(page, serving.url))
      expect(serving.rooms.door.tickets).toEqual({ forged: 0, spent: 0, expired: 0, stolen: 0 })
    } finally {
      await serving.close()
    }
  },
)

browserTest(
  '[SEAT9] over all transports, into the former room; an unknown seat gives a new one',
  async (browser) => {
    const serving = await serveRooms(
      { walk: { game, capacity: 2, resumeMs: RESUME_MS } },
      { port: 0, static: folder, log: () => {} },
    )
    const { url } = serving
    try {
      serving.create('walk')
      const pages = [await browser.newPage(), await browser.newPage(), await browser.newPage()]
      for (const page of pages) {
        await page.goto(url)
        await joinMatch(page, url)
      }
      const third = (await pages[2]!.evaluate('match.look().transport')) as string
      await pages[2]!.reload()
      await joinMatch(pages[2]!, url)
      // A page that had forgotten its seat would have been refused: the first room reserves no seat, and the second
      // room is where it was.
      expect([
        serving.rooms.rooms.map(({ seats }) => seats.players),
        serving.rooms.door.counts.resumed,
        third === '',
      ]).toEqual([[2, 1], 1, false])
      serving.rooms.rooms[1]!.end()
      await until(() => serving.rooms.rooms.length === 1)
      await pages[2]!.reload()
      await joinMatch(pages[2]!, url)
      expect(serving.rooms.rooms.map(({ seats }) => seats.players)).toEqual([2, 1])
    } finally {
      await serving.close()
    }
  },
)
