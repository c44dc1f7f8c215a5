import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { Coin, game, Player } from './game.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 5)

test('a player that walks over a coin has it, and all players see it, at 200 ms and 5 % loss', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const sim = simulate(game, { seed, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
    const [coin] = sim.server(Coin)
    assert.ok(coin)
    const { x, y } = coin
    for (let steps = 0; steps < 200 && sim.own(0, Player).coins === 0; steps++) {
      const me = sim.own(0, Player, 0)     // as the player itself sees it
      sim.hold(0, { left: me.x > x + 8, right: me.x < x - 8, up: me.y > y + 8, down: me.y < y - 8 })
      sim.run(33)
    }
    sim.hold(0, {})
    const late = sim.join()
    assert.ok(sim.own(0, Player).coins >= 1, `seed ${seed}`)
    assert.equal(sim.difference(), undefined, `seed ${seed}`)
    assert.equal(sim.own(0, Player, late).coins, sim.own(0, Player).coins, `seed ${seed}`)
  }
})
