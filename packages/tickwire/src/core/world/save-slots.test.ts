import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { hashHex } from '../base/hash.ts'
import { entity } from '../schema/definition.ts'
import { fixed, group, list, ref, text, u8 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { StateHash } from './state-hash.ts'
import { World } from './world.ts'

const Ball = entity(
  { x: fixed(0, 100, 0.1), label: text(20), shield: group({ hp: u8 }), pals: list(ref(), 4) },
  { name: 'Ball' },
)
const Brick = entity({ hits: u8 }, { name: 'Brick' })

function hashOf(world: World): string {
  world.sample()
  return hashHex(new StateHash(world).update(), 0)
}

describe('a save slot', () => {
  test('[SAVE2] holds tick, objects, owners, ids to come, both generators and external state', () => {
    let outside = 5
    const world = new World([Ball, Brick], {
      seed: 3,
      external: {
        encode: () => Uint8Array.of(outside),
        decode: ([saved]) => {
          outside = saved!
        },
      },
    })
    const slots = new SaveSlots(world, 3)
    const [kept, freed] = [world.spawn(Ball, { x: 1, label: 'kept' }, 4), world.spawn(Brick, {})]
    world.despawn(freed)
    world.endTick()
    world.beginTick()
    world.random.u32(kept)
    slots.save(1)
    const before = hashOf(world)

    const future = (): readonly unknown[] => {
      outside++
      const spawned = [world.spawn(Ball, {}).id, world.spawn(Brick, {}).id]
      kept.x += 3
      kept.label = 'changed'
      kept.shield = { hp: 2 }
      kept.pals = [kept.id]
      world.setOwner(kept, 8)
      const drawn = [world.prng.nextU32(), world.random.u32(kept), world.random.u32(world)]
      world.endTick()
      return [world.tick, outside, ...spawned, ...drawn, hashOf(world)]
    }
    const first = future()
    expect(first.slice(0, 4)).toEqual([1, 6, 2 * 65_536 - 65_536 + 2, 2 * 65_536 + 1])
    for (let again = 0; again < 3; again++) {
      slots.load(1)
      expect([kept.x, kept.label, kept.owner, kept.shield, kept.pals, outside, hashOf(world)]).toEqual([
        1,
        'kept',
        4,
        null,
        [],
        5,
        before,
      ])
      expect(future()).toEqual(first)
    }
    expect([slots.count, slots.tickOf(0), slots.tickOf(1)]).toEqual([3, -1, 1])
    slots.clear(1)
    expect(() => slots.load(1)).toThrow(InvariantError)
  })

  test('[SAVE2] holds rows as they were, where they can be read, and brings them back', () => {
    const world = new World([Ball, Brick])
    const slots = new SaveSlots(world, 2)
    const hashes = new StateHash(world)
    const [ball, brick] = [world.spawn(Ball, { x: 3, label: 'then' }, 7), world.spawn(Brick, { hits: 4 })]
    world.endTick()
    const then = hashHex(hashes.update(), 0)
    slots.save(0)
    ball.x = 9
    ball.label = 'now'
    brick.hits = 5
    world.endTick()
    const now = hashHex(hashes.update(), 0)
    const rowOf = (type: number): number =>
      slots.rowsOf(0)[type]![world.objects.slotAt(type) * world.stores[type]!.schema.laneCount]!
    expect([rowOf(0), rowOf(1), slots.highWaterOf(0), slots.wordsOf(0)[0], slots.wordsOf(0)[1]]).toEqual([
      30,
      4,
      2,
      ball.id,
      7,
    ])
    slots.load(0)
    // No sample was taken since: the rows are loaded, and a hash that follows the samples finds that they differ.
    expect(hashHex(hashes.update(), 0)).toBe(then)
    expect(now).not.toBe(then)
  })

  test('[SAVE3] is valid whatever happened to the world since: growth, deaths, reuse', () => {
    const world = new World([Ball, Brick])
    const slots = new SaveSlots(world, 2)
    const balls = Array.from({ length: 10 }, (_, at) => world.spawn(Ball, { x: at }))
    world.endTick()
    slots.save(0)
    const before = hashOf(world)
    for (let count = 0; count < 2000; count++)
      world.spawn(count % 2 === 0 ? Ball : Brick, { x: 1, label: `b${count}` } as never)
    for (const ball of balls) world.despawn(ball)
    world.endTick()
    for (let count = 0; count < 20; count++) world.spawn(Ball, {})
    world.endTick()
    slots.save(1)
    const after = hashOf(world)
    for (const [slot, hash] of [[0, before], [1, after], [1, after], [0, before]] as const) {
      slots.load(slot)
      expect(hashOf(world)).toBe(hash)
      expect(world.count(Brick)).toBe(slot === 0 ? 0 : 1000)
      expect(balls.map((ball) => ball.isAlive)).toEqual(balls.map(() => slot === 0))
    }
    expect(balls.map((ball) => ball.x)).toEqual(balls.map((_, at) => at))
    expect(world.spawn(Ball, {}).id).toBe(10 * 65_536 + 1)
  })

  test('[SAVE2] taken in the middle of a tick includes objects that died in it', () => {
    const world = new World([Ball, Brick])
    const slots = new SaveSlots(world, 1)
    const [dead, alive] = [world.spawn(Ball, { x: 7 }), world.spawn(Brick, {})]
    world.endTick()
    world.beginTick()
    world.despawn(dead)
    slots.save(0)
    const rest = (): readonly number[] => {
      const during = world.spawn(Ball, {}).id
      world.endTick()
      return [during, world.spawn(Ball, {}).id, world.spawn(Brick, {}).id, dead.x]
    }
    const first = rest()
    expect(first).toEqual([2 * 65_536 + 1, 2, 3 * 65_536 + 1, 0])
    world.despawn(alive)
    slots.load(0)
    expect([dead.isAlive, dead.x, alive.isAlive]).toEqual([false, 7, true])
    expect(rest()).toEqual(first)
  })

  test('[SAVE2] taken in the middle of a tick can be loaded before and after its end, and no object dies twice', () => {
    for (const isChanged of [false, true]) {
      const world = new World([Ball, Brick])
      const slots = new SaveSlots(world, 2)
      const dead = world.spawn(Ball, { x: 7 })
      world.endTick()
      slots.save(1)
      world.beginTick()
      world.despawn(dead)
      slots.save(0)
      world.endTick()
      // With a birth since the save handles are bound again; without one they are not.
      if (isChanged) world.spawn(Brick, {})
      slots.load(0)
      const during = world.spawn(Ball, { x: 1 })
      expect(dead.x).toBe(7)
      world.endTick()
      const [first, second] = [world.spawn(Ball, { x: 2 }), world.spawn(Ball, { x: 3 })]
      expect([during.x, first.x, second.x, world.count(Ball)]).toEqual([1, 2, 3, 3])
      expect(first.id).toBe(dead.id + 1)
      // From a tick with deaths to one without.
      world.despawn(first)
      slots.load(1)
      world.endTick()
      expect([dead.isAlive, dead.x, world.count(Ball), world.spawn(Ball, {}).id]).toEqual([true, 7, 1, 65_537])
    }
  })

  test('[SAVE3] a world that is loaded again and again does not grow', () => {
    const world = new World([Ball])
    const slots = new SaveSlots(world, 1)
    const balls = Array.from({ length: 8 }, () => world.spawn(Ball, {}))
    for (const ball of balls.slice(0, 4)) world.despawn(ball)
    world.endTick()
    for (let count = 0; count < 500; count++) {
      slots.save(0)
      world.spawn(Ball, {})
      slots.load(0)
      world.despawn(world.spawn(Ball, {}))
      world.endTick()
    }
    expect(world.stores[0]!.highSlot).toBeLessThan(12)
    expect(world.objects.highWater).toBeLessThan(12)
  })

  test('[SAVE3] taken again and again holds the newest', () => {
    const world = new World([Brick])
    const slots = new SaveSlots(world, 1)
    const brick = world.spawn(Brick, {})
    for (let hits = 0; hits < 5; hits++) {
      brick.hits = hits
      world.endTick()
      slots.save(0)
      for (let count = 0; count < hits * 20; count++) world.spawn(Brick, {})
      brick.hits = 99
      slots.load(0)
      expect([brick.hits, world.count(Brick)]).toEqual([hits, 1])
    }
    expect(slots.byteLength).toBeGreaterThan(0)
  })
})
