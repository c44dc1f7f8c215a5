import { describe, expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f64, fixed, group, i16, i32, i64, int, list, long, oneOf, quat, ref, struct,
  text, u32, u8, vec2, vec3,
} from '../schema/field-kinds.ts'
import type { ObjectOf } from './handle.ts'
import { World } from './world.ts'

const Ship = entity({
  x: fixed(-100, 100, 0.5),
  heading: angle(12),
  level: int(1, 9).initially(3),
  deaths: i16, score: i32, flags: u32, speed: f32, exact: f64,
  coins: i64, serial: long(10n, 99n),
  isReady: bool,
  mood: oneOf('calm', 'angry'),
  rotation: quat(10),
  position: vec3(-10, 10, 0.25),
  home: struct({ at: vec2(0, 8, 1), name: text(10), deep: deltaStruct({ a: u8, b: bool }) }),
  shield: group({ hp: u8.initially(5), at: vec2(0, 8, 1), label: text(10) }),
  leader: ref(),
  title: text(30),
  blob: bytes(4),
  trail: list(struct({ x: u8, tag: text(5) }), 4),
  at: u8, store: u8, cells: u8, parts: u8,
}, { name: 'Ship' })

function spawn(): { world: World; ship: ObjectOf<typeof Ship> } {
  const world = new World([Ship])
  return { world, ship: world.spawn(Ship, {}) }
}

describe('fields', () => {
  test('[WORLD6] are read and written with the types of their kinds', () => {
    const { world, ship } = spawn()
    Object.assign(ship, {
      x: 1.5, heading: 0, level: 4, deaths: -5, score: -70_000, flags: 4_000_000_000, speed: 0.5, exact: 0.1,
      coins: -(2n ** 60n), serial: 42n, isReady: true, mood: 'angry', title: 'Grüße', leader: ship.id,
    })
    ship.blob = new Uint8Array([1, 2])
    ship.trail = [{ x: 1, tag: 'a' }, { x: 2, tag: 'b' }]
    ship.rotation = { x: 0, y: 0, z: 1, w: 0 }
    world.endTick()
    expect([ship.x, ship.heading, ship.level, ship.deaths, ship.score, ship.flags, ship.speed, ship.exact])
      .toEqual([1.5, 0, 4, -5, -70_000, 4_000_000_000, 0.5, 0.1])
    expect([ship.coins, ship.serial, ship.isReady, ship.mood, ship.title, ship.leader])
      .toEqual([-(2n ** 60n), 42n, true, 'angry', 'Grüße', ship.id])
    expect(ship.blob).toEqual(new Uint8Array([1, 2]))
    expect(ship.trail).toEqual([{ x: 1, tag: 'a' }, { x: 2, tag: 'b' }])
    expect(ship.rotation).toEqual({ x: 0, y: 0, z: 1, w: 0 })
  })

  test("[WORLD6] may have the names of the handle's own members", () => {
    const { world, ship } = spawn()
    Object.assign(ship, { at: 1, store: 2, cells: 3, parts: 4, x: 5 })
    world.endTick()
    expect([ship.at, ship.store, ship.cells, ship.parts, ship.x]).toEqual([1, 2, 3, 4, 5])
  })

  test('[WORLD6] refuse values of the wrong type, by name', () => {
    const { ship } = spawn()
    // Writes that the compiler refuses: code without types may contain them.
    const untyped = ship as unknown as Record<string, unknown>
    for (const [name, value] of [
      ['isReady', 1],
      ['mood', 'bored'],
      ['title', 7],
      ['coins', 5],
      ['leader', 'me'],
      ['home', 3],
      ['trail', {}],
    ] as const) {
      expect(() => {
        untyped[name] = value
      }, name).toThrow(`Ship.${name}`)
    }
  })

  test('[WORLD6] inside vectors and structs are read and written in place or as a whole', () => {
    const { world, ship } = spawn()
    ship.position.x += 2
    ship.position.z = -3
    ship.home.at = { x: 4, y: 5 }
    ship.home.name = 'den'
    ship.home.deep.b = true
    world.endTick()
    expect([ship.position.x, ship.position.y, ship.position.z]).toEqual([2, 0, -3])
    expect([ship.home.at.x, ship.home.at.y, ship.home.name, ship.home.deep.a, ship.home.deep.b]).toEqual([
      4,
      5,
      'den',
      0,
      true,
    ])
    const other = world.spawn(Ship, { position: { x: 1, y: 1, z: 1 } })
    ship.position = other.position
    other.position.x = 9
    expect([ship.position.x, ship.position.y, ship.position.z]).toEqual([1, 1, 1])
    ship.home = { at: { x: 1, y: 1 }, name: 'new', deep: { a: 2, b: false } }
    expect([ship.home.at.y, ship.home.name, ship.home.deep.a]).toEqual([1, 'new', 2])
  })

  test('[WORLD6] a part can be kept as long as its object, through growth and until its despawn', () => {
    const { world, ship } = spawn()
    const { position } = ship
    const { deep } = ship.home
    for (let count = 0; count < 100; count++) world.spawn(Ship, {})
    position.x = 3
    deep.a = 6
    expect([ship.position.x, ship.home.deep.a]).toEqual([3, 6])
    expect(ship.position).toBe(position)
    world.despawn(ship)
    world.endTick()
    const heir = world.spawn(Ship, {})
    position.x = 4
    expect(heir.position.x).toBe(0)
  })

  test('[WORLD6] become plain values as JSON', () => {
    const { ship } = spawn()
    ship.position.y = 2
    const plain = JSON.parse(
      JSON.stringify(ship, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
    ) as unknown
    expect(plain).toMatchObject({
      id: 1,
      owner: 0,
      level: 3,
      coins: '0n',
      position: { x: 0, y: 2, z: 0 },
      shield: null,
      home: { deep: { a: 0, b: false } },
    })
  })
})

describe('groups', () => {
  test('[WORLD7] are null while absent, set by assignment and removed by null', () => {
    const { world, ship } = spawn()
    expect(ship.shield).toBeNull()
    ship.shield = { hp: 3, at: { x: 1, y: 2 }, label: 'gold' }
    const { shield } = ship
    expect([shield.hp, shield.at.y, shield.label]).toEqual([3, 2, 'gold'])
    shield.hp -= 1
    world.endTick()
    expect(ship.shield?.hp).toBe(2)
    ship.shield = null
    expect(ship.shield).toBeNull()
    shield.hp = 200
    world.endTick()
    expect(shield.hp).toBe(5)
  })

  test('[WORLD7] start fresh when they are set again', () => {
    const { world, ship } = spawn()
    ship.shield = { hp: 9, at: { x: 8, y: 8 }, label: 'old' }
    const other = world.spawn(Ship, { shield: { hp: 1, at: { x: 0, y: 0 }, label: '' } })
    world.endTick()
    ship.shield = null
    world.endTick()
    ship.shield = other.shield
    expect([ship.shield?.hp, ship.shield?.at.x, ship.shield?.label]).toEqual([1, 0, ''])
  })
})

describe('views', () => {
  test('[WORLD9] cannot be written, not even by code without types', () => {
    const world = new World([Ship], { isReadOnly: true })
    const handle = world.seat(0, 65_537, 0) as unknown as ObjectOf<typeof Ship>
    const writes: readonly (() => void)[] = [
      () => {
        handle.x = 1
      },
      () => {
        handle.isReady = true
      },
      () => {
        handle.title = 'x'
      },
      () => {
        handle.position.x = 1
      },
      () => {
        handle.position = { x: 1, y: 1, z: 1 }
      },
      () => {
        handle.home.deep.a = 1
      },
      () => {
        handle.shield = null
      },
      () => {
        handle.leader = 1
      },
      () => {
        handle.mood = 'angry'
      },
    ]
    for (const write of writes) expect(write).toThrow(TypeError)
    expect(handle.position.x).toBe(0)
  })

  test('[WORLD9] values of variable size cannot be changed in place', () => {
    const { world, ship } = spawn()
    ship.trail = [{ x: 1, tag: 'a' }]
    ship.blob = new Uint8Array([7])
    const { trail, blob } = ship
    expect(() => { (trail as unknown as { x: number }[])[0]!.x = 2 }).toThrow(TypeError)
    blob[0] = 9
    world.endTick()
    expect([ship.trail[0]!.x, ship.blob[0]]).toEqual([1, 7])
  })
})
