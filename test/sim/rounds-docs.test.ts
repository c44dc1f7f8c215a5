/** The code of the guide to rounds works as described. */

import { expect, test } from 'vitest'
import { simulate, type Simulation } from 'tickwire/testing'
import { game, makeRace, Round, Runner } from '../../docs/guide/examples/rounds.ts'

type Race = Simulation<typeof game.input>

/** Two players run for 25 s. The first stands still at times. */
function race(of: typeof game): Race {
  const sim = simulate(of, { seed: 4, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  sim.script(0, (tick) => ({ right: tick % 20 < 15 }))
  sim.hold(1, { right: true })
  sim.run(25_000)
  return sim
}

const rollbacksOf = (sim: Race): number[] => sim.players.map(({ host }) => host.predictor!.rollbacks)

test('[PRED2, PRED10] the guide: rounds that are announced are played without a correction', () => {
  // #region test
  const sim = race(game)
  const [round] = sim.server(Round)
  expect(round!.number).toBe(5)
  expect([0, 1].map((client) => sim.own(client, Runner).score)).toEqual([0, 5])
  expect(rollbacksOf(sim)).toEqual([0, 0])
  // #endregion
})

test('[PRED3] the guide: rounds that begin at once are corrected on every client', () => {
  for (const rollbacks of rollbacksOf(race(makeRace(0)))) expect(rollbacks).toBeGreaterThan(10)
})

test('[PRED10] the guide: at rest, every client has the round and the scores of the server', () => {
  const sim = race(game)
  sim.hold(0, {})
  sim.hold(1, {})
  sim.run(5000)
  expect(sim.client(0, Round)).toMatchObject([{ number: sim.server(Round)[0]!.number }])
  expect(sim.difference()).toBeUndefined()
})
