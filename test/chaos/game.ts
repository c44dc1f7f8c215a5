/** The game of the chaos rows: ten ticks a second, and a world that counts its ticks, so that a lost match shows. */

import { bool, defineGame, entity, u32, type Game } from 'tickwire'

export const Walker = entity({ steps: u32 }, { name: 'Walker' })

export const game: Game = defineGame({
  tickRate: 10,
  input: { right: bool },
  entities: [Walker],
  onJoin: (world, peer) => world.spawn(Walker, { steps: 0 }, peer),
  onLeave(world, peer) {
    for (const walker of world.each(Walker)) if (walker.owner === peer.id) world.despawn(walker)
  },
  step(world) {
    for (const walker of world.each(Walker)) walker.steps++
  },
}) as unknown as Game
