import { expect, test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { game, Player } from './game.ts'

test('[HELLO1] a player walks the same path on both screens at 200 ms and 5 % loss', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  sim.hold(0, { right: true })
  sim.run(1000)
  sim.hold(0, {})
  sim.run(1000)
  expect(sim.server(Player).some(({ x }) => x > 320 + 100)).toBe(true)
  expect(sim.difference()).toBeUndefined()
})
