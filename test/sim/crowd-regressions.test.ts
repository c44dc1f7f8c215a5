/** Failures that crowds have found, each by itself. */

import { expect, test, vi } from 'vitest'
import { bool, defineGame, entity, fixed, u32, u8, type Entity } from 'tickwire'
import { simulate } from 'tickwire/testing'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const Archer = entity({ x: fixed(0, 1000, 0.1), secret: u8.server() }, { name: 'Archer' })
const Arrow = entity({ x: fixed(0, 1000, 0.1), diesAt: u32 }, { name: 'Arrow' })

/** Arrows die early for a reason that only the authority knows, and new ones get their indexes. */
const archery = defineGame({
  tickRate: 30,
  input: { fire: bool },
  entities: [Archer, Arrow] as readonly Entity[],
  onJoin: (world, peer) => world.spawn(Archer, { x: 500, secret: 1 }, peer),
  step(world, inputs) {
    for (const archer of world.each(Archer)) {
      if (archer.secret === 1 && world.every(5)) for (const arrow of world.each(Arrow)) world.despawn(arrow)
      if (inputs.of(archer.owner).fire && world.every(5, 4))
        world.spawn(Arrow, { x: archer.x, diesAt: world.tick + 40 }, archer.owner)
    }
    for (const arrow of world.each(Arrow)) {
      arrow.x += 2
      if (world.tick >= arrow.diesAt) world.despawn(arrow)
    }
  },
})

test('[PRED5, PRED13] a predicted spawn that takes the index of a drawn object replaces it (seed 6)', () => {
  for (let seed = 1; seed <= 4; seed++) {
    const sim = simulate(archery, { seed, link: { latencyMs: 60, jitterMs: 20 } })
    sim.hold(0, { fire: true })
    let draws = 0
    sim.draw(0, 20, () => { draws++ })
    sim.run(2500)
    sim.hold(0, { fire: false })
    sim.run(2500)
    expect(draws).toBeGreaterThan(50)
    expect(sim.client(0, Arrow)).toEqual([])
  }
})
