import { expect, test } from 'vitest'
import { World } from 'tickwire'
import { SaveSlots } from 'tickwire/engine'
import { simulate } from 'tickwire/testing'
import { fillSecrets, game as secretGame, Player, Secrets } from '../../docs/guide/examples/secrets.ts'
import {
  capture, copyWorld, rename, rollBack, Ship, Tide, tick, Watcher, whatDiffers,
} from '../../docs/guide/examples/state.ts'

function start(): World {
  const world = new World([Ship], { seed: 7 })
  const first = world.spawn(Ship, { name: 'Ada', speed: { x: 6, y: 0 } })
  world.spawn(Ship, { name: 'Bo', at: { x: 100, y: 50 }, target: first.id }, 1)
  return world
}

test('[SAVE1, STATE5] the code of the guide to state works as described', () => {
  const [world, twin] = [start(), start()]
  const slots = new SaveSlots(world, 8)
  const watcher = new Watcher(world)
  for (let count = 0; count < 30; count++) {
    tick(world)
    watcher.look()
    slots.save(world.tick % slots.count)
    tick(twin)
  }
  rollBack(world, slots, 6)
  expect(whatDiffers(world, twin)).toBeUndefined()
  expect(whatDiffers(copyWorld(world, new World([Ship], { seed: 7 })), twin)).toBeUndefined()
  const [ship] = [...twin.each(Ship)]
  expect(watcher.stillFor(ship!.id)).toBe(0)
  ship!.hull = 10
  tick(world)
  tick(twin)
  expect(ship!.shield?.strength).toBe(80)
  expect(whatDiffers(world, twin)).toMatchObject({ in: 'field', entity: 'Ship', id: ship!.id, field: 'hull' })
})

test('[SAVE2, WORLD11] the tide of the guide follows saved and loaded worlds, and ships change owners', () => {
  const tide = new Tide()
  const world = tide.makeWorld()
  const slots = new SaveSlots(world, 1)
  const [first, second] = [world.spawn(Ship, { name: 'Ada' }, 1), world.spawn(Ship, {}, 2)]
  slots.save(0)
  tide.level = 3
  rename(first, 'Bea')
  capture(world, first, second)
  expect([first.name, first.owner]).toEqual(['Bea', 2])
  slots.load(0)
  expect([tide.level, first.name, first.owner]).toEqual([0, 'Ada', 1])
})

test('[WORLD14] the cards of the guide to state do not follow from the seed, which every client knows', () => {
  const matches = [1, 2].map(() => {
    const sim = simulate(secretGame, { seed: 7, clients: 2, onMatch: fillSecrets, link: { latencyMs: 50 } })
    sim.run(400)
    sim.hold(0, { draw: true })
    sim.run(400)
    expect(sim.players[0]!.host.predictor!.world.seed).toBe(sim.host.world.seed)
    const [secrets] = sim.server(Secrets)
    const { card } = sim.own(0, Player)
    expect([card, secrets!.used]).toEqual([1 + secrets!.numbers[0]! % 52, 1])
    expect(sim.own(0, Player, 0).card, 'its player knows it').toBe(card)
    expect(sim.own(0, Player, 1).card, 'the other player does not').toBe(0)
    expect(sim.client(0, Secrets)).toMatchObject([{ numbers: [], used: 0 }])
    return secrets!.numbers
  })
  expect(matches[0]).not.toEqual(matches[1])
})
