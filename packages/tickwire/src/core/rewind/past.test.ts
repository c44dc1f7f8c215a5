import { describe, expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import { angle, fixed, quat, u8, vec2, vec3 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { box, capsule, sphere } from './hitbox.ts'
import { Past } from './past.ts'

const Player = entity({ at: vec3(-100, 100, 0.001).position(), yaw: angle(20) }, { name: 'Player' })
const Crate = entity({ place: vec3(-100, 100, 0.001), turn: quat(15) }, { name: 'Crate' })
const Disc = entity({ spot: vec2(-100, 100, 0.001).position(), heading: angle(20), hp: u8 }, { name: 'Disc' })
const Point = entity({ x: fixed(-9, 9, 0.1).position(), y: fixed(-9, 9, 0.1).position() }, { name: 'Point' })

const LEFT = { from: { x: 10, y: 0, z: 0 }, direction: { x: -1, y: 0, z: 0 } }

function scene(): { readonly world: World; readonly past: Past } {
  const world = new World([Player, Crate, Disc, Point])
  const past = new Past(world, [
    [Player, [capsule(0.6, 0.4), sphere(0.25, { name: 'head', offset: { x: 0.2, y: 1.3, z: 0 }, turn: 'yaw' })]],
    [Crate, [box({ x: 1, y: 1, z: 2 }, { at: 'place', turn: 'turn' })]],
    [Disc, [box({ x: 1, y: 0.25 }, { turn: 'heading' })]],
    [Point, [sphere(0.5)]],
  ])
  return { world, past }
}

describe('a cast', () => {
  test('[RAY2] meets the nearest hitbox within reach, and returns object, owner and position', () => {
    const { world, past } = scene()
    const far = world.spawn(Player, { at: { x: 0, y: 0, z: 0 } }, 7)
    expect(past.cast(LEFT)).toEqual({
      entity: Player,
      id: far.id,
      part: 'body',
      distance: expect.closeTo(9.6, 12),
      x: expect.closeTo(0.4, 12),
      y: 0,
      z: 0,
    })
    const near = world.spawn(Player, { at: { x: 4, y: 0, z: 0 } }, 8)
    expect(past.cast(LEFT)).toMatchObject({ id: near.id, distance: expect.closeTo(5.6, 12) })
    expect(past.cast({ ...LEFT, ignore: 8 })).toMatchObject({ id: far.id })
    expect(past.cast({ ...LEFT, reach: 5.5 })).toBeNull()
    expect(past.cast({ ...LEFT, direction: { x: 3, y: 0, z: 0 } })).toBeNull()
    expect(past.cast({ ...LEFT, direction: { x: 0, y: 0, z: 0 } })).toBeNull()
    expect(past.cast({ ...LEFT, direction: { x: NaN, y: 0, z: 0 } })).toBeNull()
    expect(past.cast({ ...LEFT, from: { x: 4, y: 0, z: 0 } })).toMatchObject({ id: near.id, distance: 0 })
  })

  test('[RAY2] parts turn with their object, by angle and by rotation', () => {
    const { world, past } = scene()
    const player = world.spawn(Player, { at: { x: 0, y: 0, z: 0 } })
    const above = { ...LEFT, from: { x: 10, y: 1.3, z: 0 } }
    expect(past.cast(above)).toMatchObject({ part: 'head', distance: expect.closeTo(9.55, 3) })
    player.yaw = Math.PI / 2
    // A quarter turn around y: the head, once ahead along x, is now at z = -0.2.
    expect(past.cast({ ...above, from: { x: 10, y: 1.3, z: -0.2 } })).toMatchObject({
      part: 'head',
      distance: expect.closeTo(9.75, 3),
    })
    world.despawn(player)
    const crate = world.spawn(Crate, { place: { x: 0, y: 0, z: 0 }, turn: { x: 0, y: 0, z: 0, w: 1 } })
    expect(past.cast(LEFT)?.distance).toBeCloseTo(9, 3)
    crate.turn = { x: 0, y: Math.SQRT1_2, z: 0, w: Math.SQRT1_2 }
    expect(past.cast(LEFT)?.distance).toBeCloseTo(8, 3)
  })

  test('[RAY2] a rotation moves a hitbox beside its object to its place, not to the opposite side', () => {
    const world = new World([Crate])
    const past = new Past(world, [[Crate, [sphere(0.25, { at: 'place', turn: 'turn', offset: { x: 3, y: 0, z: 0 } })]]])
    const [half, down] = [Math.PI / 6, { x: 0, y: -1, z: 0 }]
    world.spawn(Crate, { place: { x: 0, y: 0, z: 0 }, turn: { x: 0, y: Math.sin(half), z: 0, w: Math.cos(half) } })
    // A sixth of a turn around y takes x towards -z.
    const at = { x: 3 * Math.cos(2 * half), y: 10, z: -3 * Math.sin(2 * half) }
    expect(past.cast({ from: at, direction: down })?.distance).toBeCloseTo(9.75, 3)
    expect(past.cast({ from: { ...at, z: -at.z }, direction: down })).toBeNull()
  })

  test('[RAY2] a cast may have a radius', () => {
    const { world, past } = scene()
    world.spawn(Crate, { place: { x: 0, y: 0, z: 0 }, turn: { x: 0, y: 0, z: 0, w: 1 } })
    const beside = { ...LEFT, from: { x: 10, y: 1.2, z: 0 } }
    expect(past.cast(beside)).toBeNull()
    expect(past.cast({ ...beside, radius: 0.25 })?.distance).toBeCloseTo(9 - 0.15, 3)
    expect(past.cast({ ...LEFT, radius: 0.25 })?.distance).toBeCloseTo(8.75, 3)
  })

  test('[RAY2] two dimensions work as three without the third', () => {
    const { world, past } = scene()
    const disc = world.spawn(Disc, { spot: { x: 0, y: 0 }, heading: 0 })
    const flat = { from: { x: 10, y: 0 }, direction: { x: -1, y: 0 } }
    expect(past.cast(flat)?.distance).toBeCloseTo(9, 9)
    disc.heading = Math.PI / 2
    expect(past.cast(flat)?.distance).toBeCloseTo(9.75, 4)
    world.despawn(disc)
    world.spawn(Point, { x: 1, y: 0.2 })
    expect(past.cast(flat)?.distance).toBeCloseTo(9 - Math.sqrt(0.25 - 0.04), 9)
  })

  test('[RAY3] wrong hitboxes are refused with the path and the fix', () => {
    const world = new World([Player, Crate])
    expect(() => new Past(world, [[Crate, [sphere(1)]]])).toThrow('no field marked position')
    expect(() => new Past(world, [[Crate, [sphere(1, { at: 'turn' })]]])).toThrow('not a vector')
    expect(() => new Past(world, [[Player, [sphere(1, { turn: 'at' })]]])).toThrow('not an angle')
    expect(() => new Past(world, [[Player, [sphere(0)]]])).toThrow('sizes above 0')
    expect(() => new Past(world, [[Disc, [sphere(1)]]])).toThrow('not an entity')
    expect(new Past(world, []).cast(LEFT)).toBeNull()
  })
})
