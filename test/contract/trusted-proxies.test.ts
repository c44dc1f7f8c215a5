/**
 * Servers behind proxies, on real sockets: a small proxy on loopback reports the addresses of clients, and only a
 * trusted proxy is believed.
 */

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { CloseReason } from 'tickwire'
import { createClientHost, type ClientHost } from 'tickwire/engine'
import {
  monotonicNow, openUdp, resolveUdp, serve, systemEntropy, type RoomServerOptions, type Serving,
} from 'tickwire/node'
import { game } from '../../docs/guide/examples/rooms/game.ts'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const QUIET: RoomServerOptions = {
  port: 0,
  address: '127.0.0.1',
  webtransport: false,
  webrtc: false,
  ops: false,
  signals: false,
  log: () => {},
  limits: { connections: 1 },
}
/** Sockets that one origin may have with `limits.connections: 1`. */
const SOCKETS = 4
const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function serveBehind(options: RoomServerOptions): Promise<Serving> {
  const serving = await serve(game, { ...QUIET, ...options }) as unknown as Serving
  open.push(() => serving.close())
  return serving
}

/** A header of the PROXY protocol, version 2. */
function proxyHeader(ip: string, protocol: 1 | 2, tlv: readonly number[] = []): Buffer {
  const source = ip.includes(':')
    ? ip.split(':').flatMap((group) => [Number.parseInt(group, 16) >>> 8, Number.parseInt(group, 16) & 255])
    : ip.split('.').map(Number)
  const body = [...source, ...source, 0x13, 0x88, 0x0f, 0xa0, ...tlv]
  return Buffer.from([
    13,
    10,
    13,
    10,
    0,
    13,
    10,
    0x51,
    0x55,
    0x49,
    0x54,
    10,
    0x21,
    (source.length === 4 ? 0x10 : 0x20) + protocol,
    body.length >>> 8,
    body.length & 255,
    ...body,
  ])
}

/** Opens a socket, sends `before`, and asks for an upgrade; returns the status, or 'closed'. */
async function upgrade(
  serving: Serving,
  before: Buffer = Buffer.alloc(0),
  headers = '',
  isTls = false,
): Promise<string> {
  const port = Number(new URL(serving.url).port)
  const tcp = connect(port, '127.0.0.1')
  open.push(() => tcp.destroy())
  tcp.on('error', () => {})
  await once(tcp, 'connect')
  // In two pieces: a header may be cut anywhere.
  if (before.length > 0) {
    tcp.write(before.subarray(0, 7))
    await new Promise((resolve) => { setTimeout(resolve, 20) })
    tcp.write(before.subarray(7))
  }
  const socket: Socket = isTls ? connectTls({ socket: tcp, rejectUnauthorized: false }) : tcp
  socket.on('error', () => {})
  socket.write(`GET /tickwire HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}`
    + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n')
  return new Promise((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1').slice(9, 12)))
    socket.once('close', () => resolve('closed'))
  })
}

const forwarded = (from: string): string => `X-Forwarded-For: ${from}\r\n`

async function times(count: number, ask: () => Promise<string>): Promise<string[]> {
  const answers: string[] = []
  for (let at = 0; at < count; at++) answers.push(await ask())
  return answers
}

const ONE_TOO_MANY = [...Array<string>(SOCKETS).fill('101'), '429']

describe('behind a proxy', () => {
  test('[PROXY1] S11: X-Forwarded-For of a trusted proxy counts: its rightmost hop that is not trusted', async () => {
    const serving = await serveBehind({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
    expect(await times(SOCKETS + 1, () => upgrade(serving, undefined, forwarded('198.51.100.7')))).toEqual(ONE_TOO_MANY)
    expect(
      await upgrade(serving, undefined, forwarded('9.9.9.9, 198.51.100.7, 10.1.2.3')),
      "the client's own header changes nothing",
    ).toBe('429')
    expect(await upgrade(serving, undefined, forwarded('198.51.100.8'))).toBe('101')
    expect(await upgrade(serving), 'the proxy itself').toBe('101')
  })

  test('[PROXY1] S11: from any other address, and without the option, X-Forwarded-For is ignored', async () => {
    for (const options of [{}, { trustedProxies: ['10.0.0.1'] }]) {
      const serving = await serveBehind({ ...options, limits: { connections: 1, areLocalExempt: false } })
      let at = 0
      expect(await times(SOCKETS + 1, () => upgrade(serving, undefined, forwarded(`198.51.100.${++at}`)))).toEqual(
        ONE_TOO_MANY,
      )
    }
  })

  test.each([false, true])(
    '[PROXY2] S11: the PROXY protocol of a trusted proxy says which client is counted over TCP (TLS: %s)',
    async (isTls) => {
      const serving = await serveBehind({
        trustedProxies: ['127.0.0.1'],
        ...(isTls && { tls: makeCertificate(Date.now()) }),
      })
      const from = (ip: string, tlv?: readonly number[]): Promise<string> =>
        upgrade(serving, proxyHeader(ip, 1, tlv), forwarded('9.9.9.9'), isTls)
      expect(await times(SOCKETS + 1, () => from('198.51.100.7', [4, 0, 1, 0]))).toEqual(ONE_TOO_MANY)
      expect(await from('198.51.100.8')).toBe('101')
      expect(await from('2001:db8:1:2:0:0:0:7')).toBe('101')
      expect(await upgrade(serving, undefined, '', isTls), 'without a header').toBe('101')
    },
  )

  test('[PROXY2] S11: a PROXY header from another address is refused; so is a broken one', async () => {
    const untrusting = await serveBehind({})
    expect(['400', 'closed']).toContain(await upgrade(untrusting, proxyHeader('198.51.100.7', 1)))
    const trusting = await serveBehind({ trustedProxies: ['127.0.0.1'] })
    const broken = proxyHeader('198.51.100.7', 1)
    broken[12] = 0x31
    expect(await upgrade(trusting, broken)).toBe('closed')
    const long = proxyHeader('198.51.100.7', 1)
    long[14] = 0xff
    expect(await upgrade(trusting, long)).toBe('closed')
    expect(await upgrade(trusting, proxyHeader('198.51.100.7', 1))).toBe('101')
  })

  test('[PROXY3] S11: over UDP the PROXY protocol identifies clients, and answers go by the proxy', async () => {
    const serving = await serveBehind({ trustedProxies: ['127.0.0.1'] })
    const [first, second, other] = [
      await playBy(serving, '198.51.100.7'),
      await playBy(serving, '198.51.100.7'),
      await playBy(serving, '2001:db8:1:2:0:0:0:7'),
    ]
    await until(() => first.host.peer !== 0 && other.host.peer !== 0 && second.closed !== undefined)
    expect(second.closed).toEqual({ by: 'protocol', code: 'full' })
    const addresses = serving.rooms.endpoint.connections.map(({ address }) => address)
    expect(
      addresses.every((address) => /^(198\.51\.100\.7:5000|\[2001:db8:1:2::7\]:5000)@127\.0\.0\.1:\d+$/.test(address)),
      addresses.join(),
    ).toBe(true)
  })

  test('[PROXY3] S11: a PROXY header from another address costs one counter', async () => {
    const serving = await serveBehind({ trustedProxies: ['10.0.0.1'] })
    const stranger = createSocket('udp4')
    open.push(() => stranger.close())
    const { header } = serving.rooms.endpoint.drops
    stranger.send(
      Buffer.concat([proxyHeader('198.51.100.7', 2), Buffer.alloc(1200)]),
      serving.info.udp!.port,
      '127.0.0.1',
    )
    await until(() => serving.rooms.endpoint.drops.header === header + 1)
    expect(serving.rooms.endpoint.connections.length).toBe(0)
  })

  test('[PROXY4] S11: an invalid network is refused at start', async () => {
    for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', '']) {
      await expect(serveBehind({ trustedProxies: [bad] })).rejects.toThrow('trustedProxies[0]')
    }
  })
})

interface Guest {
  readonly host: ClientHost
  closed: CloseReason | undefined
}

/** A client, and a proxy before the server that says the client is at `ip`. */
async function playBy(serving: Serving, ip: string): Promise<Guest> {
  const server = serving.info.udp!.port
  const [front, back] = [createSocket('udp4'), createSocket('udp4')]
  open.push(
    () => front.close(),
    () => back.close(),
  )
  await Promise.all(
    [front, back].map(
      (socket: UdpSocket) =>
        new Promise((resolve) => {
          socket.bind(0, '127.0.0.1', () => resolve(undefined))
        }),
    ),
  )
  let client = 0
  front.on('message', (bytes, { port }) => {
    client = port
    back.send(Buffer.concat([proxyHeader(ip, 2), bytes]), server, '127.0.0.1')
  })
  back.on('message', (bytes) => front.send(bytes, client, '127.0.0.1'))
  const port = await openUdp({ address: '127.0.0.1' })
  const host = createClientHost(game, {
    entropy: systemEntropy,
    onClosed: (reason) => {
      guest.closed = reason
    },
  }) as unknown as ClientHost
  const guest: Guest = { host, closed: undefined }
  const pump = (): void => {
    host.tick(monotonicNow())
    host.drain(monotonicNow(), port)
  }
  port.onDatagram = (from, bytes, length) => host.handleDatagram(monotonicNow(), from, bytes, length)
  host.connect(monotonicNow(), await resolveUdp('127.0.0.1', front.address().port))
  const timer = setInterval(pump, 5)
  open.push(() => { clearInterval(timer); port.close() })
  await until(() => host.peer !== 0 || guest.closed !== undefined)
  return guest
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 3000) throw new Error(`never true: ${isTrue}`)
    await new Promise((resolve) => { setTimeout(resolve, 10) })
  }
}
