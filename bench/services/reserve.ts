/**
 * How long a seat takes: players join eight game servers at 50 a second through one fleet service, by sealed UDP, and
 * play on at ten ticks a second. All processes share the machine, the players are in this one.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connect, findSeats, fleet, type Room } from 'tickwire/node'
import { Program } from '../../test/contract/program.ts'
import { game } from '../../test/chaos/game.ts'
import { percentile } from '../../test/chaos/players.ts'

const SERVERS = 8
const PLAYERS = 1000
const PER_SECOND = 50

/** In ms, the 50th and the 99th percentile. Throws when a player gets no seat. `folder`: with the bundled programs. */
export async function measureReserve(folder: string): Promise<{ readonly p50: number; readonly p99: number }> {
  const program = new Program(pathToFileURL(join(folder, 'tickwire.mjs')), [
    'fleet', '--address', '127.0.0.1', '--port', '0', '--ops', '0', '--rate-limit', '1000000',
  ])
  const servers: ChildProcess[] = []
  const rooms: Room[] = []
  try {
    const [, url = ''] = await program.says(/fleet: (\S+)/)
    for (let count = 0; count < SERVERS; count++) {
      const server = fork(join(folder, 'server.mjs'), [url], {
        execArgv: [], env: { ...process.env, NODE_ENV: 'production' },
      })
      servers.push(server)
      await new Promise((resolve) => { server.once('message', resolve) })
    }
    const tookMs: number[] = []
    const joinOne = async (): Promise<void> => {
      const askedAt = performance.now()
      const [seat] = await findSeats(game, url)
      tookMs.push(performance.now() - askedAt)
      rooms.push(await connect(game, fleet(url, seat), { transport: 'udp', development: false }))
    }
    const startedAt = performance.now()
    const joins: Promise<void>[] = []
    for (let index = 0; index < PLAYERS; index++) {
      const waitMs = startedAt + index * 1000 / PER_SECOND - performance.now()
      await new Promise((resolve) => { setTimeout(resolve, Math.max(0, waitMs)) })
      joins.push(joinOne())
    }
    await Promise.all(joins)
    return { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) }
  } finally {
    for (const room of rooms) room.leave()
    for (const server of servers) server.kill('SIGKILL')
    program.child.kill('SIGKILL')
  }
}
