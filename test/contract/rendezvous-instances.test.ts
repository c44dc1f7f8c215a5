/** Several instances of a rendezvous behind one address, which share a real Redis. */

import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, host, type Room } from 'tickwire/node'
import { game, Player } from '../../games/hello/game.ts'
import { serveRendezvous, type ServingRendezvous } from '../../packages/services/src/index.ts'
import { hasRedis, RedisServer } from './redis-server.ts'

const issuer = new Uint8Array(32).fill(7)
const secretKey = new Uint8Array(32).fill(9)
const quiet = { signals: false, log: () => {}, development: false } as const
let redis: RedisServer
const instances: ServingRendezvous[] = []
let front: Server
let url = ''
/** Which instance each connection goes to: the next one. A request and the socket after it never meet at one. */
let turn = 0
const sockets = new Set<Socket>()

async function start(): Promise<ServingRendezvous> {
  return await serveRendezvous({ port: 0, address: '127.0.0.1', issuer, secretKey, store: redis.url, codeMs: 60_000 })
}

beforeAll(async () => {
  if (!hasRedis) return
  redis = await RedisServer.start()
  for (let index = 0; index < 3; index++) instances.push(await start())
  front = createServer((near) => {
    const { port } = instances[turn++ % instances.length]!
    const far = connectTcp(port, '127.0.0.1')
    for (const [one, other] of [[near, far], [far, near]] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => { front.listen(0, '127.0.0.1', resolve) })
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
})

afterAll(async () => {
  if (!hasRedis) return
  for (const socket of sockets) socket.destroy()
  front.close()
  for (const instance of instances) await instance.close()
  await redis.kill()
})

const players = (room: Room): number => [...room.view.each(Player)].length

test.skipIf(!hasRedis)('[CODE7] host and guests may be at different instances, and their sockets too', async () => {
  const hosted = await host(game, { rendezvous: url, ...quiet })
  const rooms: Room[] = []
  for (let guest = 0; guest < 4; guest++)
    rooms.push(await connect(game, hosted.code, { rendezvous: url, development: false }) as unknown as Room)
  await expect.poll(() => rooms.map(players), { timeout: 20_000 }).toEqual([4, 4, 4, 4])
  const counts = instances.map(({ counts }) => counts)
  expect(counts.reduce((sum, { created }) => sum + created, 0)).toBe(1)
  // Each of the four joined at the home of the session, whichever instance was asked.
  expect(counts.map(({ joined }) => joined).toSorted()).toEqual([0, 0, 4])
  for (const room of rooms) room.leave()
  await hosted.close()
  // The end of the session reaches the store a moment later. Every try is a wrong guess, so this is one.
  await new Promise((resolve) => { setTimeout(resolve, 1000) })
  const late = connect(game, hosted.code, { rendezvous: url, retryMs: 0 })
  await expect(late).rejects.toMatchObject({ code: 'no-such-code' })
})

test.skipIf(!hasRedis)('[CODE7] a host keeps its code when the home of its session ends', async () => {
  const hosted = await host(game, { rendezvous: url, ...quiet })
  const { code } = hosted
  const first = await connect(game, code, { rendezvous: url, development: false }) as unknown as Room
  // Every instance is replaced, one after the other: one of them was the home.
  for (let index = 0; index < instances.length; index++) {
    const old = instances[index]!
    instances[index] = await start()
    await old.close()
    await expect.poll(() => hosted.isListening, { timeout: 20_000 }).toBe(true)
    const room = await connect(game, code, { rendezvous: url, development: false, retryMs: 8000 }) as unknown as Room
    await expect.poll(() => players(room)).toBe(index + 2)
  }
  expect(hosted.code).toBe(code)
  expect(first.isAway).toBe(false)
  await hosted.close()
})

test.skipIf(!hasRedis)('[CODE7] wrong codes are counted for all instances', async () => {
  const answers: number[] = []
  for (let guess = 0; guess < 12; guess++) {
    const response = await fetch(`http://127.0.0.1:${instances[guess % 3]!.port}/v1/joins`, {
      method: 'POST', body: JSON.stringify({ code: 'IRON-7K3M' }), headers: { 'content-type': 'application/json' },
    })
    answers.push(response.status)
  }
  // Five for all, and each other instance learns of it by one more.
  expect(answers.filter((status) => status === 404).length).toBeLessThanOrEqual(7)
  expect(answers.at(-1)).toBe(429)
})
