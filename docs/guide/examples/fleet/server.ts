/** docs/guide/fleet.md: a game server of a fleet. Start as many as there are cores. */

import { serveRooms } from 'tickwire/node'
import { game } from './game.ts'

// #region serve
const serving = await serveRooms({ duel: { game, capacity: 2 } }, {
  port: Number(process.env['PORT'] ?? 0),
  fleet: process.env['FLEET'] ?? 'http://127.0.0.1:8090',
})
// #endregion
console.log(`a game server at ${serving.url}`)

// #region result
setInterval(() => {
  for (const room of serving.rooms.rooms) void serving.report(room, { winner: 1, ticks: room.world.tick })
}, 60_000).unref()
// #endregion
