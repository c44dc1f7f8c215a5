/** The games of the bench of capacity: all see all, and interest by distance, with the rules of `e2e/workload.ts`. */

import { always, bool, defineGame, entity, int, near, u8, vec2, type Game } from 'tickwire'
import { angleOf, FIELD, moved, TICK_RATE } from '../e2e/workload.ts'

const input = { dx: int(-1, 1), dy: int(-1, 1), fire: bool }

/** With this distance, and 200 players on the field, each sees about twelve. */
export const SIGHT = 138

export type Kind = 'rooms' | 'crowd' | 'distance' | 'lockstep'

export function capacityGame(kind: Kind, onTick: () => void = () => {}): Game<typeof input> {
  const at = vec2(0, FIELD, 0.1).position()
  const Player = entity(
    { at, angle: u8, fired: u8 },
    { name: 'Player', interest: kind === 'distance' ? near(SIGHT) : always },
  )
  return defineGame({
    tickRate: TICK_RATE,
    input,
    entities: [Player],
    predict: 'none',
    onJoin: (world, peer) => {
      world.spawn(Player, { at: { x: (peer.id * 379) % FIELD, y: (peer.id * 911) % FIELD } }, peer)
    },
    step(world, inputs) {
      onTick()
      for (const player of world.each(Player)) {
        const keys = inputs.of(player.owner)
        player.at = { x: moved(player.at.x, keys.dx), y: moved(player.at.y, keys.dy) }
        player.angle = angleOf(keys)
        if (keys.fire) player.fired = (player.fired + 1) & 255
      }
    },
  })
}
