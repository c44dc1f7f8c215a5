import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { game, Orb, Ship } from './game.ts'

test('a ship flies to an orb and has it, on both screens, at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const [orb] = sim.server(Orb)
  sim.hold(0, { isHeld: true, x: orb!.x, y: orb!.y })
  sim.run(4000)
  sim.hold(0, {})
  sim.run(1000)
  assert.ok(sim.own(0, Ship).orbs >= 1)
  assert.equal(sim.server(Orb).length, 24)
  assert.equal(sim.difference(), undefined)
})
