/** The game of the shooting guide, played over bad links: a shot at a target as drawn counts as a hit. */

import { defineGame } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { expect, test, vi } from 'vitest'
import { Fighter, game } from '../../docs/guide/examples/shooting.ts'

// All time in it is simulated, but a busy machine needs real time to compute it.
vi.setConfig({ testTimeout: 120_000 })

const WEATHER = { latencyMs: 75, jitterMs: 10, loss: 0.02 }

/** A shooter aims at a runner as drawn, once every quarter second. Returns how often it hits. */
function duel(played: typeof game, shots: number): { hits: number; awayAtTrigger: number } {
  const sim = simulate(played, { seed: 11, clients: 2, link: WEATHER })
  const [shooter, runner] = [sim.players[0]!, sim.players[1]!].map(({ host }) =>
    sim.server(Fighter).find(({ owner }) => owner === host.peer)!,
  )
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

test('[REWIND7] at 150 ms a shot at what is drawn hits, and without rewinding it does not', () => {
  const withRewind = duel(game, 32)
  const without = duel(defineGame({ ...game, net: { ...game.net, rewindMs: 0 } }), 32)
  // The runner is drawn away from its true place: on average, with turns, by half as much again as the radius of the
  // body, 0.4.
  expect(withRewind.awayAtTrigger).toBeGreaterThan(0.6)
  expect(withRewind.hits).toBeGreaterThanOrEqual(31)
  expect(without.hits).toBeLessThan(10)
})

test.each([
  [60, 20],
  [60, 15],
  [128, 32],
])('[REWIND8] at %d ticks and %d snapshots a second a shot at what is drawn hits', (tickRate, snapshotRate) => {
  const { hits, awayAtTrigger } = duel(
    defineGame({ ...game, tickRate, net: { ...game.net, snapshotRate, rewindMs: 500 } }),
    16,
  )
  expect(awayAtTrigger).toBeGreaterThan(0.6)
  expect(hits).toBeGreaterThanOrEqual(15)
})

test('[REWIND1] on a clean link the authority rewinds to exactly what was drawn, to the bit', () => {
  const poses: string[] = []
  let [shooter, target] = [0, 0]
  const watched = defineGame({
    ...game,
    // Every tick is sent. Otherwise the client draws a straight line between two received ticks, and here it is not
    // straight.
    net: { ...game.net, snapshotRate: 60 },
    step(world, inputs) {
      game.step(world, inputs)
      // Only the authority sees all objects by itself.
      if (world.sight !== undefined || target === 0) return
      const seen = world.rewind(shooter, (past) => past.get(Fighter, target))
      if (seen !== null) poses.push(`${seen.at.x} ${seen.at.z} ${seen.speed.z}`)
    },
  })
  const sim = simulate(watched, { seed: 3, clients: 2, link: { latencyMs: 60 } })
  sim.run(1000)
  shooter = sim.players[0]!.host.peer
  const id = sim.server(Fighter).find(({ owner }) => owner !== shooter)!.id
  const drawn = new Set<string>()
  // 144 draws a second, with ticks in between.
  for (let draw = 0; draw < 400; draw++) {
    sim.hold(1, { run: draw % 90 < 40 ? 1 : draw % 90 < 60 ? 0 : -1 })
    sim.run(1000 / 144)
    const seen = sim.client(0, Fighter).find((each) => each.id === id)!
    drawn.add(`${seen.at.x} ${seen.at.z} ${seen.speed.z}`)
    if (draw === 100) target = id
  }
  expect(poses.length).toBeGreaterThan(100)
  expect(poses.filter((pose) => !drawn.has(pose))).toEqual([])
})

test('[REWIND4] a game that rewinds further than its history is refused', () => {
  const forgetful = defineGame({ ...game, net: { rewindMs: 500, historyMs: 500 } })
  expect(() => simulate(forgetful)).toThrow('net.rewindMs')
})

test('[REWIND3] a game without hitboxes throws when it is asked to rewind', () => {
  const { hitboxes: _none, ...rest } = game
  const sim = simulate(defineGame({ ...rest, step: () => {} }))
  expect(() => sim.host.world.rewind(1, () => 0)).toThrow('hitboxes')
})
