/**
 * Mirrors 1,000 objects into one library, beside a loop written by hand, and prints the times as JSON. The argument is
 * the name of the library.
 *
 * The object has a position and three numbers. None comes or goes. The loops by hand find the entity of an object by
 * its id and do nothing about objects that are gone, so they do less.
 */

import { addComponent, addEntity, createWorld, removeEntity } from 'bitecs'
import { createWorld as createKoota, trait, type Entity as KootaEntity } from 'koota'
import { World as Miniplex } from 'miniplex'
import { angle, entity, u8, vec3, World } from 'tickwire'
import { mirror, mirrorBitecs, mirrorKoota, mirrorMiniplex } from 'tickwire/ecs'
import { interleave, type Contender } from '../harness.ts'

const COUNT = 1000
const UPDATES = 20
const Unit = entity({ at: vec3(-4096, 4096, 0.125), yaw: angle(16), health: u8, kind: u8 }, { name: 'Unit' })

/** A world whose objects differ, so that all of them are written in turns. */
function makeWorld(): World {
  const world = new World([Unit])
  for (let at = 0; at < COUNT; at++)
    world.spawn(Unit, { at: { x: at, y: 1, z: at / 2 }, health: at & 127, kind: at & 3 })
  return world
}

/** All objects have moved. The same work for all contenders, and part of what is measured. */
function move(world: World): void {
  for (const unit of world.each(Unit)) unit.at.x += 0.125
}

function bitecsStage(): Contender[] {
  const world = makeWorld()
  const columns = () => ({
    Position: { x: new Float32Array(4000), y: new Float32Array(4000), z: new Float32Array(4000) },
    Status: { yaw: new Float32Array(4000), health: new Uint8Array(4000), kind: new Uint8Array(4000) },
  })
  const [own, other] = [columns(), columns()]
  const ecs = createWorld()
  const units = mirrorBitecs(
    Unit, { world: ecs, addEntity, addComponent, removeEntity }, [[own.Position, 'at'], own.Status],
  )
  const entities = new Map<number, number>()
  for (const { id } of world.each(Unit)) entities.set(id, addEntity(ecs))
  return pair(world, () => units.update(world), () => {
    const { Position, Status } = other
    for (const { id, at, yaw, health, kind } of world.each(Unit)) {
      const eid = entities.get(id)!
      Position.x[eid] = at.x
      Position.y[eid] = at.y
      Position.z[eid] = at.z
      Status.yaw[eid] = yaw
      Status.health[eid] = health
      Status.kind[eid] = kind
    }
  })
}

function kootaStage(): Contender[] {
  const world = makeWorld()
  const ecs = createKoota()
  const Position = trait({ x: 0, y: 0, z: 0 })
  const Status = trait({ yaw: 0, health: 0, kind: 0 })
  const units = mirrorKoota(Unit, ecs, [[Position, 'at'], Status])
  const entities = new Map<number, KootaEntity>()
  for (const { id } of world.each(Unit)) entities.set(id, ecs.spawn(Position, Status))
  return pair(world, () => units.update(world), () => {
    for (const { id, at, yaw, health, kind } of world.each(Unit)) {
      const to = entities.get(id)!
      to.set(Position, { x: at.x, y: at.y, z: at.z })
      to.set(Status, { yaw, health, kind })
    }
  })
}

interface Thing {
  position: { x: number; y: number; z: number }
  status: { yaw: number; health: number; kind: number }
}

function miniplexStage(): Contender[] {
  const world = makeWorld()
  const ecs = new Miniplex<Thing>()
  const units = mirrorMiniplex(Unit, ecs, { position: 'at', status: ['yaw', 'health', 'kind'] })
  const entities = new Map<number, Thing>()
  for (const { id } of world.each(Unit))
    entities.set(id, ecs.add({ position: { x: 0, y: 0, z: 0 }, status: { yaw: 0, health: 0, kind: 0 } }))
  return pair(world, () => units.update(world), () => {
    for (const { id, at, yaw, health, kind } of world.each(Unit)) {
      const { position, status } = entities.get(id)!
      position.x = at.x
      position.y = at.y
      position.z = at.z
      status.yaw = yaw
      status.health = health
      status.kind = kind
    }
  })
}

/** `mirror` with a function that writes, as for sprites. */
function plainStage(): Contender[] {
  const world = makeWorld()
  const make = (): Thing => ({ position: { x: 0, y: 0, z: 0 }, status: { yaw: 0, health: 0, kind: 0 } })
  const write = ({ position, status }: Thing, { at, yaw, health, kind }: (typeof all)[number]): void => {
    position.x = at.x
    position.y = at.y
    position.z = at.z
    status.yaw = yaw
    status.health = health
    status.kind = kind
  }
  const all = [...world.each(Unit)]
  const units = mirror(Unit, { add: make, write, remove: () => {} })
  const things = new Map(all.map(({ id }) => [id as number, make()]))
  return pair(world, () => units.update(world), () => {
    for (const unit of world.each(Unit)) write(things.get(unit.id)!, unit)
  })
}

function pair(world: World, mirrored: () => void, byHand: () => void): Contender[] {
  const repeated = (update: () => void) => () => {
    for (let at = 0; at < UPDATES; at++) {
      move(world)
      update()
    }
  }
  const ops = COUNT * UPDATES
  return [
    { name: 'mirrored', ops, run: repeated(mirrored) },
    { name: 'by hand', ops, run: repeated(byHand) },
  ]
}

const STAGES: Readonly<Record<string, () => Contender[]>> = {
  bitecs: bitecsStage, koota: kootaStage, miniplex: miniplexStage, plain: plainStage,
}

console.log(JSON.stringify(interleave(STAGES[process.argv[2]!]!(), 25, 30)))
