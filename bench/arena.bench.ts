/**
 * What the arena costs its server: 24 fighters who play like bots do, 8 spectators, 128 ticks a second, every tick told to everybody.
 *
 * It is the game that `npm start` serves, over memory, sealed: the server's part of a tick is opening what came, `step` (collisions,
 * rewinds, rockets, balls, items), and writing to 32 clients. Not timed: clients, who are real hosts and think between; sockets.
 * Times are CPU of this process; on a busy machine a clock on the wall shows who else is running.
 */

import { parseArgs } from 'node:util'
import { createClientHost, createServerHost, type ClientHost, type ServerHost } from 'tickwire'
import { bestProvider } from '../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../packages/tickwire/src/testing/sim-entropy.ts'
import { createBot } from '../games/arena/bots.ts'
import { Enter, input, Seat } from '../games/arena/definitions.ts'
import { arenaGame, TICK_RATE } from '../games/arena/game.ts'
import { median, type Bench, type BenchResult } from './harness.ts'
import { cpuMs } from './scenario/crowd-peer.ts'

const DELAY_TICKS = 3
const WARMUP_TICKS = 500

interface Flying {
  readonly at: number
  readonly bytes: Uint8Array
}

interface Client {
  readonly host: ClientHost<typeof input>
  readonly address: string
  readonly inbound: Flying[]
  readonly outbound: Flying[]
}

export const bench: Bench = {
  name: 'arena',
  summary: 'the arena that npm start serves: 24 fighters and 8 spectators at 128 Hz',
  options: ['--fighters N     (default 24)', '--spectators N   (default 8)', '--ticks N        timed (default 1500)'],
  run: async (args) => {
    const options = { fighters: { type: 'string', default: '24' }, spectators: { type: 'string', default: '8' }, ticks: { type: 'string', default: '1500' } } as const
    const { values } = parseArgs({ args: [...args], options })
    return run(Number(values.fighters), Number(values.spectators), Number(values.ticks))
  },
}

function run(fighters: number, spectators: number, ticks: number): BenchResult {
  const match = new BotMatch(fighters, spectators)
  for (let tick = 0; tick < WARMUP_TICKS; tick++) match.run()
  const before = match.bytesOut
  const cpu: number[] = []
  const wall: number[] = []
  for (let tick = 0; tick < ticks; tick++) {
    match.playClients()
    const [cpuStart, wallStart] = [cpuMs(), performance.now()]
    match.serve()
    wall.push(performance.now() - wallStart)
    cpu.push(cpuMs() - cpuStart)
  }
  for (const times of [cpu, wall]) times.sort((a, b) => a - b)
  const at = (times: number[], share: number): number => times[Math.min(Math.floor(times.length * share), times.length - 1)]!
  const payload = (match.bytesOut - before) * TICK_RATE / ticks / (fighters + spectators) / 1000
  const frags = [...match.server.world.each(Seat)].reduce((sum, seat) => sum + Math.max(seat.frags, 0), 0)
  return {
    tables: [{
      title: `the arena: ${fighters} fighters, ${spectators} spectators, ${ticks} ticks, ${frags} frags so far`,
      columns: ['ms a tick', 'p50', 'p90', 'p99', 'most'],
      rows: [['CPU', median(cpu), at(cpu, 0.9), at(cpu, 0.99), at(cpu, 1)], ['on the wall', median(wall), at(wall, 0.9), at(wall, 0.99), at(wall, 1)]],
    }],
    figures: [
      { name: 'tick_p50_ms', value: median(cpu), unit: 'ms', against: null, atMost: 1.5 },
      { name: 'tick_p99_ms', value: at(cpu, 0.99), unit: 'ms', against: null, atMost: 4 },
      { name: 'kb_per_s_per_client', value: payload, unit: 'KB/s', against: null, atMost: 50 },
    ],
  }
}

/** Everybody of one match in one process, on cables of some ticks. */
class BotMatch {
  readonly server: ServerHost<typeof input>
  bytesOut = 0
  readonly #clients: readonly Client[]
  #tick = 0

  constructor(fighters: number, spectators: number) {
    const game = arenaGame({ limits: { frags: 255, seconds: 3600 } })
    const security = { provider: bestProvider() }
    this.server = createServerHost(game, { security, entropy: new Dice(1), maxPlayers: fighters + spectators, seed: 1 })
    this.#clients = Array.from({ length: fighters + spectators }, (_, index): Client => {
      const host = createClientHost(game, { security, entropy: new Dice(1000 + index) })
      const think = createBot(index, TICK_RATE)
      if (index < fighters) host.sampleInput = () => think(this.server.world, { id: host.peer })
      return { host, address: `client ${index}`, inbound: [], outbound: [] }
    })
    this.#clients.forEach(({ host }, index) => {
      host.connect(this.#now, 'server')
      for (let ticks = 0; host.serverTick <= 0; ticks++) {
        if (ticks > 10 * TICK_RATE) throw new Error('somebody does not get in')
        this.run()
      }
      if (index >= fighters) host.send(Enter, { name: `Eye ${index}`, isWatching: true })
    })
  }

  get #now(): number {
    return this.#tick * 1000 / TICK_RATE
  }

  run(): void {
    this.playClients()
    this.serve()
  }

  playClients(): void {
    this.#tick++
    for (const { host, inbound, outbound } of this.#clients) {
      while (inbound[0] !== undefined && inbound[0].at <= this.#tick) {
        const { bytes } = inbound.shift()!
        host.handleDatagram(this.#now, 'server', bytes, bytes.length)
      }
      host.tick(this.#now)
      host.drain(this.#now, { send: (_to, bytes, length) => outbound.push({ at: this.#tick + DELAY_TICKS, bytes: bytes.slice(0, length) }) })
    }
  }

  /** The server's part of a tick. */
  serve(): void {
    for (const { address, outbound } of this.#clients) {
      while (outbound[0] !== undefined && outbound[0].at <= this.#tick) {
        const { bytes } = outbound.shift()!
        this.server.handleDatagram(this.#now, address, bytes, bytes.length)
      }
    }
    this.server.tick(this.#now)
    this.server.drain(this.#now, this.#port)
  }

  readonly #port = {
    send: (to: string, bytes: Uint8Array, length: number): void => {
      this.bytesOut += length
      const client = this.#clients[Number(to.slice('client '.length))]!
      client.inbound.push({ at: this.#tick + DELAY_TICKS, bytes: bytes.slice(0, length) })
    },
  }
}
