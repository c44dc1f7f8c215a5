/** The pace at which a game server that is drained hands its rooms on, in simulated time. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryLeases } from '../../packages/services/src/store/memory-leases.ts'
import { MemoryRecords } from '../../packages/services/src/store/memory-records.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { Instance, Server } from './services-fleet.ts'
import { ServicesTime, type SimProcess } from './services-time.ts'

const PLAYERS = 40
const HELD_MS = 1_000_000
const STEP_MS = 10

const servers: Server[] = []
let instance: Instance
let time: ServicesTime

beforeEach(() => {
  servers.length = 0
  time = new ServicesTime(new Dice(29), async ({ hostname, pathname }, method, body, headers) => {
    const server = servers.find(({ url }) => url === `http://${hostname}`)
    const target = server ?? instance
    return await time.run(target.process, async () => await target.handle(method, pathname, body, headers))
  })
  time.install()
  const process = spawn('fleet')
  instance = time.run(process, () => new Instance(process, new MemoryLeases(), new MemoryRecords()))
})

afterEach(() => time.uninstall())

const spawn = (name: string): SimProcess => ({ name, isDead: false, frozenUntil: 0 })

async function start(): Promise<Server> {
  const process = spawn(`server ${servers.length}`)
  const server = time.run(process, () => new Server(process, servers.length, () => time.now, PLAYERS))
  servers.push(server)
  await time.advance(500)
  return server
}

/** A server with rooms that are full of players. */
async function startFull(count: number): Promise<Server> {
  const server = await start()
  time.run(server.process, () => {
    for (let index = 0; index < count; index++) {
      const { seats } = server.rooms.create('duel')
      for (let peer = 1; peer <= PLAYERS; peer++)
        seats.restore({ peer, serial: peer, isSpectator: false, promised: [] }, time.now + HELD_MS)
    }
  })
  return server
}

/** Drains it. Returns the time until each room had moved, in ms. */
async function drain(server: Server, ms: number): Promise<readonly number[]> {
  const [from, movedAt] = [time.now, [] as number[]]
  let hasLeft = false
  void time.run(server.process, async () => {
    await server.member.leave(ms)
    hasLeft = true
  })
  let left = server.rooms.players
  while (!hasLeft && time.now < from + ms + 1000) {
    await time.advance(STEP_MS)
    for (; left > server.rooms.players; left -= PLAYERS) movedAt.push(time.now - from)
  }
  return movedAt
}

test('[FLEET7] rooms are handed on two at a time, with a pause for each player that reconnects', async () => {
  const first = await startFull(6)
  await start()
  const movedAt = await drain(first, 60_000)
  expect(movedAt.length).toBe(6)
  // 80 players, 10 ms for each.
  for (const at of [2, 4]) expect(movedAt[at]! - movedAt[at - 1]!).toBeGreaterThanOrEqual(800)
  for (const at of [1, 3, 5]) expect(movedAt[at]! - movedAt[at - 1]!).toBeLessThan(400)
})

test('[FLEET7] the pauses end in time when there is little of it', async () => {
  const first = await startFull(8)
  await start()
  const movedAt = await drain(first, 2000)
  expect(movedAt.length).toBe(8)
  expect(movedAt[7]).toBeLessThan(2000)
})

test('[FLEET7] rooms that no server takes are followed by no pause: the next server gets them at once', async () => {
  const first = await startFull(2)
  let startedAt = 0
  const starting = time.sleep(300).then(() => {
    startedAt = time.now
    const process = spawn('late')
    servers.push(time.run(process, () => new Server(process, 1, () => time.now, PLAYERS)))
  })
  const from = time.now
  const movedAt = await drain(first, 60_000)
  await starting
  expect(movedAt.length).toBe(2)
  // One attempt every 300 ms.
  expect(from + movedAt[0]! - startedAt).toBeLessThan(600)
})
