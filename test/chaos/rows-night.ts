/** A night of a studio: players find matches, Redis restarts, and every process is replaced while matches run. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { hasRedis } from '../contract/redis-server.ts'
import type { ChaosRow } from './chaos-row.ts'
import { type ChaosStage, ended, freePort, roomsOf, type ServiceProcess, sleep, status, until } from './chaos-stage.ts'
import { haproxy } from './haproxy.ts'
import type { Players } from './players.ts'

const SEATS = 8
const LIST_MS = 11_000
const missing = !hasRedis ? 'redis-server is not installed'
  : spawnSync('haproxy', ['-v']).status !== 0 ? 'haproxy is not installed' : undefined

const night: ChaosRow = {
  name: 'whole-night',
  what: 'players find matches by UDP, Redis restarts meanwhile, and every process is replaced by a new one '
    + '(--long: 1,000 players, 8 game servers)',
  missing,
  bars: {
    lost_matches: 0, failed_joins: 0, join_ms_p99: 10_000, gap_ms_p99: 2000, not_moved: 0, not_sealed: 0,
    not_of_eight: 0, listed_again_ms: 11_000,
  },
  async run(stage, isLong) {
    const [servers, players, perSecond, processes] = isLong ? [8, 1000, 50, 4] as const : [2, 16, 20, 2] as const
    const redis = await stage.redis()
    const options = ['--store', redis.url, '--drain', '1500ms']
    const services = [await stage.fleet(options), await stage.fleet(options)]
    const front = await freePort()
    const file = `${stage.folder}/haproxy.cfg`
    writeFileSync(file, haproxy(front, services.map(({ port }) => port)))
    stage.spawn('haproxy', ['-db', '-q', '-f', file])
    const url = `http://127.0.0.1:${front}`
    await until(async () => await status(`${url}/readyz`) === 200, 'the proxy answers')
    const listing = ['--publish', 'open', '--rate-limit', '1000/min', '--store', redis.url, '--drain', '1s']
    const tracker = await stage.service('track', listing)
    const env = { TRACKER: tracker.url }
    const old = []
    for (let index = 0; index < servers; index++) old.push(await stage.server(url, '1', SEATS, env))
    await until(async () => await listed(tracker) === servers, 'the tracker lists all servers')

    const crowd = await stage.players(url, players, perSecond, processes, { MATCHED: '1' })
    const hasJoined = (share: number) => (): boolean => crowd.playing + crowd.failed >= players * share
    await until(hasJoined(0.5), 'half of them play', 300_000)
    await redis.kill()
    await sleep(2000)
    await redis.restart()
    const listedMs = await until(async () => await listed(tracker) === servers, 'the tracker lists all servers again')
    await until(hasJoined(1), `all have joined: ${crowd.failed} failed`, 300_000)
    const matches = players / SEATS
    // The list of an instance is a second old at most, and older while Redis was away.
    let full = await fullRooms(url)
    for (const end = performance.now() + LIST_MS; full < matches && performance.now() < end;) {
      await sleep(100)
      full = await fullRooms(url)
    }

    await replace(stage, 'track', tracker, listing)
    for (const service of services) {
      await replace(stage, 'fleet', service, ['--rate-limit', '1000000000', ...options])
      // HAProxy takes it up again after two good checks.
      await sleep(1500)
    }
    for (const server of old) {
      await stage.server(url, '2', SEATS, env)
      server.child.kill('SIGTERM')
      await ended(server.child)
      await untilAllPlay(crowd, players)
    }
    await sleep(1000)
    if (crowd.lostCount > 0) console.error(`lost: ${crowd.lost}`)
    return {
      lost_matches: crowd.lostCount, failed_joins: crowd.failed, join_ms_p99: crowd.join(0.99),
      gap_ms_p99: crowd.gap(0.99), not_moved: Math.max(0, players - crowd.backs), not_sealed: crowd.open,
      not_of_eight: matches - full, listed_again_ms: listedMs,
    }
  },
}

async function replace(stage: ChaosStage, command: string, old: ServiceProcess, options: string[]): Promise<void> {
  old.child.kill('SIGTERM')
  await ended(old.child)
  await stage.service(command, options, old.port)
}

async function untilAllPlay(crowd: Players, players: number): Promise<void> {
  try {
    await until(() => crowd.playing === players, 'all play again', 120_000)
  } catch (error) {
    throw new Error(`${String(error)}: ${crowd.playing} of ${players}, lost: ${crowd.lost}`)
  }
}

/** Matches of eight, as the fleet lists them. */
async function fullRooms(fleet: string): Promise<number> {
  return (await roomsOf(fleet)).rooms.filter((room) => room.players === SEATS).length
}

async function listed(tracker: ServiceProcess): Promise<number> {
  const answer = await fetch(`${tracker.url}/v1/listings?limit=100`, { signal: AbortSignal.timeout(2000) })
  const { listings = [], isStale } = await answer.json() as { listings?: unknown[]; isStale?: boolean }
  return isStale === true ? 0 : listings.length
}

export const NIGHT_ROWS: readonly ChaosRow[] = [night]
