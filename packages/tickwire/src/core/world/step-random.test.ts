import { describe, expect, test } from 'vitest'
import { referenceKeyed } from '../../../../../test/reference/prng-reference.ts'
import { entity } from '../schema/definition.ts'
import { u8 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { World } from './world.ts'

const Player = entity({ hp: u8 }, { name: 'Player' })
const SEED = 0x1234_5678_9abc

function twoPlayers(): { world: World; a: { id: number }; b: { id: number } } {
  const world = new World([Player], { seed: SEED })
  const [a, b] = [world.spawn(Player, {}), world.spawn(Player, {})]
  world.endTick()
  world.beginTick()
  return { world, a, b }
}

describe('a random number of a tick', () => {
  test('[WORLD14] is a function of seed, tick, object, and how much was drawn for it before', () => {
    const { world, a, b } = twoPlayers()
    const drawn = [
      world.random.u32(a),
      world.random.u32(b),
      world.random.u32(a),
      world.random.u32(world),
      world.random.u32(b),
    ]
    const expected = [
      [a, 0],
      [b, 0],
      [a, 1],
      [world, 0],
      [b, 1],
    ] as const
    expect(drawn).toEqual(expected.map(([of, ordinal]) => referenceKeyed(SEED, 1, of.id, ordinal)))
  })

  test('[WORLD14] does not depend on what is drawn for others', () => {
    const { world, a, b } = twoPlayers()
    const alone = twoPlayers()
    for (let count = 0; count < 5; count++) world.random.gaussian(b)
    world.random.shuffle(world, [1, 2, 3])
    expect([world.random.float(a), world.random.int(a, 1, 6)]).toEqual([
      alone.world.random.float(a),
      alone.world.random.int(a, 1, 6),
    ])
  })

  test('[WORLD14] numbers start over with every tick', () => {
    const { world, a } = twoPlayers()
    world.random.u32(a)
    world.endTick()
    world.beginTick()
    expect(world.random.u32(a)).toBe(referenceKeyed(SEED, 2, a.id, 0))
  })

  test('[WORLD14] differs from draws between ticks, which have their own numbers', () => {
    const { world, a } = twoPlayers()
    const inside = world.random.u32(a)
    world.endTick()
    const between = [world.random.u32(a), world.random.u32(a)]
    expect(between).toEqual([0, 1].map((ordinal) => referenceKeyed(SEED, 1, a.id, 2 ** 31 + ordinal)))
    expect(between).not.toContain(inside)
    world.beginTick()
    expect(world.random.u32(a)).toBe(referenceKeyed(SEED, 2, a.id, 0))
  })

  test('[WORLD14] repeats after loading a slot, wherever in the tick it was saved', () => {
    const { world, a } = twoPlayers()
    const slots = new SaveSlots(world, 1)
    world.random.u32(a)
    world.random.u32(world)
    slots.save(0)
    const first = [world.random.u32(a), world.random.float(world)]
    world.endTick()
    world.beginTick()
    world.random.u32(a)
    slots.load(0)
    expect([world.random.u32(a), world.random.float(world)]).toEqual(first)
  })

  test('[WORLD14] can be drawn for living objects only', () => {
    const { world, a } = twoPlayers()
    world.despawn(a)
    expect(world.random.u32(a)).toBe(referenceKeyed(SEED, 1, a.id, 0))
    world.endTick()
    world.spawn(Player, {})
    expect(() => world.random.u32(a)).toThrow('no object has the id')
    expect(() => world.random.u32({ id: 99 * 65_536 + 1 })).toThrow('no object has the id')
  })
})

test('[WORLD14] the state of the streaming generator is saved and loaded with the world', () => {
  const world = new World([Player], { seed: 5 })
  const slots = new SaveSlots(world, 1)
  world.prng.nextU32()
  slots.save(0)
  const first = [world.prng.nextU32(), world.prng.nextFloat()]
  slots.load(0)
  expect([world.prng.nextU32(), world.prng.nextFloat()]).toEqual(first)
})
