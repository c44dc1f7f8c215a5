/**
 * Listeners of a page are registered once: they are called after an outage as before it, and none that throws stops the
 * others.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { serve, type Serving } from 'tickwire/node'
import { Ask, Boom, Chat, game, Tell, type look } from '../browser-pages/listeners-page.ts'
import { browserTest } from './browser-test.ts'

type Seen = ReturnType<typeof look>

let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-listeners-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/listeners-page.ts', import.meta.url))],
    outfile: join(folder, 'listeners.js'),
    bundle: true,
    format: 'iife',
    globalName: 'listeners',
    conditions: ['tickwire-source'],
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/listeners.js"></script>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seen = async (page: Page): Promise<Seen> => (await page.evaluate('listeners.look()')) as Seen

async function until(isTrue: () => Promise<boolean>, msMax = 60_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !(await isTrue());) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await sleep(50)
  }
}

const KINDS = ['spawn', 'change', 'chat', 'chat too', 'boom', 'flash', 'draw', 'stepped']

browserTest(
  '[SEAT10, RPC12, GUARD1, GUARD4, GUARD5] listeners and handlers stay after an outage',
  async (browser) => {
    const keepRooms = join(folder, 'rooms.json')
    const received: number[] = []
    const onMatch = (host: Serving<typeof game.input>['host']): void => {
      host.handle(Ask, ({ number }) => ({ twice: 2 * number }))
      host.handle(Tell, ({ number }) => { received.push(number) })
    }
    const options = { static: folder, log: () => {}, resumeMs: 120_000, keepRooms, onMatch }
    let serving = await serve(game, { port: 0, ...options })
    try {
      const page = await browser.newPage()
      await page.goto(serving.url)
      await page.evaluate(`listeners.join(${JSON.stringify(serving.url)})`)
      const hasAll = async (before: Record<string, number> = {}, kinds = KINDS): Promise<boolean> => {
        serving.host.broadcast(Chat, { text: 'hi' })
        serving.host.call(Boom, { number: 1 })
        const { counts } = await seen(page)
        return kinds.every((kind) => (counts[kind] ?? 0) > (before[kind] ?? 0))
      }
      await until(() => hasAll())
      const first = await seen(page)
      expect([first.shown, first.counts.host, first.isSameView]).toEqual([[1], 1, true])

      expect(await page.evaluate('listeners.ask(21)')).toEqual({ isOk: true, values: { twice: 42 } })
      expect(await page.evaluate('listeners.borrow()')).toBe(true)

      await serving.drain()
      await until(async () => (await seen(page)).isAway)
      const away = await seen(page)
      serving = await serve(game, { port: Number(new URL(serving.url).port), ...options })
      await until(async () => (await seen(page)).counts.back === 1)
      await until(() => hasAll(away.counts))
      const back = await seen(page)
      expect([back.isSameView, back.counts.away, back.counts.back, back.counts.host]).toEqual([true, 1, 1, 2])
      expect(await page.evaluate('listeners.ask(4)')).toEqual({ isOk: true, values: { twice: 8 } })
      expect(await page.evaluate('listeners.borrow()')).toBe(true)
      expect(received, 'a call without a reply arrives too').toEqual([21, 4])
      // The object left the view with the lost connection, and entered it again with the new one: never twice at once.
      expect([back.shown, back.counts.despawn]).toEqual([[1], 1])
      await until(async () => (await seen(page)).overlay.received > 0)
      expect((await seen(page)).overlay.transport).not.toBe('')

      await page.evaluate('listeners.forgetChat()')
      await page.evaluate('listeners.misbehave()')
      await sleep(200)
      const { counts } = await seen(page)
      await until(() =>
        hasAll(counts, ['change', 'chat too', 'flash', 'draw', 'stepped']).then(
          async (isDone) => isDone && (await seen(page)).errors.length >= 4,
        ),
      )
      const last = await seen(page)
      expect(last.counts.chat, 'a listener that was removed is not called').toBe(counts.chat)
      expect(last.counts.boom, 'a handler that was removed is not called').toBe(counts.boom)
      expect(last.errors).toEqual(['draw', 'input', 'on(Chat)', 'view.on(change, Walker)'])
    } finally {
      await serving.close()
    }
  },
)
