/** The game of the shooting guide, played over bad lines: who hits what he sees is the one who scores. */

import { defineGame } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { expect, test } from 'vitest'
import { Fighter, game } from '../../docs/guide/examples/shooting.ts'

const WEATHER = { latencyMs: 75, jitterMs: 10, loss: 0.02 }

/** A shooter aims at what he sees of a runner, once every quarter second; how often does it count? */
function duel(played: typeof game, shots: number): { hits: number; awayAtTrigger: number } {
  const sim = simulate(played, { seed: 11, clients: 2, link: WEATHER })
  const [shooter, runner] = [sim.players[0]!, sim.players[1]!].map(({ host }) => sim.server(Fighter).find(({ owner }) => owner === host.peer)!)
  if (!shooter || !runner) throw new Error('both are in')
  let [hits, away] = [0, 0]
  sim.hold(1, { run: 1 })
  sim.run(1500)
  for (let shot = 0; shot < shots; shot++) {
    // Straight, with a turn now and then.
    sim.hold(1, { run: shot % 8 < 4 ? -1 : 1 })
    sim.hold(0, { fire: false })
    for (let draw = 0; draw < 15; draw++) {
      sim.run(16)
      sim.client(0, Fighter)
    }
    const seen = sim.client(0, Fighter).find(({ id }) => id === runner.id)!
    const from = sim.client(0, Fighter).find(({ id }) => id === shooter.id)!
    const before = shooter.score
    away += Math.abs(seen.at.z - runner.at.z)
    sim.hold(0, { yaw: Math.atan2(seen.at.z - from.at.z, seen.at.x - from.at.x), fire: true })
    sim.run(17)
    sim.hold(0, { fire: false })
    sim.run(200)
    if (shooter.score > before) hits++
  }
  return { hits, awayAtTrigger: away / shots }
}

test('[REWIND7] at 150 ms whoever aims at what he sees hits it, and without rewinding he does not', () => {
  const withRewind = duel(game, 32)
  const without = duel(defineGame({ ...game, net: { ...game.net, rewindMs: 0 } }), 32)
  // What he sees is not where the runner is: on average, turns and all, by half as much again as the radius of the body, 0.4.
  expect(withRewind.awayAtTrigger).toBeGreaterThan(0.6)
  expect(withRewind.hits).toBeGreaterThanOrEqual(31)
  expect(without.hits).toBeLessThan(10)
})

test('[REWIND4] a game that looks back further than it remembers is refused', () => {
  const forgetful = defineGame({ ...game, net: { rewindMs: 500, historyMs: 500 } })
  expect(() => simulate(forgetful)).toThrow('net.rewindMs')
})

test('[REWIND3] a game without hitboxes says so where it is asked to rewind', () => {
  const { hitboxes: _none, ...rest } = game
  const sim = simulate(defineGame({ ...rest, step: () => {} }))
  expect(() => sim.host.world.rewind(1, () => 0)).toThrow('hitboxes')
})
