/** The code of the guides to prediction and to testing works as described. */

import { expect, test, vi } from 'vitest'
import { simulate } from 'tickwire/testing'
import { Bang, crowd, game, impure, Ship, Shot } from '../../docs/guide/examples/prediction.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

test('[PRED5, PRED6] the guide: a shot is there at once, and its event is raised once', () => {
  // #region shot
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  const bangs = [0, 0]
  sim.players.forEach(({ host }, client) => host.onEvent(Bang, () => { bangs[client]!++ }))
  sim.run(1000)
  sim.hold(0, { fire: true })
  sim.run(50)
  expect(sim.client(0, Shot)).toHaveLength(1)      // the player sees the shot
  expect(sim.server(Shot)).toHaveLength(0)         // which the server does not know yet
  expect(bangs).toEqual([1, 0])
  sim.hold(0, {})
  sim.run(2000)
  expect(bangs).toEqual([1, 1])
  expect(sim.difference()).toBeUndefined()
  // #endregion
})

test('[PRED3, PRED10] the guide: corrections are counted, and a view of other players is corrected less', () => {
  // #region rubber
  const sim = simulate(crowd, { seed: 3, clients: 3, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
  for (const client of [0, 1, 2]) sim.script(client, (tick) => ({ right: tick % 90 < 45 }))
  sim.run(10_000)
  for (const { host } of sim.players) {
    const { rollbacks, resteppedTicks, restarts, isStalled } = host.predictor!
    expect(restarts).toBe(1)
    expect(isStalled).toBe(false)
    expect(resteppedTicks / Math.max(rollbacks, 1)).toBeLessThan(30)
    expect(host.clock.lateInputs).toBeLessThan(10)
  }
  for (const client of [0, 1, 2]) sim.hold(client, {})
  expect(sim.difference()).toBeUndefined()
  // #endregion
})

test('[PRED8] the guide: state that step keeps outside the world is found and named', () => {
  // #region sync
  const sim = simulate(impure, { seed: 1, server: { syncTest: 4 } })
  sim.hold(0, { right: true })
  expect(() => sim.run(1000)).toThrow(/Ship 1, field Ship.x/)
  // #endregion
})

test('[KIT1] the guide: weather by moment, scripts, screens', () => {
  // #region weather
  const sim = simulate(game, { seed: 9, clients: 2, link: { latencyMs: 100 } })
  sim.script(0, (tick) => ({ right: tick % 60 < 30 }))
  let jumps = 0
  let before = NaN
  sim.draw(1, 60, (view) => {
    const other = [...view.each(Ship)].find(({ owner }) => owner === sim.players[0]!.host.peer)
    if (other && Math.abs(other.x - before) > 20) jumps++
    before = other?.x ?? NaN
  })
  sim.run(2000)
  sim.weather({ latencyMs: 100, loss: 1 }, 1)      // the second player's link is dead for half a second
  sim.run(500)
  sim.weather({ latencyMs: 100, jitterMs: 30 }, 1)
  sim.run(3000)
  expect(jumps).toBe(0)
  sim.hold(0, {})
  expect(sim.difference()).toBeUndefined()
  // #endregion
})
