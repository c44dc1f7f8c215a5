import { describe, expect, test } from 'vitest'
import { entity, type Entity } from '../../schema/definition.ts'
import { u8, vec3 } from '../../schema/field-kinds.ts'
import { near, owner, where } from '../../schema/interest.ts'
import { World } from '../../world/world.ts'
import { ClientInterest } from './client-interest.ts'
import { Interest } from './interest.ts'

const at = vec3(-1000, 1000, 0.01).position()
const Clock = entity({ time: u8 }, { name: 'Clock' })
const Purse = entity({ gold: u8 }, { name: 'Purse', interest: owner })
const Npc: Entity = entity({ at }, { name: 'Npc', interest: near(30) })
const Ghost: Entity = entity({ at }, { name: 'Ghost', interest: where((viewer) => viewer.peer === 1) })

function tick(world: World, step: () => void): void {
  world.beginTick()
  step()
  world.endTick()
}

describe('views that depend on owners alone', () => {
  test('[INT11] a view without distances, teams and predicates changes with objects and owners alone', () => {
    const world = new World([Clock, Purse])
    const interest = new Interest(world, [Clock, Purse])
    const client = new ClientInterest(interest, 1)
    const clock = world.spawn(Clock, {}, 1)
    const purse = world.spawn(Purse, {}, 2)
    const known = (round: number, step: () => void): unknown[] => {
      tick(world, step)
      client.refresh(round)
      return [client.count, [...client.sets.subarray(0, client.count)], client.enteredCount, client.leftCount]
    }
    expect(interest.isByOwner).toBe(true)
    expect(known(1, () => {})).toEqual([1, [2], 1, 0])
    expect(known(2, () => { clock.time = 9 })).toEqual([1, [2], 0, 0])
    expect(known(3, () => world.setOwner(purse, 1))).toEqual([2, [2, 2], 1, 0])
    expect(known(4, () => { client.viewer = 2 })).toEqual([2, [2, 2], 0, 0])
    expect(known(5, () => world.setOwner(purse, 2))).toEqual([2, [2, 2], 0, 0])
    expect(known(6, () => { client.isPrivy = false })).toEqual([1, [2], 0, 1])
    expect(known(7, () => world.despawn(clock))).toEqual([0, [], 0, 1])
    expect(new Interest(world, [Clock, Purse], { teamOf: () => 1 }).isByOwner).toBe(false)
    for (const each of [Npc, Ghost]) expect(new Interest(new World([each]), [each]).isByOwner).toBe(false)
  })
})
