import { expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import { f64, fixed, group, list, ref, text, u8 } from '../schema/field-kinds.ts'
import { StateHash } from './state-hash.ts'
import { World, type WorldOptions } from './world.ts'
import { encodeWorld, restoreWorld } from './world-image.ts'

const Ship = entity({
  x: fixed(0, 1000, 0.1),
  name: text(40),
  cargo: list(u8, 8),
  seed: u8.local(),
  secret: u8.server(),
  leader: ref(),
  shield: group({ label: text(9), hp: f64 }),
})
const Rock = entity({ size: u8 })

function makeWorld(options: WorldOptions = {}): World {
  return new World([Ship, Rock], { seed: 5, ...options })
}

function hashOf(world: World): readonly number[] {
  return [...new StateHash(world).update()]
}

function copyOf(world: World, options: WorldOptions = {}): World {
  const copy = makeWorld(options)
  expect(restoreWorld(copy, encodeWorld(world)!)).toBe('restored')
  expect(encodeWorld(copy)).toEqual(encodeWorld(world))
  expect(hashOf(copy)).toEqual(hashOf(world))
  return copy
}

function furnish(world: World, ticks: number): void {
  for (let tick = 0; tick < ticks; tick++) {
    world.beginTick()
    const ship = world.spawn(
      Ship,
      { x: tick * 3, name: `ship ${tick} ç`, cargo: [tick, 7], seed: tick, secret: 255 - tick },
      { id: tick % 4 },
    )
    world.spawn(Rock, { size: tick }, { id: 0x8000_0001 })
    ship.leader = ship.id
    if (tick % 2 === 0) ship.shield = { label: `s${tick}`, hp: tick / 7 }
    if (tick % 3 === 0) for (const rock of world.each(Rock)) if (rock.size % 2 === 0) world.despawn(rock)
    world.endTick()
  }
}

test('[IMAGE1, ROOM10] a restored world is the same world: ids, owners, births, hidden fields and texts', () => {
  const world = makeWorld()
  furnish(world, 50)
  const copy = copyOf(world)
  const seen = (of: World): unknown => [...of.each(Ship)].map((ship) => JSON.stringify(ship))
  expect(seen(copy)).toEqual(seen(world))
  const births = (of: World): unknown =>
    [...of.each(Ship)].map(({ id }) => [of.objects.birthTickAt(id >>> 16), of.objects.birthOrdinalAt(id >>> 16)])
  expect(births(copy)).toEqual(births(world))
  for (let tick = 0; tick < 40; tick++) {
    for (const one of [world, copy]) furnish(one, 1)
    expect([copy.tick, hashOf(copy)]).toEqual([world.tick, hashOf(world)])
  }
})

test('[IMAGE1] after deaths, the live and the restored world give the same ids to the next spawns', () => {
  const world = makeWorld()
  const rocks = Array.from({ length: 5 }, () => world.spawn(Rock, {}))
  world.despawn(rocks[2]!)
  world.despawn(rocks[0]!)
  world.endTick()
  world.spawn(Rock, {})
  world.endTick()
  const copy = copyOf(world)
  const next = (of: World): readonly number[] => Array.from({ length: 3 }, () => of.spawn(Rock, {}).id)
  expect(next(copy)).toEqual(next(world))
})

test('[IMAGE1] changes since the last tick are in the image: spawns, deaths, writes, draws, births', () => {
  const world = makeWorld()
  furnish(world, 8)
  const [first, second] = [...world.each(Ship)]
  world.despawn(first!)
  second!.x += 0.123456
  second!.name = 'renamed'
  second!.shield = { label: 'new', hp: 0.1 }
  const born = world.spawn(Ship, { x: 1.23, cargo: [1] }, 3)
  const drawn = [world.random.u32(world), world.random.u32(born)]
  const copy = copyOf(world)
  expect(drawn.length).toBe(2)
  const goOn = (of: World): unknown => {
    const more = of.spawn(Ship, {}, 3)
    const ordinal = of.objects.birthOrdinalAt(more.id >>> 16)
    const draws = [of.random.u32(of), of.random.u32({ id: born.id })]
    of.beginTick()
    for (const ship of of.each(Ship)) ship.x += 0.04
    of.endTick()
    return [
      ordinal,
      draws,
      hashOf(of),
      of.spawn(Rock, {}).id,
      of.spawn(Rock, {}).id,
      [...of.each(Ship)].map((ship) => JSON.stringify(ship)),
    ]
  }
  expect(goOn(copy)).toEqual(goOn(world))
})

test('[IMAGE1] external state is in the image, and state that the game refuses makes no world', () => {
  const makeState = (): { level: number; options: WorldOptions } => {
    const state = {
      level: 0,
      options: {
        external: {
          encode: () => Uint8Array.of(state.level),
          decode: ([level]: Uint8Array) => {
            if (level! > 9) throw new RangeError('no such level')
            state.level = level!
          },
        },
      },
    }
    return state
  }
  const [a, b, c] = [makeState(), makeState(), makeState()]
  const world = makeWorld(a.options)
  a.level = 7
  copyOf(world, b.options)
  expect(b.level).toBe(7)
  a.level = 200
  expect(restoreWorld(makeWorld(c.options), encodeWorld(world)!)).toBe('external-refused')
  expect(restoreWorld(makeWorld(), encodeWorld(world)!)).toBe('external-refused')
  expect(() => makeWorld({ external: { save: () => 0, load: () => {}, hash: () => 0 } as never })).toThrow(
    /external.encode/,
  )
  expect(() => makeWorld({ external: { ...a.options.external!, save: () => 0 } })).toThrow(
    /save without load/,
  )
})

test('[IMAGE3, ROOM10] images of another version or seed, and damaged ones, are refused and never throw', () => {
  const world = makeWorld()
  furnish(world, 5)
  const bytes = encodeWorld(world)!
  expect(restoreWorld(makeWorld({ seed: 6 }), bytes)).toBe('other-seed')
  expect(restoreWorld(makeWorld(), bytes.map((byte, at) => (at === 2 ? 1 : byte)))).toBe('other-version')
  // Version 1 began with the tick.
  expect(restoreWorld(makeWorld(), Uint8Array.of(5, 0, 0, 0, 0))).toBe('other-version')
  for (let length = 0; length < bytes.length; length++)
    expect(restoreWorld(makeWorld(), bytes.slice(0, length))).not.toBe('restored')
  for (let at = 0; at < bytes.length; at++)
    restoreWorld(
      makeWorld(),
      bytes.map((byte, index) => (index === at ? byte ^ 0xff : byte)),
    )
  expect(restoreWorld(makeWorld(), Uint8Array.of(...bytes, 0))).toBe('malformed')
})
