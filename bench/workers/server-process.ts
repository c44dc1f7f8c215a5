/** The server of the bench of workers: rooms of 16 players in one worker or several. */

import { readFileSync } from 'node:fs'
import { serveRooms } from 'tickwire/node'
import { e2eGame } from '../e2e/tickwire-game.ts'

// Without the checks of development mode.
process.env.NODE_ENV = 'production'

/** CPU time that one process has used, in ms. */
export interface ProcessCpu {
  readonly players: number
  readonly cpuMs: number
}

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_CLOCK = 10
const workers = Number(process.argv[2])
const serving = await serveRooms(
  { field: { game: e2eGame(), capacity: 16 } },
  { workers, port: 0, address: '127.0.0.1', webtransport: false, webrtc: false, ops: false },
)

/** Of the workers, then of the first process. */
function read(): ProcessCpu[] {
  const each = serving.workers.map(({ pid = 0, players }) => ({ players, cpuMs: cpuMsOf(pid) }))
  return [...each, { players: 0, cpuMs: cpuMsOf(process.pid) }]
}

function cpuMsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13).map(Number)
  return (user! + system!) * MS_PER_CLOCK
}

process.on('message', () => process.send?.(read()))
process.on('disconnect', () => void serving.close().then(() => process.exit(0)))
process.send?.({ url: serving.url })
