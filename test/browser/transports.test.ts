/** One match over every transport a page may have: each of them, the falls between them, and the way back up. */

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defineGame, entity, issueToken, replayTrace, SpentTokens, tokenToText, u8, type TraceEntry } from 'tickwire'
import { bestProvider, serve, type ServeOptions, type Serving } from 'tickwire/node'
import type { ConnectOptions } from 'tickwire/browser'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import { loadDataChannelProvider } from '../../packages/tickwire/src/node/webrtc-datachannel.ts'
import { loadWeriftProvider } from '../../packages/tickwire/src/node/webrtc-werift.ts'
import { loadQuicheProvider } from '../../packages/tickwire/src/node/webtransport-quiche.ts'
import { game, Walker } from '../browser-pages/match-page.ts'
import { browserTest } from './browser-test.ts'
import { freeUdpPort, UdpRelay } from './udp-relay.ts'

const PAGE = fileURLToPath(new URL('../browser-pages/match-page.ts', import.meta.url))
/** As strict as a page can be. */
const POLICY = `default-src 'self'`

interface Seen {
  readonly xs: number[]
  readonly peer: number
  readonly transport: string
  readonly reason: string
  readonly transports: string[]
}

const quiche = loadQuicheProvider()
const webRtc = loadDataChannelProvider() ?? loadWeriftProvider()
let folder = ''
const open: (() => Promise<void> | void)[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-page-'))
  await build({
    entryPoints: [PAGE], outfile: join(folder, 'match.js'), bundle: true, format: 'iife', globalName: 'match', conditions: ['tickwire-source'],
  })
  const head = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`
  writeFileSync(join(folder, 'index.html'), `${head}<script src="/match.js"></script>`)
  // A relay is another port, which that policy forbids.
  writeFileSync(join(folder, 'loose.html'), '<!doctype html><script src="/match.js"></script>')
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(options: ServeOptions = {}): Promise<Serving> {
  const serving = await serve(game, { port: 0, static: folder, log: () => {}, ...options })
  open.push(() => serving.close())
  return serving
}

/** A server whose WebTransport is reached through a relay. There is no WebRTC. */
async function startBehindRelay(options: ServeOptions = {}): Promise<{ serving: Serving; relay: UdpRelay }> {
  const port = await freeUdpPort()
  const relay = await UdpRelay.open(port)
  open.push(() => relay.close())
  return { serving: await start({ webtransport: { port, announcePort: relay.port }, webrtc: false, ...options }), relay }
}

/** A page of the server's own, unless another is named, that has joined. */
async function play(browser: Browser, serving: Serving, options: ConnectOptions = {}, at: string = serving.url): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(at)
  expect(await joinMatch(page, serving.url, options)).toBeTypeOf('number')
  return page
}

async function joinMatch(page: Page, url: string, options: ConnectOptions = {}): Promise<number | string> {
  return await page.evaluate(`match.join(${JSON.stringify(url)}, ${JSON.stringify(options)})`) as number | string
}

async function look(page: Page): Promise<Seen> {
  return await page.evaluate('match.look()') as Seen
}

async function until(isTrue: () => boolean | Promise<boolean>, msMax = 90_000): Promise<void> {
  const deadline = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`still not true after ${msMax} ms: ${isTrue}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A number once it has stopped changing. */
async function settled(read: () => Promise<number>): Promise<number> {
  for (let before = NaN; ;) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const value = await read()
    if (value === before) return value
    before = value
  }
}

/** Both pages see both, and one sees the other walk. */
async function shareMatch(first: Page, second: Page): Promise<void> {
  for (const page of [first, second]) await until(async () => (await look(page)).xs.length === 2)
  await first.evaluate('match.hold(true)')
  await until(async () => Math.max(...(await look(second)).xs) > 20)
  await first.evaluate('match.hold(false)')
}

for (const transport of ['webtransport', 'webrtc', 'websocket'] as const) {
  const isHere = transport === 'websocket' || (transport === 'webrtc' ? webRtc : quiche) !== undefined
  const name = `[LADDER1] two pages share a match over ${transport}, under the strictest content policy`
  if (!isHere) test(name, ({ skip }) => skip(`no provider of ${transport} is installed here`))
  else {
    browserTest(name, async (browser) => {
      const serving = await start()
      const [first, second] = [await play(browser, serving, { transports: [transport] }), await play(browser, serving, { transports: [transport] })]
      await shareMatch(first, second)
      expect([(await look(first)).transport, (await look(second)).transport]).toEqual([transport, transport])
      const prefix = { webtransport: 'wt:', webrtc: 'rtc:', websocket: 'ws:' }[transport]
      expect(serving.host.endpoint.connections.map(({ address }) => address.startsWith(prefix))).toEqual([true, true])
    })
  }
}

if (webRtc === undefined) test('[LADDER1] WebRTC over one port', ({ skip }) => skip('no provider of webrtc is installed here'))
else {
  browserTest('[LADDER1] all data channels go over one UDP port where one is given, at the address that is announced', async (browser) => {
    const port = await freeUdpPort()
    const serving = await start({ webrtc: { ports: [port, port], announce: ['127.0.0.1'] } })
    const pages = [await play(browser, serving, { transports: ['webrtc'] }), await play(browser, serving, { transports: ['webrtc'] })] as const
    await shareMatch(...pages)
    expect(serving.host.endpoint.connections.map(({ address }) => serving.ports.originOf(address))).toEqual(['127.0.0.1', '127.0.0.1'])
  })
}

browserTest('[LADDER2] a page takes the best rung by itself, and plays with one that came by another', async (browser) => {
  const serving = await start()
  const first = await play(browser, serving)
  const second = await play(browser, serving, { transports: ['websocket'] })
  await shareMatch(first, second)
  const seen = await look(first)
  const best = quiche !== undefined ? 'webtransport' : webRtc !== undefined ? 'webrtc' : 'websocket'
  await until(async () => (await look(first)).transport === best)
  if (quiche !== undefined) expect(seen.reason).toBe('the best there is')
})

browserTest('[LADDER3] where no provider is there, the page is told which and why, and plays over WebSocket', async (browser) => {
  const serving = await start({ webtransport: false, webrtc: false })
  const page = await play(browser, serving)
  expect(await look(page)).toMatchObject({
    transport: 'websocket',
    reason: 'webtransport: it is turned off on this server; webrtc: it is turned off on this server',
  })
})

if (quiche !== undefined) {
  browserTest('[LADDER4] where UDP is blocked the match begins before that is known, and then the reason is told', async (browser) => {
    const { serving, relay } = await startBehindRelay()
    relay.isCut = true
    const page = await browser.newPage()
    await page.goto(`${serving.url}/loose.html`)
    expect(await joinMatch(page, serving.url)).toBeTypeOf('number')
    // It plays while the blocked rung is still hoped for.
    expect(await look(page)).toMatchObject({ transport: 'websocket', reason: expect.stringContaining('webtransport: still opening') })
    await until(async () => (await look(page)).reason.includes('did not open within 2 s'))
  })

  browserTest('[LADDER4] a certificate that is not the one that was told is no certificate', async (browser) => {
    const provider = { ...quiche, listen: (options: Parameters<typeof quiche.listen>[0]) => quiche.listen({ ...options, certificate: makeCertificate(Date.now()) }) }
    const serving = await start({ webtransport: { provider }, webrtc: false })
    const page = await play(browser, serving)
    expect((await look(page)).transport).toBe('websocket')
    await until(async () => (await look(page)).reason.includes('webtransport: '))
  })

  browserTest('[LADDER5] a handshake is finished on the path where it was begun, whatever opens meanwhile; then the match climbs', async (browser) => {
    const { serving, relay } = await startBehindRelay({ weather: { latencyMs: 120, jitterMs: 0, loss: 0 } })
    for (const delayMs of [40, 70, 100]) {
      relay.delayMs = delayMs
      const page = await play(browser, serving, {}, `${serving.url}/loose.html`)
      await until(async () => (await look(page)).transport === 'webtransport')
      expect(serving.rooms.endpoint.admissionDrops.cookie, 'nobody was asked on one path and answered on another').toBe(0)
      await page.close()
    }
  })

  browserTest('[LADDER5] a match climbs when a better way opens and falls when it is cut, with session and keys kept', async (browser) => {
    const { serving, relay } = await startBehindRelay()
    relay.isCut = true
    const page = await play(browser, serving, {}, `${serving.url}/loose.html`)
    const before = await look(page)
    expect(before.transport).toBe('websocket')
    const [connection] = serving.host.endpoint.connections
    await page.evaluate('match.hold(true)')

    relay.isCut = false
    await until(async () => {
      await page.evaluate('match.climb()')
      return (await look(page)).transport === 'webtransport' && connection!.address.startsWith('wt:')
    })
    relay.isCut = true
    await until(async () => (await look(page)).transport === 'websocket' && connection!.address.startsWith('ws:'))
    const x = Math.max(...(await look(page)).xs)
    await until(async () => Math.max(...(await look(page)).xs) > x + 5)

    expect((await look(page)).peer).toBe(before.peer)
    expect(serving.host.endpoint.connections).toEqual([connection])
    expect(connection!.stats.pathMoves).toBeGreaterThanOrEqual(2)
    expect(serving.host.peers.length).toBe(1)
  })
}

if (quiche !== undefined) {
  browserTest('[LADDER5] a router that gives a player another port costs him neither session nor seat', async (browser) => {
    const { serving, relay } = await startBehindRelay()
    const page = await play(browser, serving, { transports: ['webtransport'] }, `${serving.url}/loose.html`)
    const [connection] = serving.host.endpoint.connections
    await page.evaluate('match.hold(true)')
    for (let round = 0; round < 3; round++) {
      relay.rebind()
      const x = Math.max(...(await look(page)).xs)
      await until(async () => Math.max(...(await look(page)).xs) > x + 10)
    }
    expect(serving.host.endpoint.connections).toEqual([connection])
    expect(serving.host.peers.length).toBe(1)
  })
}

browserTest('[LADDER10] a page that slept goes on where everybody is, and holds nothing while nobody looks', async (browser) => {
  const serving = await start()
  const page = await play(browser, serving)
  const { peer } = await look(page)
  await page.evaluate('match.hold(true)')
  await until(async () => Math.max(...(await look(page)).xs) > 15)
  await page.evaluate('{ const end = performance.now() + 4000; while (performance.now() < end); }')
  const x = Math.max(...(await look(page)).xs)
  await until(async () => Math.max(...(await look(page)).xs) > x + 5)
  expect((await look(page)).peer).toBe(peer)
  expect(serving.host.peers.length).toBe(1)

  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`)
  const there = await settled(async () => Math.max(...(await look(page)).xs))
  await page.evaluate(`delete document.hidden`)
  await until(async () => Math.max(...(await look(page)).xs) > there + 5)
})

browserTest('[DEV10] what a page was handed, played into a fresh client far from any page, gives the same client', async (browser) => {
  const serving = await start()
  const page = await browser.newPage()
  await page.goto(serving.url)
  expect(await page.evaluate(`match.joinTraced(${JSON.stringify(serving.url)})`)).toBeTypeOf('number')
  await page.evaluate('match.hold(true)')
  await until(async () => Math.max(...(await look(page)).xs) > 15)
  const { entries, ...there } = await page.evaluate('match.traced()') as { entries: string; told: number; predicted: number; x: number }
  const read = JSON.parse(entries, (_name, value: { bytes?: unknown } | null) =>
    value !== null && Array.isArray(value.bytes) && Object.keys(value).length === 1 ? Uint8Array.from(value.bytes) : value) as TraceEntry[]
  const { predictor, insides } = replayTrace(game, read, { isPage: true })
  const [own] = predictor!.world.each(Walker)
  expect({ told: insides.snapshots.tick, predicted: predictor!.tick, x: own!.x }).toEqual(there)
})

const lan = Object.values(networkInterfaces()).flat().find((each) => each?.family === 'IPv4' && !each.internal)?.address
if (lan === undefined) test('[LADDER6] a page by plain http from the network', ({ skip }) => skip('this machine has no address but its own'))
else {
  browserTest('[LADDER6] a page by plain http from the network gets the rungs it may have, and is told why not the best', async (browser) => {
    const serving = await start()
    const url = serving.url.replace('localhost', lan)
    const page = await browser.newPage()
    await page.goto(url)
    expect(await joinMatch(page, url)).toBeTypeOf('number')
    if (webRtc !== undefined) await until(async () => (await look(page)).transport === 'webrtc')
    expect((await look(page)).reason).toContain('webtransport: browsers allow it only to pages from https or localhost')
  })
}

browserTest('[LADDER7] a page of another origin is refused on every rung unless its origin is allowed', async (browser) => {
  const script = readFileSync(join(folder, 'match.js'))
  const elsewhere = createServer(({ url }, response) => {
    const isScript = url === '/match.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : '<!doctype html><script src="/match.js"></script>')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, resolve))
  open.push(() => void elsewhere.close())
  const origin = `http://localhost:${(elsewhere.address() as AddressInfo).port}`
  const closed = await start()
  const page = await browser.newPage()
  await page.goto(origin)
  expect(await joinMatch(page, closed.url)).toContain('nobody answers there')
  const allowing = await start({ origins: [origin] })
  for (const transport of ['websocket', ...(webRtc === undefined ? [] : ['webrtc' as const]), ...(quiche === undefined ? [] : ['webtransport' as const])] as const) {
    const guest = await play(browser, allowing, { transports: [transport] }, origin)
    expect((await look(guest)).transport).toBe(transport)
  }
})

browserTest('[LADDER8] a page that knows who the server is plays with nobody else', async (browser) => {
  const serving = await start()
  const other = await start()
  await play(browser, serving, { server: serving.info.identity })
  const page = await browser.newPage()
  await page.goto(serving.url)
  expect(await joinMatch(page, serving.url, { server: other.info.identity })).toContain('not the server that was meant')
})

browserTest('[SERVE4] a page of another build is told to reload', async (browser) => {
  const newer = defineGame({ ...game, entities: [Walker, entity({ hue: u8 })] })
  const serving = await serve(newer, { port: 0, static: folder, log: () => {} })
  open.push(() => serving.close())
  const page = await browser.newPage()
  await page.goto(serving.url)
  expect(await joinMatch(page, serving.url)).toContain('of different builds. Reload the page')
})

browserTest('[LADDER8] a page shows the token that its player was given, and without a good one it is told', async (browser) => {
  const provider = bestProvider()
  const issuer = provider.importSigning(randomBytes(32))
  const identity = randomBytes(32)
  const wallSeconds = (): number => Math.floor(Date.now() / 1000)
  const serving = await start({
    security: { identity, tokens: { issuers: [issuer.publicKey], audience: 'test', spent: new SpentTokens(wallSeconds()), wallSeconds } },
  })
  const token = tokenToText(issueToken(provider, issuer, {
    server: provider.importSigning(identity).publicKey, id: randomBytes(16), issuedAt: wallSeconds(), expiresAt: wallSeconds() + 60,
    audience: 'test', user: new Uint8Array(0),
  }))
  await play(browser, serving, { token })
  const page = await browser.newPage()
  await page.goto(serving.url)
  expect(await joinMatch(page, serving.url)).toContain('the token is not good here')
  expect(await joinMatch(page, serving.url, { token })).toContain('the token is not good here')
})
