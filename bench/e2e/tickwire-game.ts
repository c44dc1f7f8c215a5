/** The game of the end-to-end bench, for Tickwire. */

import { bool, defineGame, entity, fixed, int, u8, type Game } from 'tickwire'
import { FIELD, moved, TICK_RATE, angleOf } from './workload.ts'

const input = { dx: int(-1, 1), dy: int(-1, 1), fire: bool }
export const Player = entity({ x: fixed(0, FIELD, 0.1), y: fixed(0, FIELD, 0.1), angle: u8, fired: u8 })

/** `onTick` is called when a tick begins. */
export function e2eGame(onTick: () => void = () => {}): Game<typeof input> {
  return defineGame({
    tickRate: TICK_RATE,
    input,
    entities: [Player],
    predict: 'none',
    onJoin: (world, peer) => {
      world.spawn(Player, { x: (peer.id * 37) % FIELD, y: (peer.id * 91) % FIELD }, peer)
    },
    step(world, inputs) {
      onTick()
      for (const player of world.each(Player)) {
        const keys = inputs.of(player.owner)
        player.x = moved(player.x, keys.dx)
        player.y = moved(player.y, keys.dy)
        player.angle = angleOf(keys)
        if (keys.fire) player.fired = (player.fired + 1) & 255
      }
    },
  })
}
