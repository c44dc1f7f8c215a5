import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { game, Player } from './game.ts'

test('players are shared out between the teams, and a player that leaves is gone on all screens', () => {
  const sim = simulate(game, { seed: 7, clients: 3, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  sim.run(1000)
  assert.deepEqual(sim.server(Player).map(({ team }) => team).sort(), ['blue', 'red', 'red'])
  sim.leave(2)
  sim.run(1000)
  assert.equal(sim.server(Player).length, 2)
  assert.equal(sim.difference(), undefined)
})
