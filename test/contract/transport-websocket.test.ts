import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import {
  type WebSocketListenOptions, listenWebSocket, openWebSocket,
} from '../../packages/tickwire/src/node/websocket.ts'
import { describeTransport } from './transport.contract.ts'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

interface Listening {
  readonly http: Server
  readonly port: ReturnType<typeof listenWebSocket>
  readonly url: string
  close(): Promise<void>
}

async function listen(options: Partial<WebSocketListenOptions> = {}): Promise<Listening> {
  const http = createServer((_request, response) => response.end('page'))
  const port = listenWebSocket({ server: http, ...options })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port: number } = http.address() as AddressInfo
  return {
    http, port, url: `ws://127.0.0.1:${number}/tickwire`,
    close: async () => {
      port.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

async function until(isDone: () => boolean): Promise<void> {
  for (let waited = 0; !isDone() && waited < 20_000; waited += 2) await sleep(2)
}

describeTransport('[PORT1, PORT2, PORT3, PORT4, PORT5] WebSocket on Node', async () => {
  const { port, url, close } = await listen()
  const clients: DatagramPort[] = []
  return {
    server: port,
    openClient: async () => {
      const client = await openWebSocket(url)
      clients.push(client)
      return { port: client, serverAddress: url }
    },
    until,
    close: async () => {
      for (const client of clients) client.close()
      await close()
    },
  }
}, true)

describe('WebSocket on Node: the door', () => {
  let server: Listening | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })

  test("[PORT6] pages of the server's own origin or a listed one, and programs without origin, get in", async () => {
    server = await listen({ origins: ['https://play.example'] })
    const own = server.url.replace('ws://', 'http://').replace('/tickwire', '')
    for (const origin of [undefined, own, 'https://play.example']) {
      const port = await openWebSocket(server.url, origin === undefined ? {} : { origin })
      port.close()
    }
    expect(server.port.stats.refused).toBe(0)
  })

  test.each(['https://evil.example', 'null', 'garbage', 'http://127.0.0.1'])(
    '[PORT6] a page of origin %s is refused',
    async (origin) => {
      server = await listen()
      await expect(openWebSocket(server.url, { origin })).rejects.toThrow('403')
      expect(server.port.stats.refused).toBe(1)
    },
  )

  test('[PORT6] a public server lets any page in', async () => {
    server = await listen({ origins: 'any' })
    const port = await openWebSocket(server.url, { origin: 'https://any.example' })
    port.close()
  })

  test('[PORT6] other paths without a listener get 404, and the page is still served', async () => {
    server = await listen()
    await expect(openWebSocket(server.url.replace('tickwire', 'other'))).rejects.toThrow('404')
    const page = await fetch(server.url.replace('ws:', 'http:').replace('tickwire', ''))
    expect(await page.text()).toBe('page')
  })

  test('[PORT6] another listener keeps the paths that are its own', async () => {
    server = await listen()
    const seen: string[] = []
    server.http.on('upgrade', (request, socket) => {
      seen.push(request.url ?? '')
      if (request.url === '/other') socket.end('HTTP/1.1 418 Teapot\r\n\r\n')
    })
    await expect(openWebSocket(server.url.replace('tickwire', 'other'))).rejects.toThrow('418')
    expect(seen).toEqual(['/other'])
  })

  test('[PORT8] limits see the IP address behind a socket', async () => {
    server = await listen()
    const received: string[] = []
    server.port.onDatagram = (from) => received.push(from)
    const port = await openWebSocket(server.url)
    port.send(server.url, Uint8Array.of(1), 1)
    await until(() => received.length === 1)
    expect(received).toEqual(['ws:1'])
    expect(server.port.originOf('ws:1')).toMatch(/^(::ffff:)?127\.0\.0\.1$|^::1$/)
    expect(server.port.originOf('ws:2')).toBe('ws:2')
    port.close()
  })

  test('[PORT6] more sockets than allowed are refused', async () => {
    server = await listen({ maxSockets: 1 })
    const first = await openWebSocket(server.url)
    await expect(openWebSocket(server.url)).rejects.toThrow('503')
    first.close()
    await until(() => server?.port.stats.refused === 1)
  })

  test('[PORT4] text and too long messages are refused and counted; the latter close the socket', async () => {
    server = await listen()
    const arrived: number[] = []
    const closed: string[] = []
    server.port.onDatagram = (_from, _bytes, length) => arrived.push(length)
    server.port.onPathClosed = (address) => closed.push(address)
    const socket = new WebSocket(server.url)
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send('text')
    socket.send(new Uint8Array(7))
    await until(() => arrived.length === 1)
    expect(arrived).toEqual([7])
    expect(server.port.stats.refused).toBe(1)
    socket.send(new Uint8Array(1201))
    await until(() => closed.length === 1)
    expect(closed).toEqual(['ws:1'])
    expect(server.port.stats.errors).toBe(1)
    expect(arrived).toEqual([7])
  })

  test('[PORT4] a socket that is half closed, without a goodbye, closes its path', async () => {
    server = await listen()
    const closed: string[] = []
    server.port.onPathClosed = (address) => closed.push(address)
    const { hostname, port } = new URL(server.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    const key = 'AAAAAAAAAAAAAAAAAAAAAA=='
    socket.write('GET /tickwire HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
      + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`)
    const [answer] = await once(socket, 'data') as [Buffer]
    expect(String(answer)).toContain('101')
    socket.end()
    await until(() => closed.length === 1)
    expect(closed).toEqual(['ws:1'])
    socket.destroy()
  })

  test('[PORT7] datagrams to a socket that does not read are dropped, not queued', async () => {
    server = await listen()
    const from: string[] = []
    server.port.onDatagram = (address) => from.push(address)
    const socket = new WebSocket(server.url)
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(new Uint8Array(1))
    await until(() => from.length === 1)
    socket.pause()
    const bytes = new Uint8Array(1200)
    for (let count = 0; count < 100_000 && server.port.stats.congested === 0; count++) {
      server.port.send(from[0]!, bytes, 1200)
      if (count % 100 === 0) await sleep(0)
    }
    expect(server.port.stats.congested).toBeGreaterThan(0)
    socket.terminate()
  })

  test('[PORT4] a server that is not there is an error, not a crash', async () => {
    await expect(openWebSocket('ws://127.0.0.1:1/tickwire')).rejects.toThrow('ECONNREFUSED')
  })
})
