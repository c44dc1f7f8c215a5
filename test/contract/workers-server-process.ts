/**
 * A server with workers, for the tests of workers. Its argument is JSON: options of `serveRooms`, or of `serve` if
 * `isSingle`. It prints its address, and answers lines on its standard input: `create`, `workers`, `close`.
 */

import { createInterface } from 'node:readline'
import { serve, serveRooms, type RoomServerOptions } from 'tickwire/node'
import { game } from '../../docs/guide/examples/rooms/game.ts'

interface WorkersServer extends RoomServerOptions {
  readonly workers: number
  readonly isSingle?: boolean
}

const { isSingle = false, ...given } = JSON.parse(process.argv[2] ?? '{}') as WorkersServer
const options = {
  port: 0, webtransport: false, webrtc: false, log: ({ event, message }: { event: string; message: string }) =>
    console.log(`${event}: ${message}`), ...given,
} as const
console.log(`begins ${process.pid}`)
const serving = isSingle
  ? await serve(game, { ...options, maxPlayers: 2 })
  : await serveRooms({ duel: { game, capacity: 2, resumeMs: 60_000 }, melee: { game, capacity: 16 } }, options)
console.log(`at ${serving.url} ops ${serving.opsUrl} .`)
createInterface(process.stdin).on('line', (line) => {
  const [word, rest] = [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]
  if (word === 'create')
    void serving.create('duel', JSON.parse(rest) as object).then(({ id }) => console.log(`made ${id}.`))
  if (word === 'workers') console.log(`workers ${JSON.stringify(serving.workers)}.`)
  if (word === 'close') void serving.close().then(() => { console.log('closed.'); process.exit(0) })
})
