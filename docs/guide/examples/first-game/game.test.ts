import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { Coin, game, Player } from './game.ts'

test('who walks over a coin has it, and the others see it, at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const [walker] = sim.server(Player)
  const [coin] = sim.server(Coin)
  assert.ok(walker && coin)
  const { x, y } = coin
  for (let steps = 0; steps < 100 && walker.coins === 0; steps++) {
    sim.hold(0, { left: walker.x > x + 8, right: walker.x < x - 8, up: walker.y > y + 8, down: walker.y < y - 8 })
    sim.run(100)
  }
  sim.run(1000)
  assert.ok(walker.coins >= 1)
  assert.equal(sim.client(1, Player)[0]?.coins, walker.coins)
})
