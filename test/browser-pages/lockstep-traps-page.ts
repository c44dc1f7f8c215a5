/** A page with a lockstep game whose `step` is not the same on every machine. The test in test/browser drives it. */

import { entity, u32 } from 'tickwire'
import { connect } from 'tickwire/browser'
import { defineLockstep, local } from 'tickwire/lockstep'

const Thing = entity({ x: u32 }, { name: 'Thing' })

const game = defineLockstep({
  orders: [],
  entities: [Thing],
  onStart: (world) => { world.spawn(Thing, {}) },
  step(world) {
    for (const thing of world.each(Thing)) {
      thing.x = Math.floor(100 * Math.sin(world.tick) + 100) + Date.now() % 2
      if ('b'.localeCompare('a') < 0) thing.x = 0
      if ([2, 1].sort(((a: number, b: number) => a > b) as never).length === 0) thing.x = 1
    }
  },
})

/** Plays some ticks. Returns whether the functions of the page are the original ones. */
export async function play(): Promise<boolean> {
  const before = [Math.sin, Date, Array.prototype.sort]
  const room = await connect(game, local())
  await new Promise((resolve) => { setTimeout(resolve, 300) })
  room.leave()
  return [Math.sin, Date, Array.prototype.sort].every((now, at) => now === before[at]) && room.tick > 2
}
