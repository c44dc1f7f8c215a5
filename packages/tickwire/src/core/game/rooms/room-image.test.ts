import { expect, test } from 'vitest'
import { entity } from '../../schema/definition.ts'
import { fixed, list, ref, text, u8 } from '../../schema/field-kinds.ts'
import { flatHash } from '../../world/state-hash.ts'
import { World } from '../../world/world.ts'
import { encodeWorld, restoreWorld } from './room-image.ts'

const Ship = entity({ x: fixed(0, 1000, 0.1), name: text(40), cargo: list(u8, 8), seed: u8.local(), secret: u8.server(), leader: ref() })
const Rock = entity({ size: u8 })

function makeWorld(): World {
  return new World([Ship, Rock], { seed: 5 })
}

function hashOf(world: World): readonly number[] {
  const hash = new Uint32Array(2)
  flatHash(world, hash)
  return [...hash]
}

test('[ROOM10] a world put into bytes is the same world again: ids, owners, births, hidden fields, texts; and it goes on', () => {
  const world = makeWorld()
  for (let tick = 0; tick < 50; tick++) {
    world.beginTick()
    const ship = world.spawn(Ship, { x: tick * 3, name: `ship ${tick} ç`, cargo: [tick, 7], seed: tick, secret: 255 - tick }, { id: tick % 4 })
    world.spawn(Rock, { size: tick }, { id: 0x8000_0001 })
    ship.leader = ship.id
    if (tick % 3 === 0) for (const rock of world.each(Rock)) if (rock.size % 2 === 0) world.despawn(rock)
    world.endTick()
  }
  const bytes = encodeWorld(world)!
  const copy = makeWorld()
  expect(restoreWorld(copy, bytes)).toBe(true)
  expect([copy.tick, hashOf(copy)]).toEqual([world.tick, hashOf(world)])
  const seen = (of: World): unknown => [...of.each(Ship)].map(({ id, owner, x, name, cargo, seed, secret, leader }) => [id, owner, x, name, [...cargo], seed, secret, leader])
  expect(seen(copy)).toEqual(seen(world))
  for (const one of [world, copy]) {
    one.beginTick()
    one.endTick()
  }
  expect(hashOf(copy)).toEqual(hashOf(world))
  const alive = new Set([...copy.each(Ship), ...copy.each(Rock)].map(({ id }) => id))
  copy.beginTick()
  for (let index = 0; index < 40; index++) {
    const { id } = copy.spawn(Rock, { size: 1 })
    expect(alive.has(id)).toBe(false)
    alive.add(id)
  }
  copy.endTick()
})

test('[ROOM10] bytes that are cut or touched make no world, and never a throw', () => {
  const world = makeWorld()
  world.beginTick()
  for (let index = 0; index < 5; index++) world.spawn(Ship, { x: index, name: 'abc', cargo: [1, 2, 3] }, { id: index })
  world.endTick()
  const bytes = encodeWorld(world)!
  for (let length = 0; length < bytes.length - 1; length++) restoreWorld(makeWorld(), bytes.slice(0, length))
  expect(restoreWorld(makeWorld(), bytes.slice(0, bytes.length >> 1))).toBe(false)
  for (let at = 0; at < bytes.length; at++) restoreWorld(makeWorld(), bytes.map((byte, index) => (index === at ? byte ^ 0xff : byte)))
})
