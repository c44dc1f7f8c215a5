/** What the tests of transports share: a server, pages that join its match, and what they see. */

import { tmpdir } from 'node:os'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { serve, type ServeOptions, type Serving } from 'tickwire/node'
import type { ConnectOptions } from 'tickwire/browser'
import { loadDataChannelProvider } from '../../packages/tickwire/src/node/webrtc-datachannel.ts'
import { loadWeriftProvider } from '../../packages/tickwire/src/node/webrtc-werift.ts'
import { loadQuicheProvider } from '../../packages/tickwire/src/node/webtransport-quiche.ts'
import { game } from '../browser-pages/match-page.ts'
import { freeUdpPort, UdpRelay } from './udp-relay.ts'

export const PAGE = fileURLToPath(new URL('../browser-pages/match-page.ts', import.meta.url))
/** As strict as a page can be. */
export const POLICY = `default-src 'self'`

export interface Seen {
  readonly xs: number[]
  readonly peer: number
  readonly transport: string
  readonly reason: string
  readonly transports: string[]
}

export const quiche = loadQuicheProvider()
export const webRtc = loadDataChannelProvider() ?? loadWeriftProvider()
export let folder = ''
export const open: (() => Promise<void> | void)[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-page-'))
  await build({
    entryPoints: [PAGE],
    outfile: join(folder, 'match.js'),
    bundle: true,
    // Minified, because thirty pages parse it.
    minify: true,
    format: 'iife',
    globalName: 'match',
    conditions: ['tickwire-source'],
  })
  const head = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`
  writeFileSync(join(folder, 'index.html'), `${head}<script src="/match.js"></script>`)
  // The UDP relay has another port, which that policy forbids.
  writeFileSync(join(folder, 'loose.html'), '<!doctype html><script src="/match.js"></script>')
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export async function start(options: ServeOptions = {}): Promise<Serving> {
  const serving = await serve(game, { port: 0, static: folder, log: () => {}, ...options })
  open.push(() => serving.close())
  return serving
}

/** A server whose WebTransport is reached through a relay. There is no WebRTC. */
export async function startBehindRelay(options: ServeOptions = {}): Promise<{ serving: Serving; relay: UdpRelay }> {
  const port = await freeUdpPort()
  const relay = await UdpRelay.open(port)
  open.push(() => relay.close())
  return {
    serving: await start({ webtransport: { port, announcePort: relay.port }, webrtc: false, ...options }),
    relay,
  }
}

/** A page of the server's own, unless another is named, that has joined. */
export async function play(
  browser: Browser,
  serving: Serving,
  options: ConnectOptions = {},
  at: string = serving.url,
): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(at)
  expect(await joinMatch(page, serving.url, options)).toBeTypeOf('number')
  return page
}

export async function joinMatch(page: Page, url: string, options: ConnectOptions = {}): Promise<number | string> {
  return (await page.evaluate(`match.join(${JSON.stringify(url)}, ${JSON.stringify(options)})`)) as number | string
}

export async function look(page: Page): Promise<Seen> {
  return (await page.evaluate('match.look()')) as Seen
}

export async function until(isTrue: () => boolean | Promise<boolean>, msMax = 90_000): Promise<void> {
  const deadline = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A number once it has stopped changing. */
export async function settled(read: () => Promise<number>): Promise<number> {
  for (let before = NaN; ;) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const value = await read()
    if (value === before) return value
    before = value
  }
}

/** Both pages see both players, and one sees the other walk. */
export async function shareMatch(first: Page, second: Page): Promise<void> {
  for (const page of [first, second]) await until(async () => (await look(page)).xs.length === 2)
  await first.evaluate('match.hold(true)')
  await until(async () => Math.max(...(await look(second)).xs) > 20)
  await first.evaluate('match.hold(false)')
}
