/**
 * 1,000 players in a fleet: they join eight game servers at 50 a second through one fleet service, by sealed UDP, and
 * play on at ten ticks a second in rooms of eight. The players are in four processes of their own, on the same machine:
 * what they take is missing to the servers.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Program } from '../../test/contract/program.ts'
import { Players } from '../../test/chaos/players.ts'

const SERVERS = 8
const PLAYERS = 1000
const PER_SECOND = 50
const PROCESSES = 4
const ROOM = 8
const JOIN_MS_MAX = 180_000
/** How long all of them play while the servers are measured. */
const PLAY_MS = 10_000
/** Linux counts CPU time in hundredths of a second. */
const CPU_TICK_MS = 10

/** What 1,000 players cost. */
export interface CrowdCosts {
  /** Players that got no seat. */
  readonly failed: number
  /** How long a reservation takes, in ms. */
  readonly reserveMsP50: number
  readonly reserveMsP99: number
  /** CPU time of the fleet service for each reservation, with its reports of game servers, in ms. */
  readonly reserveCpuMs: number
  /** Players that a core of game servers carries, by CPU time. */
  readonly playersPerCore: number
  /** Memory of one game server with an eighth of the players. */
  readonly serverRssMb: number
}

/** `folder`: with the bundled programs. */
export async function measureCrowd(
  folder: string, players: number = PLAYERS, perSecond: number = PER_SECOND,
): Promise<CrowdCosts> {
  const program = new Program(pathToFileURL(join(folder, 'tickwire.mjs')), [
    'fleet', '--address', '127.0.0.1', '--port', '0', '--ops', '0', '--rate-limit', '1000000',
  ])
  const children: ChildProcess[] = []
  const start = (name: string, args: readonly string[], more: object = {}): ChildProcess => {
    const child = fork(join(folder, `${name}.mjs`), [...args], {
      execArgv: [], env: { ...process.env, NODE_ENV: 'production', ...more },
    })
    children.push(child)
    return child
  }
  try {
    const [, url = ''] = await program.says(/fleet: (\S+)/)
    const servers: ChildProcess[] = []
    for (let count = 0; count < SERVERS; count++) {
      const server = start('server', [url, '1', `${ROOM}`])
      servers.push(server)
      await new Promise((resolve) => { server.once('message', resolve) })
    }
    const fleetBefore = cpuMsOf(program.child)
    const share = [`${players / PROCESSES}`, `${perSecond / PROCESSES}`]
    const crowd = new Players(Array.from({ length: PROCESSES }, () =>
      start('players', [url, ...share], { TIMED: '1' })))
    for (const until = performance.now() + JOIN_MS_MAX; crowd.playing < players; await sleep(100)) {
      if (crowd.playing + crowd.failed >= players) break
      if (performance.now() > until) throw new Error(`${crowd.playing} of ${players} players play: ${crowd.lost}`)
    }
    const { playing, failed } = crowd
    const reserveCpuMs = (cpuMsOf(program.child) - fleetBefore) / players
    const before = servers.map(cpuMsOf)
    const startedAt = performance.now()
    await sleep(PLAY_MS)
    const passedMs = performance.now() - startedAt
    const usedMs = servers.reduce((sum, server, index) => sum + cpuMsOf(server) - (before[index] ?? 0), 0)
    return {
      failed, reserveMsP50: crowd.seat(0.5), reserveMsP99: crowd.seat(0.99), reserveCpuMs,
      playersPerCore: playing * passedMs / usedMs,
      serverRssMb: servers.reduce((sum, server) => sum + rssMbOf(server), 0) / SERVERS,
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    program.child.kill('SIGKILL')
  }
}

/** Resident memory of a process. */
export function rssMbOf({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** CPU time of a process since it began. */
function cpuMsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS
}

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => { setTimeout(resolve, ms) })
}
