/** The game that is played during the flood: sixteen ships at sixty ticks a second. */

import { bool, defineGame, entity, fixed, u8, type Game } from 'tickwire'

const Ship = entity({ x: fixed(0, 1000, 0.1), y: fixed(0, 1000, 0.1), hue: u8 })

const INPUT = { left: bool, right: bool }

export const TICK_RATE = 60

/** The game; `onStep` is called after every tick. */
export function floodGame(onStep: (tick: number) => void = () => {}): Game<typeof INPUT> {
  return defineGame({
    tickRate: TICK_RATE,
    input: INPUT,
    entities: [Ship],
    onJoin: (world, peer) => world.spawn(Ship, { x: 500, y: 500, hue: peer.id & 255 }, peer),
    step(world, inputs) {
      for (const ship of world.each(Ship)) {
        const { left, right } = inputs.of(ship.owner)
        ship.x += (+right - +left) * 3
        ship.y += ((world.tick >> 4) & 1) * 2 - 1
      }
      onStep(world.tick)
    },
  })
}
