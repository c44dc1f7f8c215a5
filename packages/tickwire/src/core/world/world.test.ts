import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { OBJECTS_MAX } from '../base/limits.ts'
import { entity } from '../schema/definition.ts'
import { fixed, ref, text, u8 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { indexOf } from './object-table.ts'
import { World } from './world.ts'

const Ball = entity({ x: fixed(0, 100, 0.1), hue: u8.initially(7) }, { name: 'Ball' })
const Chaser = entity({ target: ref(), name: text(20) }, { name: 'Chaser' })

function makeWorld(): World {
  return new World([Ball, Chaser])
}

function idsOf(world: World, type: typeof Ball | typeof Chaser = Ball): number[] {
  return [...world.each(type)].map(({ id }) => id)
}

describe('objects', () => {
  test('[WORLD3] start with the values of init, else initial values, and belong to the authority by default', () => {
    const world = makeWorld()
    const mine = world.spawn(Ball, { x: 3 }, { id: 5 })
    const unowned = world.spawn(Ball, {})
    expect([mine.x, mine.hue, mine.owner]).toEqual([3, 7, 5])
    expect([unowned.x, unowned.hue, unowned.owner]).toEqual([0, 7, 0])
    expect(world.count(Ball)).toBe(2)
    expect(world.count(Chaser)).toBe(0)
  })

  test('[WORLD3] a spawn with invalid values leaves no trace', () => {
    const world = makeWorld()
    // A value that only code without types can pass.
    expect(() => world.spawn(Chaser, { name: 5 as unknown as string })).toThrow('Chaser.name')
    expect(world.count(Chaser)).toBe(0)
    const chaser = world.spawn(Chaser, { name: 'a' })
    expect(chaser.id).toBe(1)
    expect(chaser.name).toBe('a')
  })

  test('[WORLD4] are dead at once, and can be read until the tick ends', () => {
    const world = makeWorld()
    const ball = world.spawn(Ball, { x: 50 }, 2)
    world.endTick()
    world.beginTick()
    world.despawn(ball)
    world.despawn(ball)
    expect(ball.isAlive).toBe(false)
    expect(world.get(Ball, ball.id)).toBeNull()
    expect(idsOf(world)).toEqual([])
    expect([ball.x, ball.owner]).toEqual([50, 2])
    const next = world.spawn(Ball, { x: 1 })
    expect(next.id >>> 16).toBe(1)
    expect(ball.x).toBe(50)
    world.endTick()
    expect([ball.x, ball.owner]).toEqual([0, 0])
    expect(world.spawn(Ball, {}).id).toBe(2)
  })

  test('[WORLD4] are distinguished by entity', () => {
    const world = makeWorld()
    const ball = world.spawn(Ball, {})
    expect(world.get(Ball, ball.id)).toBe(ball)
    expect(world.get(Chaser, ball.id)).toBeNull()
    expect(world.get(Ball, null)).toBeNull()
    expect(() => world.each(entity({ a: u8 }, { name: 'Stranger' }))).toThrow(ConfigError)
  })

  test('[WORLD10] 65,536 of them fit; one more is refused by name, and a despawn makes room', () => {
    const world = makeWorld()
    for (let count = 0; count < OBJECTS_MAX; count++) world.spawn(Ball, {})
    const last = idsOf(world).at(-1)!
    expect(() => world.spawn(Chaser, {})).toThrow('Chaser: the world is full (65536 objects)')
    world.endTick()
    world.despawn({ id: last })
    expect(() => world.spawn(Ball, {})).toThrow(RangeError)
    world.endTick()
    expect(world.spawn(Chaser, { name: 'late' }).name).toBe('late')
    expect(world.count(Ball)).toBe(OBJECTS_MAX - 1)
  })

  test('[WORLD10] more entities than a byte can number are refused', () => {
    expect(() => new World(Array.from({ length: 256 }, () => entity({ a: u8 })))).toThrow('at most 255')
    expect(() => new World([Ball], { seed: -1 })).toThrow('seed')
  })

  test('[WORLD11] change owners', () => {
    const world = makeWorld()
    const ball = world.spawn(Ball, {}, 3)
    world.setOwner(ball, { id: 9 })
    expect(ball.owner).toBe(9)
    world.setOwner(ball)
    expect(ball.owner).toBe(0)
    world.despawn(ball)
    world.endTick()
    const heir = world.spawn(Ball, {}, 4)
    world.setOwner(ball, 8)
    expect(heir.owner).toBe(4)
  })
})

describe('each', () => {
  test('[WORLD2] visits objects in ascending order of ids, whatever the order of spawns', () => {
    const world = makeWorld()
    const balls = Array.from({ length: 200 }, () => world.spawn(Ball, {}))
    for (const [at, ball] of balls.entries()) if (at % 3 === 0) world.despawn(ball)
    world.endTick()
    for (let count = 0; count < 90; count++) world.spawn(count % 2 === 0 ? Ball : Chaser, {})
    const ids = idsOf(world)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(ids.length).toBe(world.count(Ball))
  })

  test('[WORLD2] leaves out objects that are despawned or spawned during the loop', () => {
    const world = makeWorld()
    const balls = Array.from({ length: 6 }, () => world.spawn(Ball, {}))
    const seen: number[] = []
    for (const ball of world.each(Ball)) {
      seen.push(ball.id)
      if (seen.length === 2) {
        for (const at of [0, 1, 2, 4]) world.despawn(balls[at]!)
        world.spawn(Ball, {})
      }
    }
    expect(seen).toEqual([0, 1, 3, 5].map((at) => balls[at]!.id))
    expect(world.count(Ball)).toBe(3)
  })

  test('[WORLD2] loops within loops do not disturb each other, and one may be left early', () => {
    const world = makeWorld()
    for (let count = 0; count < 4; count++) world.spawn(Ball, {})
    const pairs: [number, number][] = []
    for (const a of world.each(Ball)) {
      for (const b of world.each(Ball)) {
        if (b.id === a.id) break
        pairs.push([a.id, b.id])
      }
    }
    expect(pairs.length).toBe(6)
  })

  test('[WORLD2] an iterable that was kept starts again each time', () => {
    const world = makeWorld()
    const balls = world.each(Ball)
    expect([...balls].length).toBe(0)
    world.spawn(Ball, {})
    expect([...balls].length).toBe(1)
    expect([...balls].length).toBe(1)
  })
})

describe('references', () => {
  test('[WORLD8] read as null while no object has their id', () => {
    const world = makeWorld()
    const ball = world.spawn(Ball, {})
    const chaser = world.spawn(Chaser, { target: ball.id })
    world.endTick()
    expect(chaser.target).toBe(ball.id)
    world.despawn(ball)
    expect(chaser.target).toBeNull()
    world.endTick()
    const heir = world.spawn(Ball, {})
    expect(heir.id >>> 16).toBe(ball.id >>> 16)
    expect(chaser.target).toBeNull()
    chaser.target = heir.id
    expect(world.get(Ball, chaser.target)).toBe(heir)
    chaser.target = null
    expect(chaser.target).toBeNull()
  })
})

describe('handles over time', () => {
  test('[WORLD5] handles of dead objects read initial values, and writes change nothing', () => {
    const world = makeWorld()
    const [dead, alive] = [world.spawn(Ball, { x: 1 }), world.spawn(Ball, { x: 2 })]
    world.despawn(dead)
    world.endTick()
    dead.x = 77
    world.endTick()
    expect([dead.x, dead.hue, alive.x]).toEqual([0, 7, 2])
    const heir = world.spawn(Ball, { x: 5 })
    dead.x = 66
    expect(heir.x).toBe(5)
    expect(heir).not.toBe(dead)
  })

  test('[WORLD5] stay valid while the world grows', () => {
    const world = makeWorld()
    const first = world.spawn(Ball, { x: 1 })
    for (let count = 0; count < 1000; count++) world.spawn(Ball, {})
    first.x = 9
    world.endTick()
    expect(world.get(Ball, first.id)?.x).toBe(9)
    expect(first).toBe(world.get(Ball, first.id))
  })

  test('[WORLD5] of an object that lives again after a load stand for it again', () => {
    const world = makeWorld()
    const slots = new SaveSlots(world, 2)
    slots.save(0)
    const ball = world.spawn(Ball, { x: 8 })
    world.endTick()
    slots.save(1)
    slots.load(0)
    expect(ball.isAlive).toBe(false)
    expect(ball.x).toBe(0)
    const again = world.spawn(Ball, { x: 4 })
    expect(again).toBe(ball)
    expect([ball.isAlive, ball.x]).toEqual([true, 4])
    slots.load(1)
    expect([ball.isAlive, ball.x]).toEqual([true, 8])
    expect(world.get(Ball, ball.id)).toBe(ball)
  })

  test('[WORLD5] of an object whose id went to another entity stay dead', () => {
    const world = makeWorld()
    const slots = new SaveSlots(world, 1)
    slots.save(0)
    const ball = world.spawn(Ball, { x: 8 })
    slots.load(0)
    const chaser = world.spawn(Chaser, { name: 'me' })
    expect(chaser.id).toBe(ball.id)
    expect([ball.isAlive, ball.x, chaser.name]).toEqual([false, 0, 'me'])
  })
})

describe('seats', () => {
  test('a seated object is as the authority says, and is gone at once when it is removed', () => {
    const world = new World([Ball, Chaser], { isReadOnly: true })
    const handle = world.seat(0, 5 * 65_536 + 3, 4)
    expect(idsOf(world)).toEqual([handle.id])
    expect(world.atIndexOf(5 * 65_536 + 9)).toBe(handle)
    expect(world.atIndexOf(6 * 65_536 + 9)).toBeUndefined()
    world.unseat(handle)
    expect(idsOf(world)).toEqual([])
    expect(handle.isAlive).toBe(false)
    expect(world.seat(0, 5 * 65_536 + 4, 4)).not.toBe(handle)
  })
})

describe('births', () => {
  const birthsOf = (world: World): number[][] =>
    idsOf(world).map((id) => [world.objects.birthTickAt(indexOf(id)), world.objects.birthOrdinalAt(indexOf(id))])

  test('[WORLD15] an object knows its birth tick, and its ordinal there among objects of its entity and owner', () => {
    const world = makeWorld()
    world.spawn(Ball, {}, 3)
    world.beginTick()
    // The first object is born in tick 1 as well: an object that spawns between ticks belongs to the next tick.
    const dead = world.spawn(Ball, {}, 3)
    world.spawn(Ball, {}, 4)
    world.spawn(Chaser, {}, 3)
    world.despawn(dead)
    world.spawn(Ball, {}, 3)
    world.endTick()
    world.beginTick()
    world.spawn(Ball, {}, 3)
    // The second object has the index of the dead one.
    expect(birthsOf(world)).toEqual([[1, 0], [2, 0], [1, 0], [1, 2]])
    const slots = new SaveSlots(world, 1)
    slots.save(0)
    for (let again = 0; again < 2; again++) {
      world.spawn(Ball, {}, 3)
      world.endTick()
      expect(birthsOf(world)[4]).toEqual([2, 1])
      slots.load(0)
    }
    expect(birthsOf(world)).toHaveLength(4)
    expect(world.seat(0, 700 * 65_536 + 1, 0).isAlive).toBe(true)
    expect(world.objects.birthTickAt(700)).toBe(0)
  })

  test('[WORLD16] a predicted spawn has a provisional id, and keeps handle and birth under the real one', () => {
    const world = makeWorld()
    world.objects.provisionalFrom = 100
    world.seat(0, 7 * 65_536 + 1, 2)
    world.beginTick()
    const [ball, second] = [world.spawn(Ball, { x: 4 }, 2), world.spawn(Ball, { x: 5 }, 2)]
    expect([ball.id >>> 16, second.id >>> 16]).toEqual([100, 101])
    world.despawn(second)
    expect(world.spawn(Ball, {}, 2).id >>> 16).toBe(102)
    world.endTick()
    world.beginTick()
    expect(world.spawn(Ball, {}, 2).id).toBe(101 * 65_536 + 0x8002)
    world.rename(world.atIndexOf(ball.id)!, 9 * 65_536 + 1)
    expect([ball.id, ball.x, ball.isAlive, ball.owner]).toEqual([9 * 65_536 + 1, 4, true, 2])
    expect(world.get(Ball, 9 * 65_536 + 1)).toBe(ball)
    expect(world.get(Ball, 100 * 65_536 + 1)).toBeNull()
    expect([world.objects.birthTickAt(9), world.objects.birthOrdinalAt(9)]).toEqual([1, 0])
    expect(idsOf(world).map((id) => id >>> 16)).toEqual([7, 9, 101, 102])
    ball.x = 6
    world.endTick()
    expect(world.get(Ball, ball.id)?.x).toBe(6)
  })
})
