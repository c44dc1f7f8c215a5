/** One match over every transport of a page: each of them, the fallbacks between them, and the way back up. */

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineGame, entity, u8 } from 'tickwire'
import { issueToken, replayTrace, SpentTokens, tokenToText, type TraceEntry } from 'tickwire/engine'
import { bestProvider, serve } from 'tickwire/node'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import { game, Walker } from '../browser-pages/match-page.ts'
import { form } from '../form.ts'
import { browserTest } from './browser-test.ts'
import { freeUdpPort } from './udp-relay.ts'
import {
  quiche,
  webRtc,
  folder,
  open,
  start,
  startBehindRelay,
  play,
  joinMatch,
  look,
  until,
  settled,
  shareMatch,
} from './transports-stage.ts'

for (const transport of ['webtransport', 'webrtc', 'websocket'] as const) {
  const isHere = transport === 'websocket' || (transport === 'webrtc' ? webRtc : quiche) !== undefined
  const name = `[LADDER1] two pages share a match over ${transport}, under the strictest content policy`
  if (!isHere) test(name, ({ skip }) => skip(`no provider of ${transport} is installed here`))
  else {
    browserTest(name, async (browser) => {
      const serving = await start()
      const [first, second] = [
        await play(browser, serving, { transports: [transport] }),
        await play(browser, serving, { transports: [transport] }),
      ]
      await shareMatch(first, second)
      expect([(await look(first)).transport, (await look(second)).transport]).toEqual([transport, transport])
      const prefix = { webtransport: 'wt:', webrtc: 'rtc:', websocket: 'ws:' }[transport]
      expect(serving.host.endpoint.connections.map(({ address }) => address.startsWith(prefix))).toEqual([true, true])
    })
  }
}

if (webRtc === undefined)
  test('[LADDER1] WebRTC over one port', ({ skip }) => skip('no provider of webrtc is installed here'))
else {
  browserTest(
    '[LADDER1] all data channels share one given UDP port, at the announced address',
    async (browser) => {
      const port = await freeUdpPort()
      const serving = await start({ webrtc: { ports: [port, port], announce: ['127.0.0.1'] } })
      const pages = [
        await play(browser, serving, { transports: ['webrtc'] }),
        await play(browser, serving, { transports: ['webrtc'] }),
      ] as const
      await shareMatch(...pages)
      expect(serving.host.endpoint.connections.map(({ address }) => serving.ports.originOf(address))).toEqual([
        '127.0.0.1',
        '127.0.0.1',
      ])
    },
  )
}

browserTest(
  '[LADDER2] a page takes the best transport by itself, and plays with one that uses another',
  async (browser) => {
    const serving = await start()
    const first = await play(browser, serving)
    const second = await play(browser, serving, { transports: ['websocket'] })
    await shareMatch(first, second)
    const seen = await look(first)
    const best = quiche !== undefined ? 'webtransport' : webRtc !== undefined ? 'webrtc' : 'websocket'
    await until(async () => (await look(first)).transport === best)
    if (quiche !== undefined) expect(seen.reason).toBe('the best there is')
  },
)

browserTest(
  '[LADDER3] without providers the page learns which and why, and plays over WebSocket',
  async (browser) => {
    const serving = await start({ webtransport: false, webrtc: false })
    const page = await play(browser, serving)
    expect(await look(page)).toMatchObject({
      transport: 'websocket',
      reason: 'webtransport: it is turned off on this server; webrtc: it is turned off on this server',
    })
  },
)

if (quiche !== undefined) {
  const installed = quiche

  browserTest(
    '[LADDER4] where UDP is blocked the match begins before that is known; the reason is reported later',
    async (browser) => {
      const { serving, relay } = await startBehindRelay()
      relay.isCut = true
      const page = await browser.newPage()
      await page.goto(`${serving.url}/loose.html`)
      expect(await joinMatch(page, serving.url)).toBeTypeOf('number')
      // It plays while the blocked transport is still opening.
      expect(await look(page)).toMatchObject({
        transport: 'websocket',
        reason: expect.stringContaining('webtransport: still opening'),
      })
      await until(async () => (await look(page)).reason.includes('did not open within 2 s'))
    },
  )

  browserTest('[LADDER4] a certificate that differs from the announced one is refused', async (browser) => {
    const provider = {
      ...installed,
      listen: (options: Parameters<typeof installed.listen>[0]) =>
        installed.listen({ ...options, certificate: makeCertificate(Date.now()) }),
    }
    const serving = await start({ webtransport: { provider }, webrtc: false })
    const page = await play(browser, serving)
    expect((await look(page)).transport).toBe('websocket')
    await until(async () => (await look(page)).reason.includes('webtransport: '))
  })

  browserTest(
    '[LADDER5] a handshake ends on the path where it began, whatever opens meanwhile; then it climbs',
    async (browser) => {
      const { serving, relay } = await startBehindRelay({ weather: { latencyMs: 120, jitterMs: 0, loss: 0 } })
      for (const delayMs of [40, 70, 100]) {
        relay.delayMs = delayMs
        const page = await play(browser, serving, {}, `${serving.url}/loose.html`)
        await until(async () => (await look(page)).transport === 'webtransport')
        expect(
          serving.rooms.endpoint.admissionDrops.cookie,
          'no handshake was split over two paths',
        ).toBe(0)
        await page.close()
      }
    },
  )

  browserTest(
    '[LADDER5] a match climbs when a better path opens and falls when it is cut, with session and keys kept',
    async (browser) => {
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
    },
  )
}

if (quiche !== undefined) {
  browserTest(
    '[LADDER5] a router that gives a player another port costs neither session nor seat',
    async (browser) => {
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
    },
  )
}

browserTest(
  '[LADDER10] a page that slept continues with the current match; while it is hidden, its input is empty',
  async (browser) => {
    const serving = await start()
    const page = await play(browser, serving)
    const { peer } = await look(page)
    await page.evaluate('match.hold(true)')
    await until(async () => Math.max(...(await look(page)).xs) > 15)
    await page.evaluate(`{ const end = performance.now() + ${form(2000, 4000)}; while (performance.now() < end); }`)
    const x = Math.max(...(await look(page)).xs)
    await until(async () => Math.max(...(await look(page)).xs) > x + 5)
    expect((await look(page)).peer).toBe(peer)
    expect(serving.host.peers.length).toBe(1)

    await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`)
    const there = await settled(async () => Math.max(...(await look(page)).xs))
    await page.evaluate(`delete document.hidden`)
    await until(async () => Math.max(...(await look(page)).xs) > there + 5)
  },
)

browserTest(
  '[DEV10] the trace of a page, played into a fresh client without a page, gives the same client',
  async (browser) => {
    const serving = await start()
    const page = await browser.newPage()
    await page.goto(serving.url)
    expect(await page.evaluate(`match.joinTraced(${JSON.stringify(serving.url)})`)).toBeTypeOf('number')
    await page.evaluate('match.hold(true)')
    await until(async () => Math.max(...(await look(page)).xs) > 15)
    const { entries, ...there } = (await page.evaluate('match.traced()')) as {
      entries: string
      received: number
      predicted: number
      x: number
    }
    const read = JSON.parse(entries, (_name, value: { bytes?: unknown } | null) =>
      value !== null && Array.isArray(value.bytes) && Object.keys(value).length === 1
        ? Uint8Array.from(value.bytes)
        : value,
    ) as TraceEntry[]
    const { predictor, insides } = replayTrace(game, read, { isPage: true })
    const [own] = predictor!.world.each(Walker)
    expect({ received: insides.snapshots.tick, predicted: predictor!.tick, x: own!.x }).toEqual(there)
  },
)

const lan = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address
if (lan === undefined)
  test('[LADDER6] a page by plain http from the network', ({ skip }) => skip('this machine has no address but its own'))
else {
  browserTest(
    '[LADDER6] a page by plain http gets the transports it may use, and the reason for no better one',
    async (browser) => {
      const serving = await start()
      const url = serving.url.replace('localhost', lan)
      const page = await browser.newPage()
      await page.goto(url)
      expect(await joinMatch(page, url)).toBeTypeOf('number')
      if (webRtc !== undefined) await until(async () => (await look(page)).transport === 'webrtc')
      expect((await look(page)).reason).toContain(
        'webtransport: browsers allow it only to pages from https or localhost',
      )
    },
  )
}

browserTest(
  '[LADDER7] a page of another origin is refused on every transport unless its origin is allowed',
  async (browser) => {
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
    const refusal = await joinMatch(page, closed.url)
    expect(refusal).toContain(`does not allow pages of ${origin}. Fix: serve(game, { origins: ['${origin}'] })`)
    const allowing = await start({ origins: [origin] })
    for (const transport of [
      'websocket',
      ...(webRtc === undefined ? [] : ['webrtc' as const]),
      ...(quiche === undefined ? [] : ['webtransport' as const]),
    ] as const) {
      const guest = await play(browser, allowing, { transports: [transport] }, origin)
      expect((await look(guest)).transport).toBe(transport)
    }
  },
)

browserTest("[LADDER8] a page that knows the server's identity plays with no other server", async (browser) => {
  const serving = await start()
  const other = await start()
  const received = await play(browser, serving, { server: serving.info.identity })
  expect(await received.evaluate('match.security()')).toEqual({
    identity: 'verified',
    suite: expect.stringContaining('ChaCha20'),
  })
  const unverified = await play(browser, serving)
  expect(await unverified.evaluate('match.security()'), 'a page by http without a key reports it').toMatchObject({
    identity: 'unverified',
  })
  const page = await browser.newPage()
  await page.goto(serving.url)
  expect(await joinMatch(page, serving.url, { server: other.info.identity })).toContain('is not the expected one')
})

browserTest('[SERVE4, BACK3] a page of another build learns which side is older', async (browser) => {
  const other = defineGame({ ...game, entities: [Walker, entity({ hue: u8 })] })
  const older = await serve(other, { port: 0, static: folder, log: () => {} })
  open.push(() => older.close())
  const page = await browser.newPage()
  await page.goto(older.url)
  const refusal = await joinMatch(page, older.url, { retryMs: 0 })
  expect(refusal).toContain('different builds of the game. The server is older. Fix: restart the server.')
  await older.close()
  const newer = await serve(other, { port: Number(new URL(older.url).port), log: () => {} })
  open.push(() => newer.close())
  expect(await joinMatch(page, newer.url)).toContain('The client is older. Fix: reload the page')
})

browserTest(
  "[LADDER8] a page sends its player's token, and without a valid one it learns why",
  async (browser) => {
    const provider = bestProvider()
    const issuer = provider.importSigning(randomBytes(32))
    const identity = randomBytes(32)
    const wallSeconds = (): number => Math.floor(Date.now() / 1000)
    const serving = await start({
      security: {
        identity,
        tokens: { issuers: [issuer.publicKey], audience: 'test', spent: new SpentTokens(wallSeconds()), wallSeconds },
      },
    })
    const token = tokenToText(
      issueToken(provider, issuer, {
        server: provider.importSigning(identity).publicKey,
        id: randomBytes(16),
        issuedAt: wallSeconds(),
        expiresAt: wallSeconds() + 60,
        audience: 'test',
        user: new Uint8Array(0),
      }),
    )
    const bearer = await play(browser, serving, { token })
    expect(await bearer.evaluate('match.security()'), 'a token names its server').toMatchObject({
      identity: 'verified',
    })
    const page = await browser.newPage()
    await page.goto(serving.url)
    expect(await joinMatch(page, serving.url)).toContain('the token is not valid here')
    expect(await joinMatch(page, serving.url, { token })).toContain('the token is not valid here')
  },
)
