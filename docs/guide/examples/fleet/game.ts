/** docs/guide/fleet.md: the smallest game with rooms. */

import { bool, defineGame, entity, fixed } from 'tickwire'

export const Player = entity({ x: fixed(0, 640, 0.1) }, { name: 'Player' })

export const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 0 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) player.x = (player.x + Number(inputs.of(player.owner).right)) % 640
  },
})
