/** The contract of transports, kept by the three ports of a real browser against the ports of this Node. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import type { WebRtcProvider, WebTransportProvider } from '../../packages/tickwire/src/node/providers.ts'
import { SessionPort } from '../../packages/tickwire/src/node/session-port.ts'
import { loadDataChannelProvider } from '../../packages/tickwire/src/node/webrtc-datachannel.ts'
import { loadWeriftProvider } from '../../packages/tickwire/src/node/webrtc-werift.ts'
import { listenWebSocket } from '../../packages/tickwire/src/node/websocket.ts'
import { loadQuicheProvider } from '../../packages/tickwire/src/node/webtransport-quiche.ts'
import { BROWSER_ADVICE, findBrowser, launchBrowser } from '../browser/browser.ts'
import { PortPage, type PortKind } from '../browser/remote-port.ts'
import { freeUdpPort, UdpRelay } from '../browser/udp-relay.ts'
import { describeTransport, type TransportLab } from './transport.contract.ts'

/** The server side of a transport. */
interface Serving {
  readonly port: DatagramPort
  readonly url: string
  readonly hashes?: readonly Uint8Array[]
  answer?(offer: string): Promise<string>
  close(): Promise<void>
}

let browser: Browser
/** One page for all labs, because a new page takes longer than most tests. Each lab loads it again. */
let page: Page

async function lab(kind: PortKind, start: (http: Server, number: number) => Promise<Serving>): Promise<TransportLab> {
  let serving: Serving | undefined
  const http = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')
    let offer = ''
    for await (const chunk of request) offer += String(chunk)
    response.end(await serving?.answer?.(offer))
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port: number } = http.address() as AddressInfo
  const { port, url, hashes, close } = serving = await start(http, number)
  await page.goto(`http://127.0.0.1:${number}/`)
  const ports = await PortPage.furnish(page)
  return {
    server: port,
    openClient: async () => ({ port: await ports.open(kind, url, hashes), serverAddress: url }),
    until: async (isDone) => {
      for (let waited = 0; !isDone() && waited < 20_000; waited += 2) await sleep(2)
    },
    close: async () => {
      await page.goto('about:blank')
      port.close()
      await close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

function webRtcLab(provider: WebRtcProvider): Promise<TransportLab> {
  return lab('webrtc', async (_http, number) => {
    const port = new SessionPort('rtc:', 16)
    const listener = provider.listen({ onSession: (session) => port.adopt(session) })
    return {
      port,
      url: `http://127.0.0.1:${number}/rtc`,
      answer: (offer) => listener.answer(offer, '127.0.0.1'),
      close: () => listener.close(),
    }
  })
}

/** The session of a page whose router has forgotten it. */
function testRebinding(provider: WebTransportProvider): void {
  test('[WT5] a page whose port changes again and again loses packets only, not its session', async () => {
    const number = await freeUdpPort()
    const relay = await UdpRelay.open(number)
    const session = await lab('webtransport', async () => {
      const port = new SessionPort('wt:', 16)
      const certificate = makeCertificate(Date.now())
      const listener = await provider.listen({
        port: number,
        address: '127.0.0.1',
        certificate,
        path: '/tickwire',
        maxSessions: 16,
        isAllowedOrigin: () => true,
        onSession: (opened) => port.adopt(opened),
      })
      return {
        port,
        url: `https://127.0.0.1:${relay.port}/tickwire`,
        hashes: [certificate.hash],
        close: () => listener.close(),
      }
    })
    const received: string[] = []
    session.server.onDatagram = (from, bytes, length) => {
      received.push(`${from} ${bytes[0]}`)
      session.server.send(from, bytes, length)
    }
    const { port, serverAddress } = await session.openClient()
    const knock = setInterval(() => port.send(serverAddress, Uint8Array.of(7), 1), 50)
    // Again and again: the state of former ports must not disturb the next.
    for (let round = 1; round <= 8; round++) {
      relay.rebind()
      const before = received.length
      await session.until(() => received.length >= before + 5)
      expect(received.length, `after ${round} other ports`).toBeGreaterThanOrEqual(before + 5)
    }
    clearInterval(knock)
    expect(new Set(received)).toEqual(new Set(['wt:1 7']))
    await session.close()
    relay.close()
  })
}

const isHere = findBrowser() !== undefined
const quiche = loadQuicheProvider()
const dataChannel = loadDataChannelProvider()
const werift = loadWeriftProvider()

function describeWebTransport(provider: WebTransportProvider): void {
  describeTransport(
    `[PORT1, PORT2, PORT3, PORT4, PORT5] WebTransport with ${provider.name}`,
    () =>
      lab('webtransport', async () => {
        const port = new SessionPort('wt:', 16)
        const certificate = makeCertificate(Date.now())
        const listener = await provider.listen({
          port: 0,
          address: '127.0.0.1',
          certificate,
          path: '/tickwire',
          maxSessions: 16,
          isAllowedOrigin: () => true,
          onSession: (session) => port.adopt(session),
        })
        return {
          port,
          url: `https://127.0.0.1:${listener.port}/tickwire`,
          hashes: [certificate.hash],
          close: () => listener.close(),
        }
      }),
    true,
  )
}

describe.runIf(isHere)('in a browser', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage()
  })
  afterAll(async () => await browser.close())

  describeTransport('[PORT1, PORT2, PORT3, PORT4, PORT5] WebSocket', () => lab('websocket', async (server, number) => ({
    port: listenWebSocket({ server }), url: `ws://127.0.0.1:${number}/tickwire`, close: async () => {},
  })), true)

  test('[LADDER9] to a server that does not read, a page drops what would wait', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
    )
    const upgrader = new WebSocketServer({ server })
    upgrader.on('connection', (socket) => socket.pause())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port: number } = server.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${number}/`)
    const ports = await PortPage.furnish(page)
    const url = `ws://127.0.0.1:${number}/`
    await ports.open('websocket', url)
    const { congested, sent } = await ports.flood(url, 50_000)
    expect(congested).toBe(1)
    expect(sent).toBeGreaterThan(0)
    await page.goto('about:blank')
    upgrader.close()
    for (const socket of upgrader.clients) socket.terminate()
    server.close()
  })

  if (quiche !== undefined) {
    describeWebTransport(quiche)
    testRebinding(quiche)
  }

  if (dataChannel !== undefined) {
    describeTransport(
      `[PORT1, PORT2, PORT3, PORT4, PORT5, RTC3] WebRTC with ${dataChannel.name}`,
      () => webRtcLab(dataChannel),
      true,
    )
  }

  if (werift !== undefined) {
    describeTransport(
      `[PORT1, PORT2, PORT3, PORT4, PORT5, RTC3] WebRTC with ${werift.name}`,
      () => webRtcLab(werift),
      true,
    )
  }
})

/** What could not be tried, and what to do. */
const absent: readonly (readonly [string, boolean, string])[] = [
  ['a browser', isHere, BROWSER_ADVICE], ['WebTransport', quiche !== undefined, 'npm install @matrixai/quic'],
  ['WebRTC', dataChannel !== undefined && werift !== undefined, 'npm install node-datachannel werift'],
]
for (const [what, isThere, advice] of absent) {
  test.skipIf(isThere)(`${what} is not here: its contract was not tried. Fix: ${advice}`, ({ skip }) => skip(advice))
}
