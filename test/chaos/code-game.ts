/** The game of the rows with codes: the host counts aloud, so that each lost message shows. */

import { bool, defineGame, entity, message, u32, type Game } from 'tickwire'

const Walker = entity({ steps: u32 }, { name: 'Walker' })
/** Sent reliably and in order. */
export const Count = message({ count: u32 }, 'Count')

export const game: Game = defineGame({
  tickRate: 30,
  input: { right: bool },
  entities: [Walker],
  messages: [Count],
  onJoin: (world, peer) => world.spawn(Walker, { steps: 0 }, peer),
  step(world) {
    for (const walker of world.each(Walker)) walker.steps++
  },
}) as unknown as Game
