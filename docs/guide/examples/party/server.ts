/** docs/guide/rooms.md: `npx tsx server.ts`. */

import type { ObjectOf, PeerId, World } from 'tickwire'
import { serveRooms } from 'tickwire/node'
import { Buy, game, Player, Said, Say } from './game.ts'

const PRICES: Record<string, number> = { axe: 12, map: 3 }

const serving = await serveRooms({
  party: {
    game,
    capacity: 8,
    spectators: 4,
    resumeMs: 30_000,
    onCreate(room) {
      const think = (world: World): { left: boolean; right: boolean } => {
        const isRight = world.tick % 60 < 30
        return { left: !isRight, right: isRight }
      }
      for (let bot = 0; bot < 2; bot++) room.addBot(think)
      room.on(Say, ({ text }, { id }) => {
        const speaker = playerOf(room.world, id)
        if (speaker !== undefined) room.broadcast(Said, { name: speaker.name, text })
      })
      room.handle(Buy, ({ item }, { from }) => {
        const buyer = playerOf(room.world, from.id)
        const price = PRICES[item] ?? Infinity
        if (buyer === undefined || buyer.gold < price) return { isSold: false, left: buyer?.gold ?? 0 }
        buyer.gold -= price
        return { isSold: true, left: buyer.gold }
      })
    },
  },
}, { port: Number(process.env.PORT ?? 4000), static: './dist' })
console.log(`rooms at ${serving.url}`)

function playerOf(world: World, peer: PeerId): ObjectOf<typeof Player> | undefined {
  return [...world.each(Player)].find(({ owner }) => owner === peer)
}
