/** Failures of the store: Redis killed, frozen, emptied, cut off; a full disk; two writers. */

import { spawnSync } from 'node:child_process'
import { createServer, connect, type Socket } from 'node:net'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { hasRedis } from '../contract/redis-server.ts'
import type { ChaosRow } from './chaos-row.ts'
import { type ChaosStage, freePort, roomsOf, sleep, until } from './chaos-stage.ts'
import { twoMatches } from './rows-fleet.ts'
import { WATCH_BARS, watchServices } from './service-watch.ts'

const BACK_MS = 11_000
const missing = hasRedis ? undefined : 'redis-server is not installed'

/** A fleet service and a tracker with a store that fails: players go on, and every request is answered. */
async function failStore(
  stage: ChaosStage, { store, isAway, fail }: {
    readonly store: string
    readonly isAway: boolean
    /** Breaks the store. Returns what heals it. */
    fail(): Promise<() => Promise<void>>
  },
  isLong: boolean,
): Promise<{ readonly [figure: string]: number }> {
  const fleet = await stage.fleet(['--store', store])
  const tracker = await stage.service('track', ['--publish', 'open', '--rate-limit', '100000/min', '--store', store])
  const players = await twoMatches(stage, fleet.url)
  const heal = await fail()
  // Players get seats meanwhile: the list of before is good enough.
  const answers = await watchServices({ fleet: fleet.url, tracker: tracker.url }, isLong ? 15_000 : 4000, isAway)
  // An instance that knows nothing sees only what is in the store.
  const other = await stage.fleet(['--store', store])
  const healedAt = performance.now()
  await heal()
  await until(async () => (await roomsOf(other.url)).rooms.length >= 2, 'both rooms are listed')
  return { ...answers, lost_matches: players.lostCount, listed_again_ms: performance.now() - healedAt }
}

const STORE_BARS = { ...WATCH_BARS, lost_matches: 0, listed_again_ms: BACK_MS }

type FailRedis = (redis: Awaited<ReturnType<ChaosStage['redis']>>) => Promise<() => Promise<void>>

function redisRow(name: string, what: string, fail: FailRedis, isAway: boolean = true): ChaosRow {
  return {
    name, what, missing, bars: STORE_BARS,
    async run(stage, isLong) {
      const redis = await stage.redis()
      return await failStore(stage, { store: redis.url, isAway, fail: () => fail(redis) }, isLong)
    },
  }
}

const redisKilled = redisRow('redis-killed', 'kill -9 of Redis, an empty one after 4 s (--long: 15)', async (redis) => {
  await redis.kill()
  return () => redis.restart()
})

const redisFrozen = redisRow('redis-frozen', 'Redis stands still for 4 s (SIGSTOP; --long: 15)', async (redis) => {
  redis.freeze()
  return async () => redis.thaw()
})

const redisFlushed = redisRow('redis-flushed', 'Redis loses everything (FLUSHALL)', async (redis) => {
  await redis.flush()
  return async () => {}
}, false)

const redisCutOff: ChaosRow = {
  name: 'redis-partitioned',
  what: 'nothing passes between the services and Redis for 4 s (--long: 15), and no connection is closed',
  missing, bars: STORE_BARS,
  async run(stage, isLong) {
    const redis = await stage.redis()
    const line = await Line.open(redis.port)
    const fail = async (): Promise<() => Promise<void>> => {
      line.cut(true)
      return async () => {
        await redis.flush()
        line.cut(false)
      }
    }
    const figures = await failStore(stage, { store: `redis://127.0.0.1:${line.port}`, isAway: true, fail }, isLong)
    line.close()
    return figures
  },
}

const twoWriters: ChaosRow = {
  name: 'double-owners',
  what: 'two game servers claim the same room at two instances, 1,000 times (--long: 10,000)',
  missing,
  bars: { double_owners: 0, without_owner: 0 },
  async run(stage, isLong) {
    const redis = await stage.redis()
    const fleets = [await stage.fleet(['--store', redis.url]), await stage.fleet(['--store', redis.url])]
    const claim = async (fleet: string, move: string, server: string): Promise<string> => {
      const response = await fetch(`${fleet}/fleet/claims`, {
        method: 'POST', body: JSON.stringify({ move, server }), headers: { 'content-type': 'application/json' },
      })
      const { owner } = await response.json() as { owner?: string }
      // A store that was too slow has decided nothing: a game server asks again.
      return owner ?? await claim(fleet, move, server)
    }
    let [double, none] = [0, 0]
    const races = isLong ? 10_000 : 1000
    for (let at = 0; at < races; at += 50) {
      await Promise.all(Array.from({ length: 50 }, async (_, index) => {
        const move = (at + index).toString(16).padStart(32, '0')
        const owners = await Promise.all(fleets.map(({ url }, each) => claim(url, move, `${each}`.repeat(32))))
        if (owners[0] === '' || owners[1] === '') none++
        else if (owners[0] !== owners[1]) double++
      }))
    }
    return { double_owners: double, without_owner: none }
  },
}

const diskFull: ChaosRow = {
  name: 'disk-full',
  what: 'the disk of the results is full for some seconds',
  missing: process.getuid?.() === 0 ? undefined : 'a small disk cannot be mounted here',
  bars: { acknowledged_lost: 0, not_stored: 0, stored_after_ms: 5000, lost_matches: 0 },
  async run(stage) {
    const disk = `${stage.folder}/disk`
    mkdirSync(disk)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status !== 0)
      throw new Error('a small disk cannot be mounted here')
    try {
      const fleet = await stage.fleet(['--records', `${disk}/results.sqlite`])
      const players = await twoMatches(stage, fleet.url)
      const server = await stage.server(fleet.url)
      const stored = new Set<number>()
      server.child.on('message', (message) => stored.add((message as { stored: number }).stored))
      server.child.send({ report: 20 })
      await until(() => stored.size === 20, 'the first results are stored')
      for (let size = 4_194_304; size >= 512; size /= 2) fill(`${disk}/filler-${size}`, size)
      stored.clear()
      server.child.send({ report: 40 })
      await sleep(4000)
      const duringFull = stored.size
      if (duringFull === 40) throw new Error('the disk was not full')
      for (let size = 4_194_304; size >= 512; size /= 2) rmSync(`${disk}/filler-${size}`, { force: true })
      const storedMs = await until(() => stored.size === 40, 'the results are stored')
      const { results } = await (await fetch(`${fleet.url}/results?limit=500`)).json() as { results: unknown[] }
      return {
        acknowledged_lost: Math.max(0, 20 + duringFull - results.length), not_stored: 60 - results.length,
        stored_after_ms: storedMs, lost_matches: players.lostCount,
      }
    } finally {
      stage.kill()
      spawnSync('umount', ['-l', disk])
    }
  },
}

export const STORE_ROWS: readonly ChaosRow[] = [
  redisKilled, redisFrozen, redisFlushed, redisCutOff, twoWriters, diskFull,
]

function fill(path: string, size: number): void {
  try {
    writeFileSync(path, Buffer.alloc(size))
  } catch {
    // reason: it did not fit, and the next one is smaller
  }
}

/** A TCP line that can be cut without closing it. */
class Line {
  readonly port: number
  readonly #sockets = new Set<Socket>()
  #close: () => void = () => {}
  #isCut = false

  private constructor(port: number) {
    this.port = port
  }

  static async open(to: number): Promise<Line> {
    const line = new Line(await freePort())
    const server = createServer((near) => {
      const far = connect(to, '127.0.0.1')
      for (const [from, other] of [[near, far], [far, near]] as const) {
        line.#sockets.add(from)
        from.on('data', (bytes: Buffer) => { if (!line.#isCut) other.write(bytes) })
        from.on('error', () => other.destroy())
        from.on('close', () => {
          line.#sockets.delete(from)
          if (!line.#isCut) other.destroy()
        })
      }
    })
    await new Promise<void>((resolve) => { server.listen(line.port, '127.0.0.1', resolve) })
    line.#close = () => {
      server.close()
      for (const socket of line.#sockets) socket.destroy()
    }
    return line
  }

  cut(isCut: boolean): void {
    this.#isCut = isCut
    // What was lost on the way would confuse both sides: as after a long partition, they begin anew.
    if (!isCut) for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.#close()
  }
}
