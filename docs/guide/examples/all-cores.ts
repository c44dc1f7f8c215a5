/** docs/guide/deploy.md: rooms on all processor cores, behind one port. */

import { serveRooms } from 'tickwire/node'
import { game } from './rooms/game.ts'

// #region all-cores
const port = Number(process.env.PORT ?? 4000)
const serving = await serveRooms({ melee: { game, capacity: 8 } }, { port, workers: 'auto' })
// Only the first process gets here.
console.log(`rooms at ${serving.url}, in ${serving.workers.length} processes`)
// #endregion
