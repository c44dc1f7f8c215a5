/** The adapters of tickwire/ecs with the real libraries, fed by the view of a player in a simulated match. */

import { addComponent, addEntity, createWorld, hasComponent, query, removeEntity } from 'bitecs'
import { createChanged, createWorld as createKoota, trait } from 'koota'
import { World as Miniplex } from 'miniplex'
import { expect, test } from 'vitest'
import { bool, defineGame, entity, fixed, group, oneOf, text, u8, vec3, type ObjectView, type View } from 'tickwire'
import { mirror, mirrorBitecs, mirrorKoota, mirrorMiniplex, type Mirror } from 'tickwire/ecs'
import { simulate } from 'tickwire/testing'
import * as guide from '../../docs/guide/examples/ecs.ts'

const Unit = entity({
  at: vec3(-100, 100, 0.01).position(),
  speed: fixed(0, 20, 0.1), health: u8, isReady: bool, kind: oneOf('tank', 'scout'), name: text(16),
  load: group({ weight: u8 }),
}, { name: 'Unit' })
const Flag = entity({ x: fixed(0, 10, 0.1) }, { name: 'Flag' })

/** Two units and a flag. The first unit moves, the second is gone after two seconds, and a third one is there. */
const game = defineGame({
  tickRate: 30,
  input: {},
  entities: [Unit, Flag],
  step(world) {
    if (world.tick === 1) {
      world.spawn(Flag, {})
      for (const name of ['first', 'second'])
        world.spawn(Unit, { name, health: 80, isReady: true, kind: 'scout', load: { weight: 7 } })
    }
    for (const unit of world.each(Unit)) {
      if (unit.name === 'first' && world.tick < 90) unit.at.x = world.tick / 10
      if (unit.name !== 'second' || world.tick < 60) continue
      world.despawn(unit)
      world.spawn(Unit, { name: 'third', health: 5 })
    }
  },
})

/** Plays a match in which each draw updates a mirror. The returned function runs it, and returns what is drawn. */
function play(units: Mirror<typeof Unit, unknown>): (ms: number) => ObjectView<typeof Unit>[] {
  const sim = simulate(game, { seed: 5, link: { latencyMs: 40 } })
  let view: View | undefined
  sim.draw(0, 60, (drawn) => {
    view = drawn
    units.update(drawn)
  })
  return (ms) => {
    sim.run(ms)
    const drawn = sim.client(0, Unit)
    units.update(view!)
    return drawn
  }
}

const tools = { addEntity, addComponent, removeEntity }

test('[ECS1] a thing is added when its object comes into view, written in every draw, and removed with it', () => {
  const log: string[] = []
  const things = mirror(Unit, {
    add: ({ name }) => ({ name, x: Number.NaN, writes: 0 }),
    write(thing, { at }) {
      thing.x = at.x
      thing.writes++
    },
    remove: ({ name }) => void log.push(name),
  })
  const run = play(things)
  const [first, second] = run(1000)
  expect(things.size).toBe(2)
  const thing = things.of(first!)!
  expect(thing).toMatchObject({ name: 'first', x: first!.at.x })
  expect(thing.x).toBeGreaterThan(1)
  expect(thing.writes).toBeGreaterThan(30)
  const third = run(2000).at(-1)!
  expect(log).toEqual(['second'])
  expect(things.of(second!)).toBeUndefined()
  expect(things.of(third)).toMatchObject({ name: 'third' })
  expect(things.of(first!)).toBe(thing)
  things.clear()
  expect([things.size, log]).toEqual([0, ['second', 'first', 'third']])
})

test('[ECS2] a predicted object keeps its thing when the server gives it its id', () => {
  const Shot = entity({ x: fixed(0, 1000, 1) }, { name: 'Shot' })
  const shooter = defineGame({
    tickRate: 30, input: { fire: bool }, entities: [Shot, Flag],
    onJoin: (world, peer) => world.spawn(Flag, {}, peer),
    step(world, inputs) {
      for (const shot of world.each(Shot)) shot.x += 1
      for (const { owner } of world.each(Flag))
        if (inputs.of(owner).fire && world.count(Shot) === 0) world.spawn(Shot, {}, owner)
    },
  })
  const sim = simulate(shooter, { seed: 5, link: { latencyMs: 100 } })
  const counts = { added: 0, removed: 0 }
  const shots = mirror(Shot, { add: () => counts.added++, remove: () => void counts.removed++ })
  const ids = new Set<number>()
  sim.draw(0, 60, (view) => {
    shots.update(view)
    for (const { id } of view.each(Shot)) ids.add(id)
  })
  sim.run(500)
  sim.hold(0, { fire: true })
  sim.run(1000)
  expect(ids.size, 'ids of the one shot').toBe(2)
  expect(counts).toEqual({ added: 1, removed: 0 })
})

test('[ECS3] bitECS: components have the values of the drawn objects, and entities come and go with them', () => {
  const world = createWorld()
  const Position = { x: new Float32Array(100), z: [] as number[] }
  const Status = { health: new Uint8Array(100), isReady: new Uint8Array(100), id: [] as number[], name: [] as string[] }
  const Cargo = { weight: [] as number[] }
  const Drawn = {}
  const units = mirrorBitecs(
    Unit, { world, ...tools }, [[Position, 'at'], Status, [Cargo, 'load'], Drawn],
  )
  const run = play(units)
  const [first] = run(1000)
  const entities = [...query(world, [Position, Status, Drawn])]
  expect(entities).toHaveLength(2)
  const eid = units.of(first!)!
  expect(entities).toContain(eid)
  expect(Position.x[eid]).toBeCloseTo(first!.at.x, 5)
  expect(Position.x[eid]).toBeGreaterThan(1)
  expect([Status.health[eid], Status.isReady[eid], Status.name[eid], Status.id[eid], Cargo.weight[eid]])
    .toEqual([80, 1, 'first', first!.id, 7])
  const third = run(2000).at(-1)!
  expect([...query(world, [Drawn])].map((each) => Status.name[each]).sort()).toEqual(['first', 'third'])
  expect(hasComponent(world, units.of(third)!, Status)).toBe(true)
  units.clear()
  expect([...query(world, [Drawn])]).toEqual([])
})

test('[ECS4] koota: traits have the values of the drawn objects, and only changed traits count as changed', () => {
  const world = createKoota()
  const Position = trait({ x: 0, y: 0, z: 0 })
  const Status = trait({ health: 0, isReady: false, name: '' })
  const IsUnit = trait()
  const units = mirrorKoota(Unit, world, [[Position, 'at'], Status, IsUnit])
  const run = play(units)
  const [first, second] = run(1000)
  const Changed = createChanged()
  const changed = (of: typeof Position | typeof Status): number[] =>
    world.query(Changed(of)).map((each) => each.id()).toSorted()
  changed(Position)
  changed(Status)
  expect(world.query(IsUnit, Position)).toHaveLength(2)
  expect(units.of(first!)!.get(Status)).toEqual({ health: 80, isReady: true, name: 'first' })
  expect(units.of(first!)!.get(Position)!.x).toBe(first!.at.x)
  run(200)
  expect(units.of(second!)!.get(Position)).toEqual({ x: 0, y: 0, z: 0 })
  expect(changed(Position)).toEqual([units.of(first!)!.id()])
  expect(changed(Status)).toEqual([])
  run(2000)
  expect(world.query(IsUnit).map((each) => each.get(Status)!.name).toSorted()).toEqual(['first', 'third'])
  units.clear()
  expect(world.query(IsUnit)).toHaveLength(0)
})

test('[ECS5] miniplex: components have the values of the drawn objects, as values of their own', () => {
  interface Thing {
    position?: { x: number; y: number; z: number }
    health?: number
    looks?: { name: string; kind: string }
    mesh?: object
  }
  const world = new Miniplex<Thing>()
  const units = mirrorMiniplex(Unit, world, { position: 'at', health: 'health', looks: ['name', 'kind'] })
  const drawn = world.with('position', 'health', 'looks')
  const run = play(units)
  const [first] = run(1000)
  const thing = units.of(first!)!
  expect(drawn.entities).toContain(thing)
  expect(thing).toEqual({
    position: { x: first!.at.x, y: 0, z: 0 }, health: 80, looks: { name: 'first', kind: 'scout' },
  })
  const { position } = thing
  world.addComponent(thing, 'mesh', {})
  run(2000)
  expect(drawn.entities.map(({ looks }) => looks.name).toSorted()).toEqual(['first', 'third'])
  expect(units.of(first!)!.position).toBe(position)
  expect([...world.with('mesh')]).toEqual([thing])
  units.clear()
  expect(drawn.entities).toEqual([])
})

test('[ECS6] mistakes in components are named with their fix', () => {
  const world = createWorld()
  const into = (...components: object[]): unknown =>
    // What the compiler refuses is refused at run time too.
    mirrorBitecs(Unit, { world, ...tools }, components as never)
  expect(() => into({ hp: [] })).toThrow(/^Unit: has no field "hp"\. Fix: write one of: at, speed, health/)
  expect(() => into({ at: [] })).toThrow(/^Unit\.at: is not a plain value\. Fix: .*\[Component, 'at'\]/)
  expect(() => into([{ x: [] }, 'speed'])).toThrow(/^Unit\.speed: has no fields inside/)
  expect(() => into([{ w: [] }, 'at'])).toThrow(/^Unit\.at: has no field "w"\. Fix: write one of: x, y, z/)
  const units = mirrorBitecs(Unit, { world, ...tools }, [{ health: new Uint8Array(1) }])
  const sim = simulate(game, { seed: 5 })
  sim.run(200)
  expect(() => units.update(sim.players[0]!.host.view)).toThrow(/^Unit: a component's array is too short/)
  expect([units.size, [...query(world, [])].length]).toEqual([0, 0])
  expect(() => mirrorKoota(Unit, createKoota(), [trait(() => ({ x: 0 }))] as never)).toThrow(/made by a function/)
})

test('[ECS7] components that do not fit the schema do not compile', () => {
  const world = createWorld()
  const bitecs = { world, ...tools }
  // @ts-expect-error reason: there is no field of this name
  expect(() => mirrorBitecs(Unit, bitecs, [{ hp: [] as number[] }])).toThrow()
  // @ts-expect-error reason: a text does not fit into an array of numbers
  mirrorBitecs(Unit, bitecs, [{ name: new Float32Array(1) }])
  // @ts-expect-error reason: the vector has no such member
  expect(() => mirrorBitecs(Unit, bitecs, [[{ w: [] as number[] }, 'at']])).toThrow()
  // @ts-expect-error reason: a text does not fit into a number
  mirrorKoota(Unit, createKoota(), [trait({ name: 0 })])
  // @ts-expect-error reason: there is no field of this name
  expect(() => mirrorKoota(Unit, createKoota(), [trait({ hp: 0 })])).toThrow()
  // @ts-expect-error reason: the entity of this world has another type of health
  mirrorMiniplex(Unit, new Miniplex<{ health: string }>(), { health: 'health' })
  // @ts-expect-error reason: there is no field of this name
  expect(() => mirrorMiniplex(Unit, new Miniplex<{ hp: number }>(), { hp: 'hp' })).toThrow()
})

test('[ECS8] the guide: sprites and three libraries have the ships of the view', () => {
  const sim = simulate(guide.game, { seed: 5, clients: 2, link: { latencyMs: 40 } })
  let shown: [number, number][] = []
  const show = (x: number, health: number): void => void shown.push([x, health])
  const draws = [guide.drawSprites(), guide.drawBitecs(show), guide.drawKoota(show), guide.drawMiniplex(show)]
  const ships = (): [number, number][] =>
    [...guide.Sprite.shown].map(({ x }) => [expect.closeTo(x, 3), 100] as [number, number])
  sim.draw(0, 60, (view) => {
    for (const draw of draws) {
      shown = []
      draw(view)
      if (draw !== draws[0]) expect(shown).toEqual(ships())
    }
  })
  sim.run(1000)
  expect([...guide.Sprite.shown].map(({ label }) => label)).toEqual(['ship 1', 'ship 2'])
  expect([...guide.Sprite.shown].every(({ x }) => x > 0.5)).toBe(true)
})
