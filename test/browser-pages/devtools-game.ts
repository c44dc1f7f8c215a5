/**
 * A small game to inspect with devtools: runners that are predicted, drones that are not, and a wind that only the
 * server knows.
 */

import { bool, defineGame, entity, fixed, math, u8, type Game } from 'tickwire'

export const Runner = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), hue: u8 }, { name: 'Runner' })
export const Drone = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), phase: u8 }, { name: 'Drone' })

const INPUT = { left: bool, right: bool, up: bool, down: bool }

/**
 * `x` is added to every runner in the server's next tick, which no page can predict. `isFlying`: whether the drones
 * fly.
 */
export const wind: { x: number; isFlying: boolean } = { x: 0, isFlying: true }

export const DRONES = 6

export const game: Game<typeof INPUT> = defineGame({
  tickRate: 60,
  input: INPUT,
  entities: [Runner, Drone],
  onJoin: (world, peer) => {
    world.spawn(Runner, { x: 320, y: 180, hue: (peer.id * 47) & 255 }, peer)
    while (world.count(Drone) < DRONES) world.spawn(Drone, { x: 100, y: 100, phase: world.count(Drone) * 40 })
  },
  step(world, inputs) {
    for (const runner of world.each(Runner)) {
      const keys = inputs.of(runner.owner)
      runner.x += (+keys.right - +keys.left) * 3 + wind.x
      runner.y += (+keys.down - +keys.up) * 3
    }
    wind.x = 0
    if (!wind.isFlying) return
    for (const drone of world.each(Drone)) {
      const turn = world.tick / 40 + drone.phase / 40
      drone.x = 320 + math.cos(turn) * (120 + drone.phase / 2)
      drone.y = 180 + math.sin(turn) * 110
    }
  },
})
