import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { game, Player } from './game.ts'

const link = { latencyMs: 100, jitterMs: 20, loss: 0.05 }

test('[HELLO4] at 200 ms a player moves at once, is never corrected, and ends where the server has it', () => {
  const sim = simulate(game, { seed: 7, link })
  const { host } = sim.players[0]!
  sim.run(1000)
  sim.hold(0, { right: true })
  sim.run(40)
  expect(sim.client(0, Player)[0]!.x).toBeGreaterThan(320)
  expect(sim.server(Player)[0]!.x).toBe(320)
  sim.script(0, (tick) => ({ left: tick % 20 < 10, right: tick % 20 >= 10, up: tick % 14 < 7 }))
  sim.run(30_000)
  sim.hold(0, {})
  expect(sim.difference()).toBeUndefined()
  expect(host.predictor!.rollbacks).toBe(0)
})

test('[HELLO5] it is at most 22 lines a side', () => {
  const lines = (name: string): number =>
    readFileSync(new URL(name, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n').length
  expect(Math.max(lines('client.ts'), lines('game.ts') + lines('server.ts'))).toBeLessThanOrEqual(22)
})
