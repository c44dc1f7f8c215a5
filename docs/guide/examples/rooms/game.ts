/** docs/guide/rooms.md: a very small game, for a guide about rooms. */

import { bool, defineGame, entity, fixed, message, text } from 'tickwire'

export const Player = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1) })
export const Notice = message({ text: text(120) })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool },
  entities: [Player],
  messages: [Notice],
  onJoin: (world, peer) => world.spawn(Player, { x: 320, y: 180 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x += (+keys.right - +keys.left) * 6
    }
  },
})
