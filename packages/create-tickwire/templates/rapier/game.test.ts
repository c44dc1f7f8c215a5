import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from 'tickwire/testing'
import { Ball, game, Player, WIDTH } from './game.ts'

test('a ball that a player pushes moves at once on its screen, and without jumps on both, at 200 ms', () => {
  const sim = simulate(game, {
    seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 10 },
    // Rapier reads the clock for its own timing, which changes no result.
    onWarning: false,
  })
  sim.run(1000)
  const left = sim.server(Player).find(({ x }) => x < WIDTH / 2)!
  const pusher = sim.players.findIndex(({ host }) => host.peer === left.owner)
  const jumps = [0, 0]
  for (const client of [0, 1]) {
    let last: number | undefined
    sim.draw(client, 60, (view) => {
      const [ball] = [...view.each(Ball)]
      // A quarter of its width in a sixtieth of a second, more than it moves itself. After a goal it is in the middle.
      const moved = ball!.x === WIDTH / 2 ? 0 : Math.abs(ball!.x - (last ?? ball!.x))
      if (moved > Math.abs(ball!.vx) / 60 + 0.25) jumps[client]!++
      last = ball!.x
    })
  }
  const start = sim.server(Ball)[0]!.x
  sim.hold(pusher, { right: true })
  sim.runUntil(() => sim.client(pusher, Ball)[0]!.x > start + 0.05, 5000)
  assert.equal(sim.server(Ball)[0]!.x, start)
  sim.run(400)
  sim.hold(pusher, {})
  sim.run(4000)
  assert.deepEqual(jumps, [0, 0])
  assert.equal(sim.difference(), undefined)
})
