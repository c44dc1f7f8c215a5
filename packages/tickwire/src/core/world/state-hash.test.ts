import { describe, expect, test } from 'vitest'
import { referenceHash } from '../../../../../test/reference/hash-reference.ts'
import { allocatorHash, objectHash, referenceTree, worldHash } from '../../../../../test/reference/world-hash.ts'
import { hashHex } from '../base/hash.ts'
import { Prng } from '../base/prng.ts'
import { entity } from '../schema/definition.ts'
import { bool, fixed, group, text, u8 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { flatHash, StateHash } from './state-hash.ts'
import { World, type WorldOptions } from './world.ts'

const Ball = entity({ x: fixed(0, 100, 1), isHot: bool, shield: group({ hp: u8 }) }, { name: 'Ball' })
const Note = entity({ text: text(40), x: u8 }, { name: 'Note' })

function makeWorld(options: WorldOptions = {}): World {
  return new World([Ball, Note], options)
}

/** The hash by a `StateHash` that has never seen the world before. */
function fresh(world: World): string {
  return hashHex(new StateHash(world).update(), 0)
}

function flat(world: World): string {
  const out = new Uint32Array(2)
  flatHash(world, out)
  return hashHex(out, 0)
}

/** Both hashes of a world: a change of one must change the other. */
function both(world: World): readonly string[] {
  return [fresh(world), flat(world)]
}

describe('the state hash', () => {
  test('[STATE1] covers tick, generator, objects by entity, external state and allocator, like its slow twin', () => {
    const world = makeWorld({
      seed: 7,
      external: { encode: () => new Uint8Array(0), decode: () => {}, hash: () => 0xabcd_0123 },
    })
    world.spawn(Note, { x: 9 }, 3)
    const ball = world.spawn(Ball, { x: 5, isHot: true, shield: { hp: 4 } }, 2)
    world.tick = 2 ** 32 + 5
    world.endTick()
    // No text is a length of 0, one byte; its bits are the seed.
    const noText = referenceHash(new Uint8Array(1), 8)
    const roots = [
      referenceTree(new Map([[1, objectHash(ball.id, 2, [5, 1, 1, 4])]])),
      referenceTree(new Map([[0, objectHash(1, 3, [Number(noText & 0xffff_ffffn), Number(noText >> 32n), 9])]])),
    ]
    const wanted = worldHash(2 ** 32 + 5, [...world.prng.state], roots, 0xabcd_0123, allocatorHash(2, [], []))
    expect(fresh(world)).toBe(wanted.toString(16).padStart(16, '0'))
  })

  test('[STATE2] a hash updated at any interval equals one computed from scratch', () => {
    const dice = new Prng(3)
    const world = makeWorld()
    const slots = new SaveSlots(world, 4)
    const hash = new StateHash(world)
    for (let count = 0; count < 400; count++) {
      world.beginTick()
      for (const ball of world.each(Ball)) {
        if (dice.nextInt(0, 3) === 0) ball.x = dice.nextInt(0, 9)
        if (dice.nextInt(0, 9) === 0) world.setOwner(ball, dice.nextInt(0, 3))
        if (dice.nextInt(0, 9) === 0) ball.shield = ball.shield === null ? { hp: 1 } : null
        if (dice.nextInt(0, 20) === 0) world.despawn(ball)
      }
      for (const note of world.each(Note)) {
        if (dice.nextInt(0, 3) === 0) note.text = `n${dice.nextInt(0, 9)}`
        if (dice.nextInt(0, 20) === 0) world.despawn(note)
      }
      if (dice.nextInt(0, 2) === 0) world.spawn(dice.nextInt(0, 1) === 0 ? Ball : Note, {})
      world.endTick()
      if (dice.nextInt(0, 9) === 0) slots.save(dice.nextInt(0, 3))
      const back = dice.nextInt(0, 3)
      if (dice.nextInt(0, 9) === 0 && slots.tickOf(back) >= 0) {
        slots.load(back)
        world.sample()
      }
      if (dice.nextInt(0, 2) === 0) expect(hashHex(hash.update(), 0), `step ${count}`).toBe(fresh(world))
    }
  })

  test('[STATE2] an owner that a load restores, without births or deaths since, is noticed', () => {
    const world = makeWorld()
    const slots = new SaveSlots(world, 1)
    const hash = new StateHash(world)
    const ball = world.spawn(Ball, {}, 1)
    world.endTick()
    const before = hashHex(hash.update(), 0)
    slots.save(0)
    world.setOwner(ball, 2)
    world.endTick()
    expect(hashHex(hash.update(), 0)).not.toBe(before)
    slots.load(0)
    world.sample()
    expect(hashHex(hash.update(), 0)).toBe(before)
  })

  test('[STATE2] an object that is born again after a load, in the same place with other content, is noticed', () => {
    const world = makeWorld()
    const slots = new SaveSlots(world, 1)
    const hash = new StateHash(world)
    slots.save(0)
    world.spawn(Ball, { x: 1 })
    world.endTick()
    hash.update()
    slots.load(0)
    world.spawn(Ball, { x: 2 })
    world.endTick()
    expect(hashHex(hash.update(), 0)).toBe(fresh(world))
  })

  test('[STATE3] covers content: slots, handles of values, table sizes and the past are not in it', () => {
    const plain = makeWorld()
    plain.spawn(Ball, { x: 1 })
    plain.spawn(Note, { text: 'hello' })
    plain.endTick()

    const eventful = makeWorld()
    const slots = new SaveSlots(eventful, 1)
    slots.save(0)
    for (let count = 0; count < 300; count++)
      eventful.spawn(count % 2 === 0 ? Note : Ball, { text: `t${count}`, x: 3 } as never)
    eventful.endTick()
    slots.load(0)
    const ball = eventful.seat(0, 1, 0) as unknown as { x: number }
    const note = eventful.seat(1, 65_537, 0) as unknown as { text: string }
    note.text = 'first something else'
    ball.x = 1
    note.text = 'hello'
    eventful.endTick()
    expect(both(eventful)).toEqual(both(plain))
  })

  test('[STATE4] differs when anything differs', () => {
    const variants: readonly (readonly [name: string, change: (world: World) => void])[] = [
      ['nothing', () => {}],
      ['a number', (world) => { for (const ball of world.each(Ball)) ball.x++ }],
      ['one of two', (world) => { world.get(Ball, 1)!.x++ }],
      ['the other', (world) => { world.get(Ball, 65_537)!.x++ }],
      ['a flag', (world) => { world.get(Ball, 1)!.isHot = true }],
      ['a group', (world) => { world.get(Ball, 1)!.shield = { hp: 0 } }],
      ['a text', (world) => { for (const note of world.each(Note)) note.text = 'other' }],
      ['an owner', (world) => world.setOwner({ id: 1 }, 9)],
      ['a death', (world) => world.despawn({ id: 65_537 })],
      ['a birth', (world) => world.spawn(Ball, {})],
      ['a birth of another entity', (world) => world.spawn(Note, {})],
      ['another generation', (world) => { world.despawn({ id: 1 }); world.endTick(); world.spawn(Ball, { x: 1 }) }],
      ['the tick', (world) => { world.tick++ }],
      ['a draw', (world) => { world.prng.nextU32() }],
    ]
    const hashes = variants.map(([, change]) => {
      const world = makeWorld()
      world.spawn(Ball, { x: 1 })
      world.spawn(Ball, { x: 2 })
      world.spawn(Note, { text: 'a' })
      world.endTick()
      change(world)
      world.endTick()
      return both(world)
    })
    for (const form of [0, 1]) expect(new Set(hashes.map((pair) => pair[form])).size).toBe(variants.length)
    const outside = (hash: number): readonly string[] =>
      both(makeWorld({ external: { encode: () => new Uint8Array(0), decode: () => {}, hash: () => hash } }))
    expect(outside(1)).not.toEqual(outside(2))
  })

  test('[STATE4] equal objects with other future ids are not the same state', () => {
    const after = (deaths: readonly number[]): World => {
      const world = makeWorld()
      const balls = Array.from({ length: 3 }, () => world.spawn(Ball, {}))
      for (const at of deaths) world.despawn(balls[at]!)
      world.endTick()
      return world
    }
    const [forth, back] = [after([0, 1]), after([1, 0])]
    expect([...forth.each(Ball)].map(({ id }) => id)).toEqual([...back.each(Ball)].map(({ id }) => id))
    expect(fresh(forth)).not.toBe(fresh(back))
    expect(flat(forth)).not.toBe(flat(back))
    expect(forth.spawn(Ball, {}).id).not.toBe(back.spawn(Ball, {}).id)
  })

  test('[STATE4] two objects that trade their rows, and equal rows in other entities, are not the same', () => {
    const pair = (first: number, second: number): readonly string[] => {
      const world = makeWorld()
      world.spawn(Ball, { x: first })
      world.spawn(Ball, { x: second })
      world.endTick()
      return both(world)
    }
    expect(pair(1, 2)).not.toEqual(pair(2, 1))
    const [A, B] = [entity({ x: u8 }), entity({ x: u8 })]
    const one = (type: 0 | 1): readonly string[] => {
      const world = new World([A, B])
      world.spawn([A, B][type]!, { x: 5 })
      world.endTick()
      return both(world)
    }
    expect(one(0)[0]).not.toBe(one(1)[0])
    expect(one(0)[1]).not.toBe(one(1)[1])
  })

  test('[STATE8] the flat form keeps nothing between ticks and is a different hash', () => {
    const world = makeWorld()
    world.spawn(Ball, { x: 1 })
    world.endTick()
    expect(flat(world)).toBe(flat(world))
    expect(flat(world)).not.toBe(fresh(world))
  })
})
