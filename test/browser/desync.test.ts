/** Desyncs of real pages: one bit of a live world is flipped, and a step differs. */

import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import type { DesyncFinding, DesyncReport } from 'tickwire/lockstep'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { browserTest } from './browser-test.ts'

let folder = ''
const GAME = new URL('../sim/lockstep-game.ts', import.meta.url)
const VECTOR = new URL('../vectors/replay.twr', import.meta.url)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-desync-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/desync-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'),
    bundle: true, format: 'iife', globalName: 'match', conditions: ['tickwire-source'], minify: true, sourcemap: true,
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="/match.js"></script>')
})
afterAll(async () => {
  await endPrograms()
  rmSync(folder, { recursive: true, force: true })
})

interface Seen {
  readonly reports: DesyncReport[]
  readonly hashes: string[]
  readonly tick: number
  readonly isOver: boolean
}

browserTest('[DESYNC1, DESYNC4, DESYNC5] pages name a flipped bit and a wrong line, and heal', async (browser) => {
  const reports = join(folder, 'reports')
  const server = new URL('../contract/lockstep-server-process.ts', import.meta.url)
  const program = new Program(server, [folder, '-', reports])
  const [, http = ''] = await program.says(/http (\S+) udp (\S+)/)
  const pages = await Promise.all([0, 1, 2].map(async () => {
    const page = await browser.newPage()
    await page.goto(http)
    return page
  }))
  const players: number[] = []
  for (const page of pages) players.push(await page.evaluate(`match.join(${JSON.stringify(http)})`) as number)
  for (const page of pages) expect(await page.evaluate('match.give()')).toBe('sent')
  const [good, bad] = pages
  await good!.waitForFunction('match.look().tick > 30')
  const changed = await bad!.evaluate('match.corrupt()') as { id: number; before: number; after: number }
  await good!.waitForFunction('match.look().reports.length > 0')
  const first = (await good!.evaluate('match.look()') as Seen).reports[0]!
  expect(first).toMatchObject({ verdict: 'majority', diverged: [{ player: players[1], outcome: 'healed' }] })
  const { differences, trace, healMs } = first.diverged[0]!.finding as DesyncFinding
  expect(differences[0]).toMatchObject({ in: 'field', entity: 'Unit', id: changed.id, field: 'hp' })
  expect(differences[0]!.values![0]).toBe(String(changed.after))
  expect(trace).toMatchObject({ kind: 'outside' })
  expect(healMs).toBeLessThan(5000)
  expect(first.players.every(({ machine }) => machine.includes('Chrome'))).toBe(true)
  const [file = ''] = readdirSync(reports)
  expect(file).toBe(`desync_report_${first.seed}_${first.tick}.json`)
  const stored = JSON.parse(readFileSync(join(reports, file), 'utf8')) as DesyncReport
  expect(stored.orderLogExcerpt.length).toBeGreaterThan(10)

  await bad!.evaluate('match.goWrong()')
  await good!.waitForFunction('match.look().reports.length >= 2', undefined, { timeout: 60_000 })
  const second = (await good!.evaluate('match.look()') as Seen).reports[1]!
  const { trace: found } = second.diverged[0]!.finding as DesyncFinding
  expect(found).toMatchObject({ kind: 'write', own: { entity: 'Unit', field: 'hp' } })
  const lines = readFileSync(GAME, 'utf8').split('\n')
  const line = 1 + lines.findIndex((text) => text.includes('unit.hp = Math.max(0, unit.hp - 1 - impure(world.tick))'))
  for (const { site } of [found!.own!, found!.theirs!]) {
    expect(site!.file).toMatch(/lockstep-game\.ts$/)
    expect(site!.line).toBe(line)
  }
  const looks = await Promise.all(pages.map((page) => page.evaluate('match.look()') as Promise<Seen>))
  expect(looks.map(({ isOver }) => isOver)).toEqual([false, false, false])
})

browserTest('[SEAL5] a page seeks in a recording, both ways, and plays it 16 times as fast', async (browser) => {
  copyFileSync(fileURLToPath(VECTOR), join(folder, 'replay.twr'))
  const recording = openRecording(sourceOf(new Uint8Array(readFileSync(VECTOR))))
  if (typeof recording === 'string') throw new Error(recording)
  const { seals } = new MatchFile(recording)
  const roots = new Map(seals.flatMap(({ seal }) => seal.roots).map(({ tick, root }) => [tick, root]))
  const program = new Program(new URL('../contract/lockstep-server-process.ts', import.meta.url), [folder])
  const [, http = ''] = await program.says(/http (\S+) udp (\S+)/)
  const page = await browser.newPage()
  await page.goto(http)
  expect(await page.evaluate('match.watch("/replay.twr")')).toBe(1016)
  for (const tick of [960, 120, 930, 30]) {
    const { isThere, low, high } = await page.evaluate(`match.seek(${tick})`) as Record<string, unknown>
    expect({ isThere, low, high }, `tick ${tick}`).toEqual({ isThere: true, ...roots.get(tick) })
  }
  // A busy machine draws too seldom for the whole speed: it is reached in one of several seconds.
  const speed = async (): Promise<number> => {
    await page.evaluate('match.seek(30)')
    return await page.evaluate('match.fastForward(16, 1000)') as number
  }
  await expect.poll(speed, { timeout: 60_000 }).toBeGreaterThan(12)
})
