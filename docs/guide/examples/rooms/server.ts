/** docs/guide/rooms.md: `node server.ts 4000`. */

// #region serve
import { jsonLines, serveRooms } from 'tickwire/node'
import { game, Notice } from './game.ts'

const serving = await serveRooms({
  duel: { game, capacity: 2, metadata: { map: 'dust' } },
  melee: {
    game,
    capacity: 16,
    spectators: 4,
    resumeMs: 30_000,
    onJoin: (room, member) => room.broadcast(Notice, { text: `player ${member.id} is here` }),
    onLeave: (room, member, { code }) => room.broadcast(Notice, { text: `player ${member.id} has gone: ${code}` }),
    onDrain: (room, ms) => room.broadcast(Notice, { text: `this server closes in ${Math.ceil(ms / 1000)} s` }),
  },
}, { port: Number(process.argv[2] ?? 4000), drainMs: 5000, log: jsonLines() })
console.log(`rooms at ${serving.url}, status at ${serving.opsUrl}`)
// #endregion
