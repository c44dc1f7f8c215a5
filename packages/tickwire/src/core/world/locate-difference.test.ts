import { describe, expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import { fixed, text, u8 } from '../schema/field-kinds.ts'
import { locateDifference, type Difference, type Hashed, type Located } from './locate-difference.ts'
import { StateHash } from './state-hash.ts'
import { World } from './world.ts'

/** 16 entities, the last of them with 32 fields. */
const SMALL = Array.from({ length: 15 }, (_, at) => entity({ a: u8, name: text(9) }, { name: `Small${at}` }))
const Big = entity(Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`f${at}`, fixed(0, 100, 1)])), {
  name: 'Big',
})
const ENTITIES = [...SMALL, Big]
const OBJECTS = 4096

function makeWorld(change: (world: World, ids: readonly number[]) => void, options = {}): Hashed {
  const world = new World(ENTITIES, options)
  const ids = Array.from({ length: OBJECTS }, (_, at) => world.spawn(ENTITIES[at % 16]!, {}).id)
  world.beginTick()
  change(world, ids)
  world.endTick()
  const hash = new StateHash(world)
  hash.update()
  return { world, hash }
}

function locate(change: (world: World, ids: readonly number[]) => void, options = {}): Located {
  const found = locateDifference(makeWorld(() => {}), makeWorld(change, options))
  const back = locateDifference(makeWorld(change, options), makeWorld(() => {}))
  expect({ ...back, difference: turned(back.difference) }).toEqual(found)
  return found
}

/** The difference as seen from the other world. */
function turned(difference: Difference | undefined): Difference | undefined {
  if (difference?.in !== 'field') return difference
  const [a, b] = difference.values
  return { ...difference, values: [b, a] }
}

/**
 * The most comparisons of a search: the root and three per level in the trees of entities and of objects, one per
 * halving of the fields, and the parts outside the trees.
 */
const COMPARISONS_MAX = (1 + 3 * Math.log2(16) / 2) + (1 + 3 * Math.log2(OBJECTS) / 2) + Math.log2(32) + 4

describe('the first difference between two worlds', () => {
  const at = (index: number): number => index * 65_536 + 1
  const cases: readonly (readonly [
    name: string,
    change: (world: World, ids: readonly number[]) => void,
    difference: Difference | undefined,
  ])[] = [
    ['none', () => {}, undefined],
    [
      'a field of the first object',
      (world) => {
        world.get(SMALL[0]!, at(0))!.a = 1
      },
      { in: 'field', entity: 'Small0', id: at(0), field: 'a', values: [0, 1] },
    ],
    [
      'a text',
      (world) => {
        world.get(SMALL[9]!, at(9 + 160))!.name = 'x'
      },
      { in: 'field', entity: 'Small9', id: at(9 + 160), field: 'name', values: ['', 'x'] },
    ],
    [
      'the last field of the last object',
      (world) => {
        world.get(Big, at(4095))!['f31'] = 7
      },
      { in: 'field', entity: 'Big', id: at(4095), field: 'f31', values: [0, 7] },
    ],
    [
      'a field in the middle',
      (world) => {
        world.get(Big, at(2047))!['f17'] = 7
      },
      { in: 'field', entity: 'Big', id: at(2047), field: 'f17', values: [0, 7] },
    ],
    [
      'an owner',
      (world) => world.setOwner({ id: at(100) }, 5),
      { in: 'field', entity: 'Small4', id: at(100), field: 'owner', values: [0, 5] },
    ],
    ['a death', (world) => world.despawn({ id: at(33) }), { in: 'existence', entity: 'Small1', id: at(33) }],
    [
      'a birth',
      (world) => {
        world.spawn(SMALL[2]!, {})
      },
      { in: 'existence', entity: 'Small2', id: at(4096) },
    ],
    [
      'the generator',
      (world) => {
        world.prng.nextU32()
      },
      { in: 'generator' },
    ],
    [
      'the ids to come',
      (world) => {
        const { id } = world.spawn(Big, {})
        world.despawn({ id })
      },
      { in: 'allocator' },
    ],
    [
      'the tick',
      (world) => {
        world.tick++
      },
      { in: 'tick' },
    ],
  ]

  test.each(cases)('[STATE5] %s: is named, in O(log n) comparisons', (_, change, difference) => {
    const located = locate(change)
    expect(located.difference).toEqual(difference)
    expect(located.comparisons).toBeLessThanOrEqual(COMPARISONS_MAX)
  })

  test('[STATE5] in external state', () => {
    expect(
      locate(() => {}, { external: { encode: () => new Uint8Array(0), decode: () => {}, hash: () => 1 } }).difference,
    ).toEqual({ in: 'external' })
  })

  test('[STATE5] of several, the lowest entity, object and field', () => {
    const { difference } = locate((world) => {
      for (const index of [4095, 3000, 2047])
        if (index % 16 === 15) Object.assign(world.get(Big, at(index))!, { f20: 1, f9: 1, f30: 1 })
      world.prng.nextU32()
    })
    expect(difference).toEqual({ in: 'field', entity: 'Big', id: at(2047), field: 'f9', values: [0, 1] })
  })

  test('[STATE5] between tables of different sizes', () => {
    const { difference, comparisons } = locate((world) => {
      for (let count = 0; count < 5000; count++) world.spawn(Big, {})
    })
    expect(difference).toEqual({ in: 'existence', entity: 'Big', id: at(4096) })
    expect(comparisons).toBeLessThanOrEqual(COMPARISONS_MAX + 3)
  })
})
