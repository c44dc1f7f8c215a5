import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { game, Player } from './game.ts'

test('a player walks the same path on both screens, at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const { x } = sim.own(0, Player)
  sim.hold(0, { right: true })
  sim.run(1000)
  sim.hold(0, {})
  sim.run(1000)
  assert.ok(sim.own(0, Player).x > x + 5)
  assert.equal(sim.difference(), undefined)
})
