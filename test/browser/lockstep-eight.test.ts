/**
 * Eight players in one match: processes of Node by UDP and WebSocket, pages by WebSocket and WebRTC. First through the
 * dedicated program, in bad weather, then hosted by one of them. Then the first match is played locally.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  encodeCard, hosting, LocalFeed, LockstepRunner, relay, type LockstepPlace, type LockstepRoom,
} from 'tickwire/lockstep'
import { connect } from 'tickwire/node'
import { bundlePrograms, type ProgramBundle } from '../bundle-programs.ts'
import { endPrograms, Program } from '../contract/program.ts'
import { form } from '../form.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'
import { browserTest } from './browser-test.ts'

const RELAYED_MS = form(3000, 600_000)
const HOSTED_MS = form(1500, 60_000)
const EVERY_MS = 700
const WEATHER = '25ms,10ms,2%'

let folder = ''
let programs: ProgramBundle | undefined
let server: Server | undefined
let origin = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-eight-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../browser-pages/lockstep-page.ts', import.meta.url))],
    outfile: join(folder, 'match.js'), bundle: true, format: 'iife', globalName: 'match',
    conditions: ['tickwire-source'],
  })
  programs = await bundlePrograms({ tickwire: 'packages/services/src/cli/index.ts' })
  // The match begins when all eight are there.
  writeFileSync(join(folder, 'eight.card.json'), encodeCard({ players: [8, 8], text: game.text }))
  server = createServer(({ url }, response) => {
    const isScript = url === '/match.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? readFileSync(join(folder, 'match.js')) : '<!doctype html><script src="/match.js"></script>')
  })
  await new Promise<void>((resolve) => { server?.listen(0, '127.0.0.1', resolve) })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server?.close()
  await endPrograms()
  programs?.remove()
  rmSync(folder, { recursive: true, force: true })
})

interface NodePlayer {
  readonly room: LockstepRoom<typeof game.orders>
  /** Indexed by tick. */
  readonly hashes: string[]
}

async function enter(where: LockstepPlace): Promise<NodePlayer> {
  const hashes: string[] = []
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  return { room: await connect(game, where, { runner: { onTick } }), hashes }
}

async function until(isTrue: () => boolean | Promise<boolean>, msMax = 60_000): Promise<void> {
  for (const deadline = performance.now() + msMax; !(await isTrue());) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
}

/** All pages join, each by one of the transports in turn. */
async function enterPages(pages: readonly Page[], url: string, rungs: readonly string[]): Promise<void> {
  for (const [at, page] of pages.entries())
    await page.evaluate(`match.join(${JSON.stringify(url)}, ['${rungs[at % rungs.length]}'])`)
}

/** All players give orders for some time. Afterwards all have the same hash after every tick that all have stepped. */
async function playAll(nodes: readonly NodePlayer[], pages: readonly Page[], ms: number): Promise<number> {
  const timers = nodes.map(({ room }, at) => setInterval(() => {
    room.order(Take, { crate: at })
    room.order(Spawn, { count: 1 })
  }, EVERY_MS + 13 * at))
  for (const page of pages) await page.evaluate(`match.giveOften(${EVERY_MS})`)
  await new Promise((resolve) => { setTimeout(resolve, ms) })
  for (const timer of timers) clearInterval(timer)
  const last = Math.min(...nodes.map(({ room }) => room.tick))
  expect(last).toBeGreaterThan(ms * 0.8 * game.tickRate / 1000)
  const [first, ...others] = nodes.map(({ hashes }) => hashes.slice(1, last + 1))
  expect(first!.length).toBe(last)
  for (const hashes of others) expect(hashes).toEqual(first)
  for (const page of pages) {
    await until(async () => (await page.evaluate('match.look().length') as number) >= last)
    expect((await page.evaluate('match.look()') as string[]).slice(0, last)).toEqual(first)
  }
  for (const { room } of nodes) expect(room.players).toHaveLength(8)
  return last
}

async function openPages(browser: Browser): Promise<Page[]> {
  return await Promise.all(Array.from({ length: 4 }, async () => {
    const page = await browser.newPage()
    await page.goto(origin)
    return page
  }))
}

/** The same orders in the same ticks, in a local match, up to the first tick in which a player was away. */
function playLocally({ room, hashes }: NodePlayer, last: number): number {
  const { bytes, seed } = room.played()!
  const ticks = readTicks(bytes)
  const players = ticks[0]!.filter(({ type }) => type === 0xc0).map(({ data }) => Number.parseInt(data, 16))
  expect(players).toHaveLength(8)
  const feed = new LocalFeed({ tickRate: game.tickRate, seed, players })
  const runner = new LockstepRunner(game, feed)
  for (let tick = 1, now = 0; tick <= last; tick++, now += 1000 / game.tickRate) {
    const orders = ticks[tick - 1]!
    if (orders.some(({ player, type }) => player === 0 && (type === 0xc2 || type === 0xc3))) return tick - 1
    // Given after the tick before, in the order of the match. Their times within the window differ.
    orders.filter(({ player }) => player > 0).forEach(({ player, type, data }, at) => {
      const values = Uint8Array.from(data.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
      feed.submit(now - 1000 / game.tickRate + 0.05 * (at + 1), type, values, player)
    })
    runner.update(now)
    expect([runner.tick, `${runner.hash.update()[1]}.${runner.hash.update()[0]}`]).toEqual([tick, hashes[tick]])
  }
  return last
}

browserTest('[LOCK73] eight players by three transports: equal hashes, relayed, hosted, local', async (browser) => {
  const program = new Program(pathToFileURL(join(programs!.folder, 'tickwire.mjs')), [
    'lockstep', '--card', join(folder, 'eight.card.json'), '--port', '0', '--address', '127.0.0.1', '--ops', '0',
    '--origin', origin, '--weather', WEATHER,
  ])
  const [, http = '', udp = ''] = await program.says(/lockstep: http:\/\/localhost:(\d+), UDP (\d+)/)
  const urls = [`udp://127.0.0.1:${udp}`, `http://127.0.0.1:${http}`]
  const pages = await openPages(browser)
  const nodes = await Promise.all([0, 1, 2, 3].map((at) => enter(relay(urls[at % 2]!))))
  await enterPages(pages, urls[1]!, ['websocket', 'webrtc'])
  const transports = await Promise.all(pages.map((page) => page.evaluate('match.state().transport')))
  const all = [...nodes.map(({ room }) => room.transport), ...transports]
  expect(all.toSorted()).toEqual(['udp', 'udp', 'webrtc', 'webrtc', 'websocket', 'websocket', 'websocket', 'websocket'])
  const last = await playAll(nodes, pages, RELAYED_MS)
  expect(playLocally(nodes[0]!, last)).toBeGreaterThan(Math.min(last, 60))
  for (const { room } of nodes) room.leave()
  for (const page of pages) await page.evaluate('match.leave()')

  const host = hosting({ port: 0, address: '127.0.0.1', origins: [origin] })
  const hosted = [await enter(host)]
  for (const url of [host.urls[0]!, host.urls[1]!, host.urls[0]!]) hosted.push(await enter(relay(url)))
  await enterPages(pages, host.urls[1]!, ['websocket'])
  await playAll(hosted, pages, HOSTED_MS)
  hosted[0]!.room.leave()
  await until(() => hosted.every(({ room }) => room.isOver))
}, RELAYED_MS + HOSTED_MS + 180_000)
