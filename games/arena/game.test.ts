import { test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { Fighter, STICK, Ball } from './definitions.ts'
import { game } from './game.ts'

test('runs', () => {
  const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 75, jitterMs: 5, loss: 0.01 } })
  sim.run(500)
  const me = () => sim.server(Fighter).find(({ owner }) => owner === sim.players[0]!.host.peer)!
  const p = sim.players[0]!.host.predictor!
  const log = () => { const a = me(); console.log(sim.clock.now, a.at.x, a.at.y, a.at.z, a?.speed.x, a.speed.y, a?.speed.z, a.health, a.rockets, p.rollbacks, p.resteppedTicks) }
  log()
  sim.hold(0, { ahead: STICK, yaw: 2.2 })
  for (let i = 0; i < 5; i++) { sim.run(300); log() }
  sim.hold(0, { ahead: STICK, yaw: 2.2, fire: true, weapon: 1, pitch: -1.5, jump: true })
  for (let i = 0; i < 10; i++) { sim.run(200); log() }
  console.log(sim.server(Ball).map((b) => [b.owner, b.at.x, b.at.y, b.at.z]))
})
