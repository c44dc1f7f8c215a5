/** One call, every transport: what is announced, what is refused, what is missing and why. */

import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import Module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { bool, defineGame, entity, fixed, type CloseReason } from 'tickwire'
import { createClientHost, createPortStats, type DatagramPort } from 'tickwire/engine'
import {
  monotonicNow, openUdp, openWebSocket, resolveUdp, serve, systemEntropy, type ServeOptions, type Serving,
} from 'tickwire/node'
import { provide, serveAlone, serveBehindProxy, type LibraryPeer } from '../../docs/guide/examples/transports-serve.ts'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import { findWebRtc, findWebTransport } from '../../packages/tickwire/src/node/providers-search.ts'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const Player = entity({ x: fixed(0, 100, 0.1) })
const game = defineGame({
  tickRate: 60,
  input: { right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
  step() {},
})
const hasWebTransport = 'provider' in findWebTransport()
const webRtc = findWebRtc()

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of open.splice(0).reverse()) await close()
})

async function start(options: ServeOptions = {}): Promise<{ serving: Serving; log: string[] }> {
  const log: string[] = []
  const serving = await serve(game, {
    port: 0, log: ({ level, message }) => log.push(`${level}: ${message}`), ...options,
  })
  open.push(() => serving.close())
  return { serving, log }
}

/** A player on a port of its own, which can be changed during the match. */
function player(port: DatagramPort, address: string): {
  host: ReturnType<typeof createClientHost>; closed: CloseReason[]; move(port: DatagramPort, address: string): void
} {
  const closed: CloseReason[] = []
  const host = createClientHost(game, { entropy: systemEntropy, onClosed: (reason) => closed.push(reason) })
  let [now, to] = [port, address]
  const pump = (): void => {
    host.tick(monotonicNow())
    host.drain(monotonicNow(), { send: (_to, bytes, length) => now.send(to, bytes, length) })
  }
  const attach = (each: DatagramPort): void => {
    each.onDatagram = (_from, bytes, length) => {
      host.handleDatagram(monotonicNow(), 'server', bytes, length)
      pump()
    }
  }
  attach(port)
  host.connect(monotonicNow(), 'server')
  const timer = setInterval(pump, 5)
  open.push(() => clearInterval(timer))
  return { host, closed, move: (next, nextAddress) => { [now, to] = [next, nextAddress]; attach(next) } }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 3000) throw new Error(`never true: ${isTrue}`)
    await sleep(10)
  }
}

function post(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => { text += String(chunk) })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

describe('the announced transports', () => {
  test('[SERVE5] a page learns every transport, its address, and the identity of the server', async () => {
    const { serving } = await start()
    const response = await fetch(`${serving.url}/tickwire/info`)
    const info = await response.json() as typeof serving.info
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { upMs: since, ...now } = JSON.parse(JSON.stringify(serving.info)) as typeof info
    const { upMs, ...announced } = info
    expect(announced).toEqual(now)
    expect(upMs).toBeLessThanOrEqual(since)
    expect(info.websocket).toEqual({ path: '/tickwire' })
    expect(info.udp!.port).toBeGreaterThan(0)
    expect(info.identity).toMatch(/^tickwire-server-public:/)
    if (hasWebTransport) {
      expect(info.webtransport).toMatchObject({ port: Number(new URL(serving.url).port), path: '/tickwire' })
      expect(info.webtransport!.hashes.map((hash) => Buffer.from(hash, 'base64').length)).toEqual([32, 32])
    }
  })

  test('[SERVE5] with a certificate of its own the page is served by https, and no hash is needed', async () => {
    const { serving } = await start({ tls: makeCertificate(Date.now()), udp: false })
    expect(serving.url).toMatch(/^https:/)
    if (hasWebTransport) expect(serving.info.webtransport!.hashes).toEqual([])
    expect(serving.info.missing.udp).toBe('it is turned off on this server')
  })

  test('[SERVE5] a native player and one of a page share the match', async () => {
    const { serving } = await start()
    const udp = await openUdp()
    const socket = await openWebSocket(`${serving.url.replace('http', 'ws')}/tickwire`)
    open.push(() => udp.close(), () => socket.close())
    const native = player(udp, await resolveUdp('127.0.0.1', serving.info.udp!.port))
    player(socket, `${serving.url.replace('http', 'ws')}/tickwire`)
    await until(() => serving.host.peers.length === 2 && [...native.host.view.each(Player)].length === 2)
    const addresses = serving.host.endpoint.connections.map(({ address }) => address).toSorted()
    expect(addresses[0]).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(addresses[1]).toBe('ws:1')
  })
})

describe('transports that cannot be served', () => {
  test('[SERVE6] a port in use is an error for a named transport; by default another port is taken', async () => {
    const taken = createSocket('udp6')
    await new Promise<void>((resolve) => taken.bind(0, '::', resolve))
    open.push(() => void taken.close())
    const { port } = taken.address()
    await expect(start({ udp: { port } })).rejects.toThrow(`${port} is in use by another program`)
    if (!hasWebTransport) return
    await expect(start({ webtransport: { port } })).rejects.toThrow('webtransport.port')
    const { serving, log } = await start({ port })
    expect(serving.info.webtransport!.port).not.toBe(port)
    expect(log.join()).toContain('connect-src')
  })

  test.runIf(hasWebTransport)(
    '[SERVE6] a provider that is not fit for production is not used there, unless it is named',
    async () => {
      const found = findWebTransport()
      if (!('provider' in found) || found.provider.isForProduction) return
      vi.stubEnv('NODE_ENV', 'production')
      const { serving, log } = await start()
      expect(serving.info.webtransport).toBeUndefined()
      expect(serving.info.missing.webtransport).toContain('not suitable for production')
      expect(log.join()).toContain('pass `webtransport.provider`')
      const named = await start({ webtransport: { provider: found.provider } })
      expect(named.serving.info.webtransport).toBeDefined()
    },
  )

  test('[SERVE6] without a provider the match is still served, and page and log say what to install', async () => {
    // What every `require` goes through. Its types do not mention it.
    const modules = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown }
    const load = modules._load
    open.push(() => { modules._load = load })
    modules._load = (name, ...rest) => {
      if (/^(?:@matrixai|node-datachannel|werift)/.test(name)) throw new Error(`Cannot find module ${name}`)
      return load(name, ...rest)
    }
    const { serving, log } = await start()
    expect(serving.info).toMatchObject({
      websocket: { path: '/tickwire' },
      udp: { port: expect.any(Number) as number },
    })
    expect([serving.info.webtransport, serving.info.webrtc]).toEqual([undefined, undefined])
    expect(serving.info.missing.webtransport).toContain('npm install @matrixai/quic')
    expect(serving.info.missing.webrtc).toContain('npm install node-datachannel')
    const { webtransport, webrtc } = serving.info.missing
    expect(log).toEqual([`info: not offered: webtransport: ${webtransport}; webrtc: ${webrtc}`])
    // A new user sees no warning.
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const plain = await serve(game, { port: 0 })
    open.push(() => plain.close())
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
    await expect(start({ webtransport: {} })).rejects.toThrow('npm install @matrixai/quic')
  })

  test('[SERVE6] invalid certificates throw before anything is opened', async () => {
    await expect(start({ tls: { cert: 'cert.pem', key: 'key.pem' } })).rejects.toThrow('tls.cert')
    if (hasWebTransport)
      await expect(start({ webtransport: { certificate: { cert: 'x', key: 'y' } } })).rejects.toThrow(
        'webtransport.certificate.cert',
      )
  })
})

describe('origins and offers', () => {
  test('[SERVE7] pages of another origin learn only that they are refused, unless they are on the list', async () => {
    const { serving } = await start({ origins: ['https://play.example'] })
    const ask = (origin: string): Promise<Response> => fetch(`${serving.url}/tickwire/info`, { headers: { origin } })
    const refused = await ask('https://evil.example')
    expect(refused.status).toBe(403)
    expect(await refused.json()).toEqual({ refused: 'origin', fix: expect.stringContaining('`origins` of serve') })
    const listed = await ask('https://play.example')
    expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://play.example'])
    expect((await ask(serving.url)).status).toBe(200)
    expect((await post(`${serving.url}/tickwire/rtc`, 'v=0', { origin: 'https://evil.example' })).status).toBe(403)
  })

  test.runIf('provider' in webRtc)('[RTC1] malformed offers are refused and leave no state', async () => {
    const { serving } = await start()
    for (const offer of ['', 'garbage', 'v=0\r\n', `v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n`]) {
      const { status, text } = await post(`${serving.url}/tickwire/rtc`, offer)
      expect([status, text]).toEqual([400, expect.stringContaining('The offer was not understood')])
    }
  })

  test.runIf('provider' in webRtc)('[SERVE8] an offer beyond 16 KiB is refused, and so are other methods', async () => {
    const { serving } = await start()
    expect((await post(`${serving.url}/tickwire/rtc`, 'x'.repeat(16_385))).status).toBe(413)
    expect((await fetch(`${serving.url}/tickwire/rtc`)).status).toBe(405)
    expect((await post(`${serving.url}/tickwire/info`, '')).status).toBe(405)
  })

  test('[SERVE8] an offer to a server without WebRTC gets the reason', async () => {
    const { serving } = await start({ webrtc: false })
    expect(await post(`${serving.url}/tickwire/rtc`, 'v=0')).toMatchObject({
      status: 404,
      text: 'it is turned off on this server\n',
    })
  })
})

describe('a certificate of your own', () => {
  test('[SERVE5] the certificate can be replaced while the match runs', async () => {
    const [before, after] = [makeCertificate(Date.now()), makeCertificate(Date.now())]
    const { serving } = await start({ tls: before })
    const shown = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls(
          { port: Number(new URL(serving.url).port), host: 'localhost', rejectUnauthorized: false },
          () => {
            resolve(createHash('sha256').update(socket.getPeerX509Certificate()!.raw).digest('hex'))
            socket.destroy()
          },
        ).on('error', reject)
      })
    expect(await shown()).toBe(Buffer.from(before.hash).toString('hex'))
    serving.replaceCertificate(after)
    expect(await shown()).toBe(Buffer.from(after.hash).toString('hex'))
    expect(() => serving.replaceCertificate({ cert: 'x', key: 'y' })).toThrow('certificate.cert')
    const { serving: plain } = await start()
    expect(() => plain.replaceCertificate(after)).toThrow('tls')
  })
})

describe('the guide', () => {
  test('[SERVE5] a server behind a proxy offers what the guide says', async () => {
    const serving = await serveBehindProxy(game, 0)
    open.push(() => serving.close())
    if (hasWebTransport) expect(serving.info.webtransport).toMatchObject({ port: 4433 })
    expect(serving.info.missing.udp).toBeDefined()
    const folder = mkdtempSync(join(tmpdir(), 'tickwire-tls-'))
    const { cert, key } = makeCertificate(Date.now())
    writeFileSync(join(folder, 'fullchain.pem'), cert)
    writeFileSync(join(folder, 'privkey.pem'), key)
    const alone = await serveAlone(game, folder, 0)
    open.push(() => alone.close(), () => rmSync(folder, { recursive: true }))
    expect(alone.url).toMatch(/^https:/)
  })

  test('[SESSION1] a transport library of your own carries a match', async () => {
    let onPeer: (peer: LibraryPeer) => void = () => {}
    const provider = provide((_port, listener) => {
      onPeer = listener
      return { stop: async () => {} }
    })
    const { serving } = await start({ webtransport: { provider, port: 1 }, webrtc: false, udp: false })
    const [here, there] = [createPortStats(), new MessageChannel()]
    const peer: LibraryPeer = {
      ip: '127.0.0.1',
      offer: (bytes) => {
        there.port1.postMessage(bytes)
        return true
      },
      hangUp: () => there.port1.close(),
      onBytes: () => {},
      onGone: () => {},
    }
    onPeer(peer)
    const port: DatagramPort = {
      maxDatagramBytes: 1200,
      stats: here,
      onDatagram: () => {},
      onPathClosed: () => {},
      close: () => there.port2.close(),
      send: (_to, bytes, length) => peer.onBytes(bytes.slice(0, length)),
    }
    there.port2.on('message', (bytes: Uint8Array) => port.onDatagram('server', bytes, bytes.length))
    open.push(() => there.port2.close())
    const { host } = player(port, 'server')
    await until(() => host.peer !== 0 && serving.host.endpoint.connections[0]?.address === 'wt:1')
  })
})

describe('paths that close', () => {
  /** Time enough to open a socket on a busy machine. */
  const GRACE_MS = 5000

  test('[SERVE9] a client that returns by another transport keeps its seat; one that does not is gone', async () => {
    const left: CloseReason[] = []
    const { serving } = await start({
      pathGraceMs: GRACE_MS,
      resumeMs: 0,
      onLeft: (_peer, reason) => left.push(reason),
    })
    const url = `${serving.url.replace('http', 'ws')}/tickwire`
    const first = await openWebSocket(url)
    const { host, move, closed } = player(first, url)
    // The player plays, so it has something to send at every tick.
    await until(() => (serving.host.endpoint.connections[0]?.stats.packetsReceived ?? 0) > 30)
    const { peer } = host
    first.close()
    const second = await openWebSocket(url)
    move(second, url)
    await until(() => serving.host.endpoint.connections[0]?.address === 'ws:2')
    await sleep(GRACE_MS + 200)
    expect([serving.host.peers.map(({ id }) => id), closed, left]).toEqual([[peer], [], []])
    second.close()
    await until(() => left.length === 1)
    expect(left).toEqual([{ by: 'network', code: 'path-closed' }])
  })
})
