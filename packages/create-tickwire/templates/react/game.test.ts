import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { Coin, game, Player } from './game.ts'

test('a player that walks over a coin has it, on all screens, at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const { x, y } = sim.server(Coin)[0]!
  for (let steps = 0; steps < 200 && sim.own(0, Player).coins === 0; steps++) {
    const me = sim.own(0, Player, 0)
    sim.hold(0, { left: me.x > x + 8, right: me.x < x - 8, up: me.y > y + 8, down: me.y < y - 8 })
    sim.run(33)
  }
  sim.hold(0, {})
  sim.run(1000)
  assert.ok(sim.own(0, Player).coins >= 1)
  assert.equal(sim.difference(), undefined)
})
