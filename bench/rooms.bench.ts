/**
 * Rooms: how many clients can join per second, how many rooms one process can run, the memory of a room and of a seat,
 * and how long joining takes under this load.
 *
 * Connecting, ticking and memory are measured in this process without sockets: only the CPU time of the server's part
 * counts, and the clients run in between. Joining is measured over real UDP on loopback. The rooms are full of bots and
 * players in the same process as the new clients, so that figure includes both ends.
 */

import { parseArgs } from 'node:util'
import { bool, defineGame, entity, fixed, u8 } from 'tickwire'
import { createClientHost, createRoomHost, type ClientHost, type RoomHost } from 'tickwire/engine'
import { bestProvider, serveRooms, systemEntropy } from 'tickwire/node'
import { runLoad } from '../packages/tickwire/src/node/load.ts'
import { collect, type Bench, type BenchResult } from './harness.ts'

const Ship = entity({ x: fixed(0, 1000, 0.1), y: fixed(0, 1000, 0.1), hue: u8 })
const TICK_RATE = 30
const SEATS = 8

const game = defineGame({
  tickRate: TICK_RATE,
  input: { left: bool, right: bool },
  entities: [Ship],
  onJoin: (world, peer) => world.spawn(Ship, { x: 500, y: 500, hue: peer.id & 255 }, peer),
  step(world, inputs) {
    for (const ship of world.each(Ship)) {
      const { left, right } = inputs.of(ship.owner)
      ship.x += (+right - +left) * 3
      ship.y += ((world.tick >> 4) & 1) * 2 - 1
    }
  },
})

export const bench: Bench = {
  name: 'rooms',
  summary: 'connects a second, rooms in a process, memory of rooms and seats, joining under load',
  options: [
    '--rooms N      rooms that are played (default 100)',
    '--joins N      players that join under load (default 200)',
  ],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { rooms: { type: 'string', default: '100' }, joins: { type: 'string', default: '200' } },
    })
    return await run(Number(values.rooms), Number(values.joins))
  },
}

async function run(rooms: number, joins: number): Promise<BenchResult> {
  const memory = await weigh(rooms)
  const connects = connectAll(Math.min(rooms * SEATS, 400))
  const join = await joinUnderLoad(Math.ceil(rooms / 4), joins)
  const perRoomUs = connects.tickUs
  const roomsPerCore = 1e6 / (TICK_RATE * perRoomUs)
  return {
    tables: [
      {
        title: `rooms of ${SEATS} seats at ${TICK_RATE} ticks a second, sealed by ${bestProvider().name}`,
        columns: ['what', 'value', 'unit'],
        rows: [
          ['connect, server part', connects.connectUs, 'us'],
          ['connects a second, one core', 1e6 / connects.connectUs, '1/s'],
          [`one room's share of a tick and its sends, ${SEATS} players`, perRoomUs, 'us'],
          ['full rooms a core could play', roomsPerCore, ''],
          ['memory of an empty room', memory.roomBytes / 1024, 'KiB'],
          ['memory of a seat with its player', memory.seatBytes / 1024, 'KiB'],
        ],
      },
      {
        title: `${joins} join over UDP on loopback, ${join.rooms} rooms of ${SEATS} bots beside them`,
        columns: ['joined', 'p50 ms', 'p90 ms', 'p99 ms', 'worst ms', 'tick p99 ms'],
        rows: [[join.joined, join.p50, join.p90, join.p99, join.max, join.tickMsP99]],
      },
    ],
    figures: [
      { name: 'rooms_connects_per_second', value: 1e6 / connects.connectUs, unit: '1/s', against: null },
      { name: 'rooms_per_core', value: roomsPerCore, unit: 'rooms', against: null },
      { name: 'room_bytes', value: memory.roomBytes, unit: 'B', against: null },
      { name: 'seat_bytes', value: memory.seatBytes, unit: 'B', against: null },
      { name: 'rooms_join_ms_p99', value: join.p99, unit: 'ms', against: null },
    ],
  }
}

function makeHost(): RoomHost {
  return createRoomHost({ full: { game, capacity: SEATS, emptyMs: Infinity } }, {
    entropy: systemEntropy, security: { provider: bestProvider() }, maxRooms: 10_000,
  })
}

/** Players without sockets: their packets are passed to the server directly, and the server's part is timed. */
class Crowd {
  readonly host: RoomHost = makeHost()
  readonly clients: ClientHost[] = []
  now = 1000
  serverUs = 0
  #toServer: { readonly from: string; readonly bytes: Uint8Array }[] = []
  #toClients: { readonly to: string; readonly bytes: Uint8Array }[] = []

  add(): void {
    const client = createClientHost(game, { entropy: systemEntropy, security: { provider: bestProvider() } })
    client.sampleInput = () => ({ right: (this.now >> 9) % 2 === 0 })
    client.connect(this.now, 'server', {}, { quick: 'full' })
    this.clients.push(client)
  }

  step(ms: number): void {
    this.now += ms
    this.clients.forEach((client, index) => {
      client.tick(this.now)
      client.drain(this.now, {
        send: (_to, bytes, length) => this.#toServer.push({ from: addressOf(index), bytes: bytes.slice(0, length) }),
      })
    })
    const toServer = this.#toServer.splice(0)
    const before = cpuUs()
    for (const { from, bytes } of toServer) this.host.handleDatagram(this.now, from, bytes, bytes.length)
    this.host.tick(this.now)
    this.host.drain(this.now, {
      send: (to, bytes, length) => this.#toClients.push({ to, bytes: bytes.slice(0, length) }),
    })
    this.serverUs += cpuUs() - before
    for (const { to, bytes } of this.#toClients.splice(0))
      this.clients[indexOf(to)]?.handleDatagram(this.now, 'server', bytes, bytes.length)
  }
}

/** CPU time of this process, including garbage collection. Other work of the machine does not count. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Addresses of a local network, which is not limited. */
function addressOf(index: number): string {
  return `10.0.${index >> 8}.${index & 255}:1`
}

function indexOf(address: string): number {
  const [, , high = '0', low = '0'] = address.split(/[.:]/)
  return Number(high) * 256 + Number(low)
}

function connectAll(count: number): { readonly connectUs: number; readonly tickUs: number } {
  const warm = new Crowd()
  for (let index = 0; index < 40; index++) warm.add()
  for (let step = 0; step < 100; step++) warm.step(10)
  const crowd = new Crowd()
  let connectUs = 0
  for (let at = 0; at < count; at += 20) {
    // Only the steps until all have joined count, less the cost of the clients that had joined before.
    const idle = crowd.serverUs
    for (let step = 0; step < 8; step++) crowd.step(10)
    const idleUs = crowd.serverUs - idle
    for (let index = 0; index < 20; index++) crowd.add()
    const before = crowd.serverUs
    for (let step = 0; step < 8; step++) crowd.step(10)
    connectUs += Math.max(0, crowd.serverUs - before - idleUs)
  }
  const seated = crowd.host.players
  for (let step = 0; step < 60; step++) crowd.step(10)
  const before = crowd.serverUs
  const seconds = 3
  for (let step = 0; step < seconds * 100; step++) crowd.step(10)
  const tickUs = (crowd.serverUs - before) / (seconds * TICK_RATE) / crowd.host.rooms.length
  return { connectUs: connectUs / Math.max(seated, 1), tickUs }
}

async function weigh(rooms: number): Promise<{ readonly roomBytes: number; readonly seatBytes: number }> {
  const used = async (): Promise<number> => {
    // Memory of this turn is freed in the next.
    await new Promise((resolve) => { setTimeout(resolve, 20) })
    collect()
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const host = makeHost()
  host.create('full')
  for (let now = 0; now < 3000; now += 33) host.tick(now)
  const before = await used()
  for (let index = 0; index < rooms; index++) host.create('full')
  for (let now = 3000; now < 6000; now += 33) host.tick(now)
  const roomBytes = (await used() - before) / rooms
  const seats = Math.min(rooms * SEATS, 400)
  const crowd = new Crowd()
  for (let index = 0; index < seats; index++) crowd.add()
  for (let step = 0; step < 200; step++) crowd.step(10)
  const filled = crowd.host.rooms.length
  crowd.clients.length = 0
  const withSeats = await used()
  crowd.host.close(crowd.now)
  for (let step = 0; step < 100; step++) crowd.step(1000)
  return { roomBytes, seatBytes: (withSeats - await used() - filled * roomBytes) / seats }
}

async function joinUnderLoad(
  rooms: number,
  joins: number,
): Promise<{
  readonly rooms: number
  readonly joined: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  readonly tickMsP99: number
}> {
  const serving = await serveRooms(
    { bots: { game, capacity: SEATS, emptyMs: Infinity, mayCreate: false }, full: { game, capacity: SEATS } },
    {
      port: 0,
      webtransport: false,
      webrtc: false,
      signals: false,
      maxRooms: 10_000,
      development: false,
    },
  )
  try {
    for (let index = 0; index < rooms; index++) {
      const room = serving.create('bots')
      for (let bot = 0; bot < SEATS; bot++) room.addBot(() => ({}))
    }
    const { joined, joinMs, server } = await runLoad({
      url: serving.url,
      game,
      players: joins,
      seconds: Math.ceil(joins / 50) + 1,
      weather: { latencyMs: 0, jitterMs: 0, loss: 0 },
      transport: 'udp',
      join: { quick: 'full' },
      seed: 1,
      rampPerSecond: 50,
      opsUrl: serving.opsUrl,
    })
    return { rooms, joined, ...joinMs, tickMsP99: server?.tickMsP99 ?? 0 }
  } finally {
    await serving.close()
  }
}
