/**
 * A page that loses its connection resumes its seat by itself: after a long sleep, and after a restart of its server.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serve, type Serving } from 'tickwire/node'
import { game, Walker } from '../browser-pages/match-page.ts'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'

const RESUME_MS = 120_000
/** The page sleeps at least this long, and until the server has dropped the connection. */
const SLEEP_MS = form(3000, 30_000)

interface Seen {
  readonly peer: number
  readonly xs: readonly number[]
  readonly turns: readonly string[]
}

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-comeback-'))
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

const look = async (page: Page): Promise<Seen> => await page.evaluate('match.look()') as Seen

async function until(isTrue: () => boolean | Promise<boolean>, msMax = 60_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !(await isTrue());) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(20)
  }
}

const xOf = (serving: Serving): number => [...serving.host.world.each(Walker)][0]?.x ?? 0

/** A page that has walked a little, and its player id. */
async function walk(page: Page, serving: Serving): Promise<Seen> {
  await page.goto(serving.url)
  expect(await page.evaluate(`match.join(${JSON.stringify(serving.url)}, {})`)).toBeTypeOf('number')
  await page.evaluate('match.hold(true)')
  await until(() => xOf(serving) > 30)
  await page.evaluate('match.hold(false)')
  return await look(page)
}

/**
 * From now on nothing of a page runs: no timer, no handler, no frame. On a busy machine Chromium may forget the
 * request, so it is repeated.
 */
async function pause(tools: CDPSession): Promise<void> {
  let isPaused = false
  tools.once('Debugger.paused', () => { isPaused = true })
  await tools.send('Debugger.enable')
  await until(async () => {
    await tools.send('Debugger.pause')
    await sleep(500)
    return isPaused
  })
}

browserTest(
  '[SEAT10, LADDER10] a page that slept until its connection was lost resumes its seat, and sees the present',
  async (browser) => {
    const serving = await serve(game, { port: 0, static: folder, log: () => {}, resumeMs: RESUME_MS })
    try {
      const page = await browser.newPage()
      const { peer } = await walk(page, serving)
      const tools = await page.context().newCDPSession(page)
      await pause(tools)
      await sleep(SLEEP_MS)
      // The server has dropped the connection, and kept the seat.
      await until(() => serving.host.endpoint.connections.length === 0)
      expect([...serving.host.world.each(Walker)].map(({ owner }) => owner)).toEqual([peer])
      const [walker] = serving.host.world.each(Walker)
      walker!.x = 500
      await tools.send('Debugger.resume')
      await tools.send('Debugger.disable')
      await until(async () => (await look(page)).turns.at(-1) === 'back')
      expect((await look(page)).peer).toBe(peer)
      await until(async () => ((await look(page)).xs[0] ?? 0) >= 500)
      await page.evaluate('match.hold(true)')
      await until(() => xOf(serving) > 510)
      expect(serving.host.endpoint.connections.length).toBe(1)
    } finally {
      await serving.close()
    }
  },
)

browserTest(
  '[SEAT10] a page resumes its seat after a server restart, and stays away after a leave',
  async (browser) => {
    const keepRooms = join(folder, 'rooms.json')
    const options = { static: folder, log: () => {}, resumeMs: RESUME_MS, keepRooms }
    let serving = await serve(game, { port: 0, ...options })
    try {
      const page = await browser.newPage()
      const { peer } = await walk(page, serving)
      const { port } = new URL(serving.url)
      const x = xOf(serving)
      await serving.drain()
      serving = await serve(game, { port: Number(port), ...options })
      await until(async () => (await look(page)).turns.at(-1) === 'back')
      expect((await look(page)).peer).toBe(peer)
      await page.evaluate('match.hold(true)')
      await until(() => xOf(serving) > x + 10)
      await serving.close()
      await until(async () => (await look(page)).turns.at(-1) === 'closed peer shutdown')
    } finally {
      await serving.close()
    }
  },
)
