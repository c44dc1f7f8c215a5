import { expect, test } from 'vitest'
import { World } from 'tickwire'
import { Timeline, type ClientInterest } from 'tickwire/engine'
import {
  Backpack, Crate, Drone, ENTITIES, news, Plan, Radio, Score, Referee, Signal, Soldier, Submarine, watch, Zombie,
} from '../../docs/guide/examples/interest.ts'

function tick(world: World, step: () => void = () => {}): void {
  world.beginTick()
  step()
  world.endTick()
}

test('[INT3, INT4, INT5, INT8] the code of the guide to interest works as described', () => {
  const world = new World(ENTITIES)
  const referee = new Referee()
  for (const [peer, side] of [
    [1, 1],
    [2, 1],
    [3, 2],
  ] as const)
    referee.teams.set(peer, side)
  const [red, mate, blue, spectator] = watch(world, referee, [1, 2, 3, 9]) as [
    ClientInterest,
    ClientInterest,
    ClientInterest,
    ClientInterest,
  ]
  const soldier = world.spawn(Soldier, { at: { x: 0, y: 0 } }, 1)
  world.spawn(Soldier, { at: { x: 1000, y: 0 } }, 2)
  const enemy = world.spawn(Soldier, { at: { x: 500, y: 0 } }, 3)
  const score = world.spawn(Score, {})
  const crate = world.spawn(Crate, { at: { x: 45, y: 0 } })
  const pack = world.spawn(Backpack, {}, 1)
  const plan = world.spawn(Plan, { at: { x: 1500, y: 0 } }, 1)
  const drone = world.spawn(Drone, { at: { x: 520, y: 0 } }, 1)
  const boat = world.spawn(Submarine, { at: { x: 0, y: 100 }, depth: 50 })
  const signal = world.spawn(Signal, { channel: 7, words: 'north' })
  world.spawn(Radio, { channel: 7 }, 2)

  tick(world)
  for (const client of [red, mate, blue, spectator]) client.refresh(1)
  expect([red, mate, blue, spectator].map((client) => client.knows(score.id))).toEqual([true, true, true, true])
  expect([red, mate, blue].map((client) => client.knows(pack.id))).toEqual([true, false, false])
  expect([red, mate, blue].map((client) => client.knows(plan.id))).toEqual([true, true, false])
  expect([red, mate, blue].map((client) => client.knows(drone.id))).toEqual([true, true, true])
  expect([red, mate, blue].map((client) => client.knows(signal.id))).toEqual([false, true, false])
  expect([red.knows(crate.id), red.knows(boat.id), red.knows(enemy.id)]).toEqual([false, false, true])
  expect(spectator.count).toBe(1)

  spectator.viewer = 1
  tick(world, () => {
    crate.at.x = 40
    boat.depth = 3
  })
  expect(news(red, 2)).toEqual({ came: [crate.id, boat.id], went: [] })
  spectator.refresh(2)
  expect(spectator.count).toBe(red.count)
  tick(world, () => {
    crate.at.x = 49
    boat.depth = 60
  })
  expect(news(red, 3)).toEqual({ came: [], went: [boat.id] })

  referee.cameras.set(1, { x: 1500, y: 0 })
  tick(world)
  news(red, 4)
  expect([soldier, crate, enemy, drone].map(({ id }) => red.knows(id))).toEqual([true, false, false, true])
})

test('[RATE2] moods change five times a second, health twenty times', () => {
  const world = new World(ENTITIES)
  const timeline = new Timeline(world, 61, 60)
  const zombie = world.spawn(Zombie, {})
  const type = world.storeOf(Zombie).type
  const rows = { health: new Set<unknown>(), mood: 0 }
  let mood: unknown = 'calm'
  for (let count = 1; count <= 60; count++) {
    tick(world, () => {
      zombie.health = count
      zombie.mood = mood === 'calm' ? 'angry' : 'calm'
    })
    timeline.sample()
    rows.health.add(timeline.read(Zombie, zombie.id, count, 'health'))
    const received = timeline.read(Zombie, zombie.id, count, 'mood')
    if (received !== mood) rows.mood++
    mood = received
  }
  expect(timeline.find(type, zombie.id, 60)).toBeGreaterThan(0)
  expect(rows.health.size).toBe(21)
  expect(rows.mood).toBe(6)
})
