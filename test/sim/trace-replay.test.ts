import { expect, test } from 'vitest'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { createClientHost, type Entropy } from 'tickwire/engine'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { simulate } from 'tickwire/testing'
import { game, wind } from '../browser-pages/devtools-game.ts'
import type { ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { ClientTrace } from '../../packages/tickwire/src/core/game/client-trace.ts'
import { objectsOf } from '../../packages/tickwire/src/core/game/inspection/shown-worlds.ts'
import { replayTrace } from '../../packages/tickwire/src/core/game/trace-replay.ts'

/** The whole state of a client, as far as it can be observed. */
function stateOf(host: ClientHost<Shape>): unknown {
  const { predictor, insides: { world, snapshots, renderClock, play, timing } } = host
  const [connection] = [...host.endpoint.connections]
  return {
    drawn: objectsOf(world),
    predicted: predictor && objectsOf(predictor.world),
    tick: predictor?.tick,
    rollbacks: predictor?.rollbacks,
    restepped: predictor?.resteppedTicks,
    confirmed: predictor?.confirmed,
    snapshotTick: snapshots.tick,
    timingTick: timing.tick,
    held: [...snapshots.held.ids],
    renderTick: renderClock.renderTick,
    delayMs: renderClock.delayMs,
    ticks: play.ticks.ticks,
    offset: play.clock.serverTicksAt(0),
    stats: connection && { ...connection.stats },
    rtt: connection?.rtt.smoothedMs,
  }
}

test('[DEV10] a trace of packets, times and chance, played into a fresh client, gives the same client', () => {
  wind.x = 0
  const security = { provider: pureProvider }
  const trace = new ClientTrace()
  // Other clients are on other links: only the first is traced.
  const sim = simulate(game, {
    seed: 23,
    clients: 1,
    security,
    link: { latencyMs: 60, jitterMs: 25, loss: 0.08, duplication: 0.02 },
    client: { trace },
  })
  const { host } = sim.players[0]!
  sim.draw(0, 60, () => {})
  for (let step = 0; step < 60; step++) {
    sim.hold(0, { right: step % 9 < 5, up: step % 7 === 0 })
    if (step === 30) for (const runner of sim.host.world.stores[0]!.living()) Object.assign(runner, { x: 55 })
    sim.run(50)
  }
  expect(host.predictor!.rollbacks).toBeGreaterThan(0)
  const replayed = replayTrace(game, trace.entries, { security })
  expect(stateOf(replayed as unknown as ClientHost<Shape>)).toEqual(stateOf(host as unknown as ClientHost<Shape>))
  expect(host.insides.snapshots.tick).toBeGreaterThan(60)
})

test('[DEV10] hosts are given a trace at construction', () => {
  const entropy: Entropy = new Dice(5)
  // #region replay
  const trace = new ClientTrace()
  const host = createClientHost(game, { entropy, trace })
  host.connect(0, 'server')
  // … and so on: everything that the host receives from now on is in the trace.
  const again = replayTrace(game, trace.entries)
  // #endregion
  expect([...again.endpoint.connections].map(({ state }) => state)).toEqual(
    [...host.endpoint.connections].map(({ state }) => state),
  )
  expect(trace.entries.map(({ kind }) => kind)).toContain('connect')
})

test('[DEV10] a trace of another build is refused with that reason', () => {
  const trace = new ClientTrace()
  const sim = simulate(game, { seed: 3, clients: 1, security: { provider: pureProvider }, client: { trace } })
  sim.run(300)
  const entries = trace.entries.filter(({ kind }) => kind !== 'input')
  expect(() => replayTrace(game, entries, { security: { provider: pureProvider } })).toThrow('it is of another build')
})
