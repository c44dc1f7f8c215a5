/**
 * What the services cost: cached pages of the list of games beside a plain Fastify with Redis, `tickwire all` at rest,
 * and 1,000 players in a fleet: how long a seat takes, and how many a core carries. A page is 100 of 1,000 signed
 * listings.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import { bundlePrograms } from '../test/bundle-programs.ts'
import { Program } from '../test/contract/program.ts'
import { RedisServer } from '../test/contract/redis-server.ts'
import { ask, TestHost, until } from '../test/contract/tracker-stage.ts'
import { figuresTable, type Bench, type BenchResult, type Figure } from './harness.ts'
import { measureCrowd, rssMbOf } from './services/crowd.ts'

const LISTINGS = 1000
const ROUNDS = 5
const REQUESTS = 1000
const CONNECTIONS = 8

export const bench: Bench = {
  name: 'services',
  summary: 'the list of games beside Fastify with Redis, tickwire all at rest, seats in a fleet',
  options: [],
  run: async () => await run(),
}

async function run(): Promise<BenchResult> {
  const bundle = await bundlePrograms({
    rival: 'bench/services/rival-process.ts', tracker: 'bench/services/tracker-process.ts',
    tickwire: 'packages/services/src/cli/index.ts', server: 'test/chaos/game-server-process.ts',
    players: 'test/chaos/players-process.ts',
  })
  const redis = await RedisServer.start()
  try {
    const [own, rival] = await Promise.all(['tracker', 'rival'].map(async (name) =>
      await Server.start(join(bundle.folder, `${name}.mjs`), redis.url)))
    await fill(own!, redis.url)
    const costs: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, server] of [own!, rival!].entries()) costs[at]!.push(await server.perCpuSecond())
    const [ours, theirs] = costs.map((list) => list.sort((a, b) => a - b)[ROUNDS >> 1]!)
    own!.child.kill()
    rival!.child.kill()
    const { startMs, rssMb } = await measureAll(join(bundle.folder, 'tickwire.mjs'))
    const crowd = await measureCrowd(bundle.folder)
    const figure = (name: string, value: number, unit: string, bound: object = {}): Figure =>
      ({ name, value, unit, against: null, ...bound })
    const figures = [
      figure('browse_per_cpu_second', ours!, '/s'), figure('browse_fastify_redis_per_cpu_second', theirs!, '/s'),
      figure('browse_ratio_fastify_redis', ours! / theirs!, 'x', { atLeast: 2, against: 'fastify 5.12.8 with Redis' }),
      figure('all_start_ms', startMs, 'ms', { atMost: 1500 }), figure('all_idle_rss_mb', rssMb, 'MB', { atMost: 110 }),
      figure('reserve_failed', crowd.failed, '', { atMost: 0 }), figure('reserve_ms_p50', crowd.reserveMsP50, 'ms'),
      figure('reserve_ms_p99', crowd.reserveMsP99, 'ms', { atMost: 250 }),
      figure('reserve_cpu_ms', crowd.reserveCpuMs, 'ms'),
      figure('players_per_core_10_hz_udp', crowd.playersPerCore, ''),
      figure('matches_of_eight_per_core', crowd.playersPerCore / 8, ''),
      figure('game_server_rss_mb', crowd.serverRssMb, 'MB'),
    ]
    return { figures, tables: [figuresTable(figures)] }
  } finally {
    await redis.kill()
    bundle.remove()
  }
}

/** The same 1,000 listings for both. */
async function fill(own: Server, url: string): Promise<void> {
  const redis = new Redis(url)
  for (let at = 0; at < LISTINGS; at++) {
    const listing = new TestHost(at + 1).sign({ game: at % 10 === 0 ? 'arena' : 'race' })
    await redis.hset('listings', String(at), JSON.stringify(listing))
    await ask('POST', `${own.url}v1/listings`, { listing })
  }
  redis.disconnect()
  await until(async () => (await ask('GET', `${own.url}v1/listings?game=arena`)).body.listings.length === 100)
}

class Server {
  readonly child: ChildProcess
  readonly url: string

  constructor(child: ChildProcess, port: number) {
    this.child = child
    this.url = `http://127.0.0.1:${port}/`
  }

  static async start(file: string, redis: string): Promise<Server> {
    const child = fork(file, [redis], { execArgv: [] })
    const { port } = await next(child) as { port: number }
    return new Server(child, port)
  }

  async perCpuSecond(): Promise<number> {
    await load(this.url, REQUESTS / 4)
    const before = await this.#cpuMs()
    await load(this.url, REQUESTS)
    return (1000 * REQUESTS) / (await this.#cpuMs() - before)
  }

  async #cpuMs(): Promise<number> {
    const answer = next(this.child)
    this.child.send('cpu')
    return ((await answer) as { cpuMs: number }).cpuMs
  }
}

async function next(child: ChildProcess): Promise<unknown> {
  return await new Promise((resolve) => { child.once('message', resolve) })
}

async function load(url: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const one = async (): Promise<void> => await new Promise((resolve, reject) => {
    get(`${url}v1/listings?game=arena`, { agent }, (response) => {
      response.resume()
      response.on('end', resolve)
    }).on('error', reject)
  })
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    for (let at = 0; at < count / CONNECTIONS; at++) await one()
  }))
  agent.destroy()
}

async function measureAll(file: string): Promise<{ readonly startMs: number; readonly rssMb: number }> {
  const startedAt = performance.now()
  const program = new Program(pathToFileURL(file), ['all', '--port', '0', '--relay-port', '0', '--ops', '0'])
  await program.says(/status:/)
  const startMs = performance.now() - startedAt
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const rssMb = rssMbOf(program.child)
  program.child.kill('SIGKILL')
  return { startMs, rssMb }
}
