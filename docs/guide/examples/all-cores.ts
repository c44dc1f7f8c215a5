/** Rooms on all cores: this program starts itself once per core, on different ports, and forwards signals. */

import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { serveRooms } from 'tickwire/node'
import { game } from './rooms/game.ts'

// #region all-cores
const [, program = '', own] = process.argv

if (own === undefined) {
  const first = Number(process.env.PORT ?? 4000)
  // Each process uses three ports: HTTP, native UDP, and the operator port.
  const rooms = Array.from({ length: availableParallelism() }, (_, core) =>
    fork(program, [String(first === 0 ? 0 : first + 10 * core)]),
  )
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => rooms.forEach((each) => each.kill(signal)))
} else {
  const { url } = await serveRooms({ melee: { game, capacity: 8 } }, { port: Number(own) })
  console.log(`rooms at ${url}`)
}
// #endregion
