import { expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import { f64, fixed, group, list, text, u8 } from '../schema/field-kinds.ts'
import { encodePatch, encodeScope, restorePatch } from './image-patch.ts'
import { SaveSlots } from './save-slots.ts'
import { StateHash } from './state-hash.ts'
import { World } from './world.ts'
import { encodeWorld } from './world-image.ts'

const Ship = entity({ x: fixed(0, 1000, 0.1), name: text(40), cargo: list(u8, 8), shield: group({ hp: f64 }) })
const Rock = entity({ size: u8 })

function makeWorld(sharing?: World): World {
  return new World([Ship, Rock], { seed: 5, ...(sharing && { sharing }) })
}

function hashOf(world: World): readonly number[] {
  return [...new StateHash(world).update()]
}

function step(world: World, ticks: number): void {
  for (let tick = 0; tick < ticks; tick++) {
    world.beginTick()
    const at = world.tick
    const ship = world.spawn(Ship, { x: at % 900, name: `ship ${at}`, cargo: [at % 200] }, at % 4)
    world.spawn(Rock, { size: at % 200 })
    if (at % 2 === 0) ship.shield = { hp: world.prng.nextFloat() }
    for (const each of world.each(Ship)) if (each.owner === at % 4) each.x += 0.5
    if (at % 3 === 0) for (const rock of world.each(Rock)) if (rock.size % 2 === 0) world.despawn(rock)
    if (at % 7 === 0) world.setOwner(ship, 9)
    world.endTick()
  }
}

function savedCopy(world: World): World {
  const slots = new SaveSlots(world, 1)
  slots.save(0)
  const copy = makeWorld(world)
  slots.loadInto(0, copy)
  return copy
}

test('[DESYNC6] a slot loaded into another world is the same world, and goes on as the first', () => {
  const world = makeWorld()
  step(world, 60)
  const copy = savedCopy(world)
  expect(encodeWorld(copy)).toEqual(encodeWorld(world))
  step(world, 20)
  step(copy, 20)
  expect(hashOf(copy)).toEqual(hashOf(world))
  expect(encodeWorld(copy)).toEqual(encodeWorld(world))
})

test('[DESYNC6] a patch makes the base into the world, to the byte, whatever lies between them', () => {
  for (const ticks of [0, 1, 2, 30]) {
    const world = makeWorld()
    step(world, 40)
    const base = savedCopy(world)
    step(world, ticks)
    const patch = encodePatch(world, base)!
    const copy = makeWorld(world)
    expect(restorePatch(copy, base, patch)).toBe('restored')
    expect(encodeWorld(copy)).toEqual(encodeWorld(world))
    expect(patch.length).toBeLessThan(encodeWorld(world)!.length)
    step(world, 5)
    step(copy, 5)
    expect(hashOf(copy)).toEqual(hashOf(world))
  }
})

test('[DESYNC6] the rows of one object repair a world that differs in it, by some dozen bytes', () => {
  const good = makeWorld()
  step(good, 200)
  const bad = savedCopy(good)
  const [ship] = [...bad.each(Ship)]
  ship!.x += 1
  ship!.name = 'wrong'
  bad.sample()
  expect(hashOf(bad)).not.toEqual(hashOf(good))
  const scope = { indexes: [ship!.id >>> 16], hasAllocator: false, hasExternal: false }
  const patch = encodeScope(good, scope)!
  expect(patch.length).toBeLessThan(120)
  const healed = makeWorld(bad)
  expect(restorePatch(healed, bad, patch)).toBe('restored')
  expect(encodeWorld(healed)).toEqual(encodeWorld(good))
})

test('[DESYNC6] a world with objects too many and too few is repaired with its allocator', () => {
  const good = makeWorld()
  step(good, 50)
  const bad = savedCopy(good)
  bad.beginTick()
  bad.spawn(Rock, { size: 3 })
  const gone = [...bad.each(Ship)][3]!
  bad.despawn(gone)
  bad.tick--
  bad.endTick()
  const indexes = [gone.id >>> 16, ...[...bad.each(Rock)].map(({ id }) => id >>> 16)].sort((a, b) => a - b)
    .filter((index) => index < good.objects.highWater)
  const patch = encodeScope(good, { indexes, hasAllocator: true, hasExternal: false })!
  const healed = makeWorld(bad)
  expect(restorePatch(healed, bad, patch)).toBe('restored')
  expect(encodeWorld(healed)).toEqual(encodeWorld(good))
})

test('[DESYNC6] damaged patches are refused, or make some world, and never throw', () => {
  const world = makeWorld()
  step(world, 12)
  const base = savedCopy(world)
  step(world, 4)
  const patch = encodePatch(world, base)!
  for (let length = 0; length < patch.length; length++)
    expect(restorePatch(makeWorld(world), base, patch.slice(0, length))).not.toBe('restored')
  for (let at = 0; at < patch.length; at++)
    restorePatch(makeWorld(world), base, patch.map((byte, index) => (index === at ? byte ^ 0xff : byte)))
})
