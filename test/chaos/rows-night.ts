/** A night of a studio: many players join, Redis restarts, and every game server is replaced while matches run. */

import { hasRedis } from '../contract/redis-server.ts'
import type { ChaosRow } from './chaos-row.ts'
import { ended, sleep, until } from './chaos-stage.ts'

const night: ChaosRow = {
  name: 'whole-night',
  what: 'players join by UDP, Redis restarts, and all game servers are replaced (--long: 1,000 players, 8 servers)',
  missing: hasRedis ? undefined : 'redis-server is not installed',
  bars: { lost_matches: 0, failed_joins: 0, join_ms_p99: 10_000, gap_ms_p99: 2000, not_moved: 0 },
  async run(stage, isLong) {
    const [servers, players, perSecond, processes] = isLong ? [8, 1000, 50, 4] as const : [2, 16, 20, 1] as const
    const redis = await stage.redis()
    const fleet = await stage.fleet(['--store', redis.url])
    const old = []
    for (let index = 0; index < servers; index++) old.push(await stage.server(fleet.url))
    const crowd = await stage.players(fleet.url, players, perSecond, processes)
    const all = (): boolean => crowd.playing === players
    await until(() => crowd.playing + crowd.failed >= players, 'all have joined', 300_000)
    await redis.kill()
    await sleep(2000)
    await redis.restart()
    for (const server of old) {
      await stage.server(fleet.url, '2')
      server.child.kill('SIGTERM')
      await ended(server.child)
      await until(all, `all play again, not ${crowd.playing}: ${crowd.lost}`, 120_000)
    }
    await sleep(1000)
    return {
      lost_matches: crowd.lostCount, failed_joins: crowd.failed, join_ms_p99: crowd.join(0.99),
      gap_ms_p99: crowd.gap(0.99), not_moved: Math.max(0, players - crowd.backs),
    }
  },
}

export const NIGHT_ROWS: readonly ChaosRow[] = [night]
