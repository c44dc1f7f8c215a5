import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { game, Shell, Tank } from './game.ts'

test('a shell is seen at once and hits what it flies into, at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const [left, right] = sim.server(Tank).toSorted((a, b) => a.x - b.x)
  const shooter = sim.players.findIndex(({ host }) => host.peer === left!.owner)
  sim.hold(shooter, { fire: true })
  sim.run(60)
  assert.equal(sim.client(shooter, Shell).length, 1)
  assert.equal(sim.server(Shell).length, 0)
  sim.run(1940)
  sim.hold(shooter, {})
  sim.run(1500)
  assert.ok(left!.hits >= 1)
  assert.ok(right!.health < 3 || left!.hits >= 3)
  assert.equal(sim.difference(), undefined)
})
