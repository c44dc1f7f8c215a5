/** A small game for pages that stall: a player that throws stones, which are predicted. */

import { bool, defineGame, entity, fixed, u16, u32, u8, type Game } from 'tickwire'

export const Thrower = entity({ throws: u16.owner(), wait: u8 }, { name: 'Thrower' })
export const Stone = entity({ x: fixed(0, 1000, 0.1), born: u32 }, { name: 'Stone' })

const INPUT = { throw: bool }
/** Ticks between two throws, and ticks that a stone lives. */
const EVERY_TICKS = 12
const LIFE_TICKS = 40

export const game: Game<typeof INPUT> = defineGame({
  tickRate: 60, input: INPUT, entities: [Thrower, Stone], net: { snapshotRate: 30 },
  onJoin: (world, peer) => world.spawn(Thrower, {}, peer),
  step(world, inputs) {
    for (const thrower of world.each(Thrower)) {
      thrower.wait = Math.max(0, thrower.wait - 1)
      if (!inputs.of(thrower.owner).throw || thrower.wait > 0) continue
      thrower.wait = EVERY_TICKS
      thrower.throws++
      world.spawn(Stone, { x: 1, born: world.tick }, thrower.owner)
    }
    for (const stone of world.each(Stone)) {
      stone.x += 1
      if (world.tick - stone.born >= LIFE_TICKS) world.despawn(stone)
    }
  },
})
