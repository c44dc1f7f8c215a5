import { expect, test, vi } from 'vitest'
import { simulate } from 'tickwire/testing'
import { createBot } from './bots.ts'
import { Boom, BOSS, Enemy, Force, Level, Match, Picked, Pilot, Ship, Shot, STICK, WIDTH } from './definitions.ts'
import { game, shmupGame } from './game.ts'

vi.setConfig({ testTimeout: 60_000 })

test('[SHMUP1] a ship answers its player at once and is never corrected on a line of 75 ms', () => {
  const sim = simulate(game, { seed: 3, clients: 1, link: { latencyMs: 75, jitterMs: 5 } })
  sim.run(600)
  const { predictor } = sim.players[0]!.host
  const rollbacks = predictor!.rollbacks
  const before = sim.client(0, Ship)[0]!.y
  sim.hold(0, { rise: STICK })
  sim.run(300)
  expect(sim.client(0, Ship)[0]!.y).toBeGreaterThan(before + 40)
  expect(predictor!.rollbacks).toBe(rollbacks)
})

test('[SHMUP2] three bots finish level 1: waves, power-ups, a boss with three phases, and the next level', () => {
  const sim = simulate(game, { seed: 5, clients: 0 })
  for (let seed = 0; seed < 3; seed++) sim.host.addBot(createBot(seed))
  const levels: number[] = []
  const phases = new Set<number>()
  let [booms, picked, most] = [0, 0, 0]
  sim.host.onEvent(Level, ({ level, state }) => levels.push(level * 10 + state))
  sim.host.onEvent(Boom, () => booms++)
  sim.host.onEvent(Picked, () => picked++)
  for (let second = 0; second < 200 && !levels.includes(20); second++) {
    for (const pilot of sim.server(Pilot)) pilot.lives = 3
    sim.run(1000)
    most = Math.max(most, sim.server(Enemy).length + sim.server(Shot).length)
    for (const enemy of sim.server(Enemy)) if (enemy.kind === BOSS) phases.add(enemy.phase)
  }
  expect(levels).toContain(11)
  expect(levels).toContain(20)
  expect([...phases].sort()).toEqual([1, 2, 3])
  expect(booms).toBeGreaterThan(30)
  expect(picked).toBeGreaterThan(1)
  expect(most).toBeGreaterThan(15)
  expect(sim.server(Pilot).every(({ score }) => score > 0)).toBe(true)
})

test('[SHMUP3] without lives the match is lost, and starts over', () => {
  const sim = simulate(shmupGame(2), { seed: 1, clients: 0 })
  sim.host.addBot(() => ({}))
  sim.run(500)
  for (const pilot of sim.server(Pilot)) Object.assign(pilot, { lives: 0 })
  for (const ship of sim.server(Ship)) Object.assign(ship, { isUp: false })
  sim.run(500)
  expect(sim.server(Match)[0]).toMatchObject({ phase: 2, level: 2 })
  sim.run(7000)
  expect(sim.server(Match)[0]).toMatchObject({ phase: 0, level: 2 })
  expect(sim.server(Pilot)[0]).toMatchObject({ lives: 3 })
  expect(sim.server(Force)).toEqual([])
  expect(sim.server(Ship)[0]!.x).toBeLessThan(WIDTH)
})
