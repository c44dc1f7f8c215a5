/**
 * What peers can make a server hold by WebSocket, over real sockets and with the real deadlines: so tests run beside
 * each other.
 */

import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { createClientHost } from 'tickwire/engine'
import { monotonicNow, openWebSocket, systemEntropy } from 'tickwire/node'
import * as doors from '../../packages/tickwire/src/core/base/limits.ts'
import { listenWebSocket } from '../../packages/tickwire/src/node/websocket.ts'
import { closeAll, closes, frame, game, start, until, UPGRADE, visit } from './doors-stage.ts'

vi.setConfig({ testTimeout: 120_000, maxConcurrency: 32 })
afterAll(closeAll)

/** A WebSocket listener whose side of the sockets is in view. */
async function listen(): Promise<{ port: number; sockets: Socket[] }> {
  const http: Server = createServer()
  const sockets: Socket[] = []
  http.on('connection', (socket) => sockets.push(socket))
  const listener = listenWebSocket({ server: http, areLocalExempt: false })
  await new Promise<void>((resolve) => { http.listen(0, '127.0.0.1', resolve) })
  closes.push(() => listener.close(), () => http.close())
  return { port: (http.address() as AddressInfo).port, sockets }
}

test.concurrent('[DOOR1] S1: pings that are never read do not grow the server', async () => {
  const { port, sockets } = await listen()
  const client = visit(port, '127.1.0.1').write(UPGRADE)
  await until(() => client.status === 101)
  client.socket.pause()
  // One datagram among them, so that the socket is not idle.
  const pings = Buffer.concat([
    frame(2, Uint8Array.of(1)),
    ...Array.from({ length: 512 }, () => frame(9, new Uint8Array(125))),
  ])
  let [unsent, sent] = [0, 0]
  for (; sent < 48 * 2 ** 20 && !sockets[0]!.destroyed && !client.isClosed; sent += pings.length) {
    client.write(pings)
    await until(() => client.socket.writableLength < 2 ** 20 || sockets[0]!.destroyed, 5000)
    unsent = Math.max(unsent, sockets[0]!.writableLength)
  }
  expect(unsent).toBeLessThanOrEqual(doors.WEBSOCKET_BUFFERED_BYTES_MAX)
})

test.concurrent('[DOOR1] S1: a ping is answered; while an answer waits, others are not', async () => {
  const { port, sockets } = await listen()
  const client = visit(port, '127.1.0.2').write(UPGRADE)
  await until(() => client.status === 101)
  sockets[0]!.cork()
  client.text = ''
  for (let count = 0; count < 100; count++) client.write(frame(9, Uint8Array.of(65, count)))
  await sleep(200)
  expect(sockets[0]!.writableLength).toBe(4)
  sockets[0]!.uncork()
  expect(await until(() => client.text.length >= 4)).toBe(true)
  client.write(frame(9, Uint8Array.of(66)))
  expect(await until(() => client.text.endsWith('B'))).toBe(true)
  expect(client.text).toBe('\x8a\x02A\x00\x8a\x01B')
})

test.concurrent('[DOOR1] S1: frames of any kind beyond the rate close the socket', async () => {
  const { port } = await listen()
  await Promise.all(
    [
      [9, 1],
      [10, 2],
      [1, 3],
      [2, 4],
    ].map(async ([opcode, host]) => {
      const client = visit(port, `127.1.1.${host}`).write(UPGRADE)
      await until(() => client.status === 101)
      const frames = Buffer.concat(
        Array.from({ length: doors.WEBSOCKET_FRAMES_PER_SECOND + 100 }, () => frame(opcode!, Uint8Array.of(65))),
      )
      const timer = setInterval(() => {
        if (client.socket.writableLength < 2 ** 20) client.write(frames)
      }, 50)
      closes.push(() => clearInterval(timer))
      expect(await until(() => client.isClosed), `opcode ${opcode}`).toBe(true)
      clearInterval(timer)
    }),
  )
})

test.concurrent('[DOOR1] S1: text frames, pings and pongs do not count as a sign of life', async () => {
  const { port } = await listen()
  const clients = [1, 9, 10].map((opcode, index) => {
    const client = visit(port, `127.1.2.${index + 1}`).write(UPGRADE)
    const timer = setInterval(() => client.write(frame(opcode, Uint8Array.of(65))), 500)
    closes.push(() => clearInterval(timer))
    return client
  })
  const idleMs = doors.PATH_IDLE_MS + doors.PATH_SCAN_MS
  expect(await until(() => clients.every(({ isClosed }) => isClosed), idleMs + 5000)).toBe(true)
})

test.concurrent('[DOOR2] S6: one address has 20 sockets, and another still gets in', async () => {
  const { port } = await start()
  const first = Array.from({ length: 60 }, () => visit(port, '127.1.3.1').write(UPGRADE))
  await until(() => first.every(({ status }) => status !== 0))
  expect(first.filter(({ status }) => status === 101)).toHaveLength(doors.PATHS_PER_ORIGIN)
  expect(first.filter(({ status }) => status === 429)).toHaveLength(60 - doors.PATHS_PER_ORIGIN)
  const other = visit(port, '127.1.3.2').write(UPGRADE)
  await until(() => other.status !== 0)
  expect(other.status).toBe(101)
  // A closed socket makes space.
  for (const { socket } of first) socket.destroy()
  await sleep(200)
  const next = visit(port, '127.1.3.1').write(UPGRADE)
  await until(() => next.status !== 0)
  expect(next.status).toBe(101)
})

test.concurrent(
  '[DOOR2] S6: sockets without a connection are closed in time, one with a connection is not',
  async () => {
    const { port, serving } = await start()
    const address = `ws://127.0.0.1:${port}/tickwire`
    const socket = await openWebSocket(address)
    const host = createClientHost(game, { entropy: systemEntropy })
    socket.onDatagram = (_from, bytes, length) => host.handleDatagram(monotonicNow(), 'server', bytes, length)
    host.connect(monotonicNow(), 'server')
    const pump = setInterval(() => {
      host.tick(monotonicNow())
      host.drain(monotonicNow(), { send: (_to, bytes, length) => socket.send(address, bytes, length) })
    }, 10)
    closes.push(
      () => clearInterval(pump),
      () => socket.close(),
    )
    const silent = visit(port, '127.1.4.1').write(UPGRADE)
    // Datagrams alone are not enough: a connection must be open.
    const loud = visit(port, '127.1.4.2').write(UPGRADE)
    const timer = setInterval(() => loud.write(frame(2, Uint8Array.of(1, 2, 3))), 500)
    closes.push(() => clearInterval(timer))
    const unusedMs = doors.PATH_UNUSED_MS + doors.PATH_SCAN_MS
    expect(await until(() => silent.isClosed && loud.isClosed, unusedMs + 5000)).toBe(true)
    await sleep(doors.PATH_SCAN_MS)
    expect(serving.host.peers).toHaveLength(1)
    expect(serving.ports.members[0]!.port.originOf!('ws:1')).toBe('127.0.0.1')
  },
)

test.concurrent('[DOOR3] S9: a refused upgrade is not held for a peer that never closes', async () => {
  const { port, sockets } = await listen()
  const clients = Array.from({ length: 50 }, (_, index) => {
    const [head, path] = index % 2 === 0 ? ['Origin: https://evil.example\r\n', '/tickwire'] : ['', '/other']
    return visit(port, '127.1.5.1', true).write(
      UPGRADE.replace('/tickwire', path!).replace('\r\n\r\n', `\r\n${head}\r\n`),
    )
  })
  await until(() => clients.every(({ status }) => status !== 0))
  expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([403, 404]))
  expect(
    await until(() => sockets.length === 50 && sockets.every(({ destroyed }) => destroyed), doors.REFUSAL_MS + 2000),
  ).toBe(true)
})

test.concurrent(
  '[DOOR3] S9: a socket that was closed by a frame is not held for a peer that never closes',
  async () => {
    const { port, sockets } = await listen()
    const client = visit(port, '127.1.5.2', true).write(UPGRADE)
    await until(() => client.status === 101)
    client.write(frame(8))
    expect(await until(() => sockets[0]!.destroyed, doors.WEBSOCKET_CLOSE_MS + 2000)).toBe(true)
  },
)
