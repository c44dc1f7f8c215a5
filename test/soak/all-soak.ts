/**
 * `tickwire all` under churn: games that come and go on its list, players that browse, matches by code and by relay.
 */

import type { ChildProcess } from 'node:child_process'
import { freePort } from '../contract/relay-group.ts'
import { soakPrograms, type ProgramReport } from './program-soak.ts'
import type { CrowdOptions } from './skirmish-soak.ts'
import { SoakStage } from './soak-stage.ts'

/** Everything is listed again within this time of the program's return. */
const BACK_MS_MAX = 11_000
const DOWN_MS = 1000

/** `players`: how many games are on the list. */
export async function soakAll(options: CrowdOptions): Promise<ProgramReport> {
  const { players, stayMs, seed, downMs = DOWN_MS } = options
  const stage = await SoakStage.open('test/soak/all-crowd-process.ts')
  try {
    const [port, relayPort] = [await freePort(), await freePort()]
    const start = async (): Promise<ChildProcess> => await stage.start([
      'all', '--port', String(port), '--relay-port', String(relayPort), '--address', '127.0.0.1',
      '--public', '127.0.0.1', '--ops', '0',
    ], /games: http/)
    const crowd = (number: number): [string, ...string[]] =>
      [stage.crowd, `http://127.0.0.1:${port}/`, String(players / 2), String(stayMs), String(seed + number)]
    return await soakPrograms({
      ...options, downMs, backMsMax: BACK_MS_MAX,
      programs: { all: start }, crowds: { 'crowd 0': crowd(0), 'crowd 1': crowd(1) },
    })
  } finally {
    stage.close()
  }
}
