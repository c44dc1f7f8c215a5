import { serveRooms } from 'tickwire/node'
import { game, Player, Said, Say } from './game.ts'

const serving = await serveRooms({
  arena: {
    game,
    capacity: 8,
    spectators: 8,
    onCreate(room) {
      // A bot plays until the room ends: up for a second, down for a second.
      room.addBot((world) => (world.tick % 60 < 30 ? { up: true } : { down: true }))
      room.on(Say, ({ text }, { id }) => {
        const speaker = [...room.world.each(Player)].find(({ owner }) => owner === id)
        if (speaker !== undefined) room.broadcast(Said, { name: speaker.name, text })
      })
    },
  },
}, { port: Number(process.env.PORT ?? 4000), static: './dist' })
console.log(`rooms at ${serving.url}`)
