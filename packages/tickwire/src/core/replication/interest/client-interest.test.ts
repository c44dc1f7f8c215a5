import { describe, expect, test } from 'vitest'
import { at, Banner, Clock, ENTITIES, Npc, Purse, Scout, tick } from '../../../../../../test/interest-entities.ts'
import { ConfigError } from '../../base/assert.ts'
import { Prng } from '../../base/prng.ts'
import { entity, type Entity } from '../../schema/definition.ts'
import { u8, vec3 } from '../../schema/field-kinds.ts'
import { always, anyOf, near, where } from '../../schema/interest.ts'
import { World } from '../../world/world.ts'
import { AllRelevant } from './all-relevant.ts'
import type { Relevance } from '../relevance.ts'
import { ClientInterest } from './client-interest.ts'
import { Interest } from './interest.ts'

function idsOf(world: World, { count, indexes }: Relevance): number[] {
  return [...indexes.subarray(0, count)].map((index) => world.objects.idAt(index))
}

describe('interest', () => {
  test('[INT4] an object that moves along the border neither enters nor leaves', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES)
    const client = new ClientInterest(interest, 1)
    world.spawn(Scout, { at: { x: 0, y: 0, z: 0 } }, 1)
    const npc = world.spawn(Npc, { at: { x: 40, y: 0, z: 0 } })
    const seen: boolean[] = []
    for (const [round, x] of [40, 31, 30, 31, 32.9, 30, 33, 33.5, 31, 30.5, 30].entries()) {
      tick(world, () => {
        npc.at.x = x
      })
      client.refresh(round + 1)
      seen.push(client.knows(npc.id))
    }
    expect(seen).toEqual([false, false, true, true, true, true, true, false, false, false, true])
  })

  test('[INT4] the hysteresis of a border does not pass to the next object at the same index', () => {
    const world = new World([Npc])
    const client = new ClientInterest(new Interest(world, [Npc]), 1)
    world.spawn(Npc, {}, 1)
    const first = world.spawn(Npc, { at: { x: 29, y: 0, z: 0 } })
    tick(world)
    client.refresh(1)
    expect(client.knows(first.id)).toBe(true)
    tick(world, () => world.despawn(first))
    let second = first
    tick(world, () => {
      second = world.spawn(Npc, { at: { x: 32, y: 0, z: 0 } })
    })
    expect(second.id >>> 16).toBe(first.id >>> 16)
    client.refresh(3)
    expect([client.knows(first.id), client.knows(second.id)]).toEqual([false, false])
    expect([...client.left.subarray(0, client.leftCount)]).toEqual([first.id])
  })

  test('[INT8] a client looks from where the host says, from its own objects, or from its last position', () => {
    const world = new World(ENTITIES)
    const elsewhere = new Map<number, number[]>()
    const interest = new Interest(world, ENTITIES, {
      viewpoint: (peer, points) => elsewhere.get(peer)?.forEach((x) => points.add(x, 0)),
    })
    const client = new ClientInterest(interest, 1)
    const follower = new ClientInterest(interest, 9)
    const npcs = [0, 100, 200, 300].map((x) => world.spawn(Npc, { at: { x, y: 0, z: 0 } }))
    const body = world.spawn(Scout, { at: { x: 1, y: 0, z: 0 } }, 1)
    let round = 0
    const known = (of: ClientInterest, step?: () => void): number[] => {
      tick(world, step)
      of.refresh(++round)
      return npcs.flatMap(({ id }, number) => (of.knows(id) ? [number] : []))
    }
    expect(known(client)).toEqual([0])
    expect(known(follower)).toEqual([])
    follower.viewer = 1
    expect(known(follower)).toEqual([0])
    elsewhere.set(1, [100, 310])
    expect(known(client)).toEqual([1, 3])
    expect(known(follower)).toEqual([1, 3])
    elsewhere.delete(1)
    expect(
      known(client, () => {
        body.at.x = 205
      }),
    ).toEqual([2])
    expect(known(client, () => world.despawn(body))).toEqual([2])
    expect(known(follower)).toEqual([1, 3])
  })

  test('[INT5] a follower sees what the followed player sees, with the same field sets', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES, { teamOf: (peer) => (peer < 3 ? 1 : 2) })
    const [player, follower] = [new ClientInterest(interest, 1), new ClientInterest(interest, 9)]
    follower.viewer = 1
    for (const peer of [1, 2, 3]) {
      world.spawn(Purse, {}, peer)
      world.spawn(Banner, { at: { x: 500, y: 0, z: 0 } }, peer)
      world.spawn(Scout, { at: { x: peer, y: 0, z: 0 } }, peer)
    }
    tick(world)
    player.refresh(1)
    follower.refresh(1)
    expect(idsOf(world, follower)).toEqual(idsOf(world, player))
    expect(player.sets.subarray(0, player.count)).toEqual(follower.sets.subarray(0, follower.count))
    expect([...player.sets.subarray(0, player.count)]).toEqual([2, 2, 2, 1, 1, 0])
  })

  test('[INT9] urgency grows with priority, with nearness and for own objects; far away it stays above zero', () => {
    const world = new World(ENTITIES)
    const client = new ClientInterest(new Interest(world, ENTITIES), 1)
    const weightOf = (object: { id: number }): number => client.weights[idsOf(world, client).indexOf(object.id)]!
    const body = world.spawn(Npc, {}, 1)
    const [hand, middle, edge] = [0, 16.5, 33].map((x) => world.spawn(Npc, { at: { x: Math.min(x, 30), y: 0, z: 0 } }))
    const clock = world.spawn(Clock, {})
    tick(world)
    client.refresh(1)
    tick(world, () => {
      edge!.at.x = 33
    })
    client.refresh(2)
    expect(weightOf(body)).toBe(4)
    expect(weightOf(hand!)).toBe(1)
    expect(weightOf(middle!)).toBeCloseTo(1 / 4.5)
    expect(weightOf(edge!)).toBeCloseTo(1 / 8)
    expect(weightOf(clock)).toBe(3)
  })

  test('[INT9, INT10] the nearest viewpoint counts; without `near` the largest reach; a hidden one does not', () => {
    const Tower = entity({ at, hp: u8 }, { name: 'Tower', interest: always })
    const Mole = entity({ at: vec3(-1000, 1000, 0.01).position().owner() }, { name: 'Mole', interest: always })
    const entities = [Npc, Tower, Mole]
    for (const places of [
      [0, 400],
      [400, 0],
    ]) {
      const world = new World(entities)
      const client = new ClientInterest(
        new Interest(world, entities, { viewpoint: (_, points) => places.forEach((x) => points.add(x, 0)) }),
        1,
      )
      world.spawn(Tower, { at: { x: 33, y: 0, z: 0 } })
      world.spawn(Tower, { at: { x: 400 - 33, y: 0, z: 0 } })
      world.spawn(Mole, { at: { x: 200, y: 0, z: 0 } })
      tick(world)
      client.refresh(1)
      expect([...client.weights.subarray(0, 3)]).toEqual([1 / 8, 1 / 8, 1])
    }
  })

  test('[INT3, INT5, INT8] peers with similar numbers are distinct, and objects of the authority are not own', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES, { teamOf: (peer) => (peer === 1 ? 1 : 2) })
    const [client, other] = [new ClientInterest(interest, 1), new ClientInterest(interest, 513)]
    const [own, others] = [world.spawn(Purse, {}, 1), world.spawn(Purse, {}, 513)]
    world.spawn(Scout, { at: { x: 500, y: 0, z: 0 } }, 513)
    world.spawn(Scout, { at: { x: -500, y: 0, z: 0 } }, 1)
    const [here, there] = [
      world.spawn(Npc, { at: { x: -500, y: 9, z: 0 } }),
      world.spawn(Npc, { at: { x: 500, y: 9, z: 0 } }),
    ]
    const banner = world.spawn(Banner, {}, 513)
    world.spawn(Clock, {})
    tick(world)
    client.refresh(1)
    other.refresh(1)
    expect([own, others, here, there, banner].map(({ id }) => client.knows(id))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ])
    expect([own, others, here, there, banner].map(({ id }) => other.knows(id))).toEqual([
      false,
      true,
      false,
      true,
      true,
    ])
    other.viewer = 0
    tick(world)
    other.refresh(2)
    expect([...other.sets.subarray(0, other.count)].filter((set) => set !== 0).length).toBe(3)
  })

  test('[INT3] two rules of one entity that leave at the same distance both hold', () => {
    const Owl = entity(
      { at, hp: u8 },
      { name: 'Owl', interest: anyOf(near(40, { leave: 50 }), near(20, { leave: 50, where: () => false })) },
    )
    const world = new World([Owl])
    const client = new ClientInterest(new Interest(world, [Owl]), 1)
    world.spawn(Owl, {}, 1)
    const owl = world.spawn(Owl, { at: { x: 30, y: 0, z: 0 } })
    tick(world)
    client.refresh(1)
    expect(client.knows(owl.id)).toBe(true)
  })

  test('[INT8] only the first 64 viewpoints count', () => {
    const world = new World(ENTITIES)
    const client = new ClientInterest(new Interest(world, ENTITIES), 1)
    for (let count = 0; count < 70; count++) world.spawn(Scout, { at: { x: -999 + count, y: 999, z: 0 } }, 1)
    const last = world.spawn(Scout, { at: { x: 500, y: 0, z: 0 } }, 1)
    const npc = world.spawn(Npc, { at: { x: 500, y: 5, z: 0 } })
    tick(world)
    client.refresh(1)
    expect([client.knows(last.id), client.knows(npc.id)]).toEqual([true, false])
  })

  test('[INT10] an object that a client may not know leaves no trace in the result, not even its existence', () => {
    const answers = [false, true].map((isBusy) => {
      const dice = new Prng(8)
      const world = new World(ENTITIES)
      const interest = new Interest(world, ENTITIES, { teamOf: (peer) => peer })
      const client = new ClientInterest(interest, 1)
      const body = world.spawn(Scout, {}, 1)
      const npcs = Array.from({ length: 20 }, (_, x) => world.spawn(Npc, { at: { x: 3 * x, y: 0, z: 0 } }))
      const hidden = Array.from({ length: 60 }, () => world.spawn(Npc, { at: { x: 500, y: 0, z: 0 } }))
      const purse = world.spawn(Purse, {}, 2)
      const answer: unknown[] = []
      for (let round = 1; round <= 100; round++) {
        tick(world, () => {
          body.at.x = dice.nextInt(-20, 60)
          for (const npc of npcs) npc.at.y = dice.nextInt(-20, 20)
          if (!isBusy) return
          for (const npc of hidden) npc.at.x = 300 + ((npc.id * round) % 500)
          purse.gold = round
          if (round % 10 === 0) world.despawn(hidden[round / 10]!)
        })
        client.refresh(round)
        const { count } = client
        answer.push(
          [client.indexes, client.weights, client.sets, client.ids].map((list) => [...list.subarray(0, count)]),
        )
      }
      return answer
    })
    expect(answers[1]).toEqual(answers[0])
  })

  test('[INT11] asking again at the same tick changes nothing, and resting objects are not checked again', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES)
    const [one, two] = [new ClientInterest(interest, 1), new ClientInterest(interest, 2)]
    const body = world.spawn(Npc, {}, 1)
    for (let x = 0; x < 5; x++) world.spawn(Npc, { at: { x, y: 0, z: 0 } })
    tick(world)
    for (const client of [one, two, one]) client.refresh(1)
    expect(interest.round).toBe(1)
    expect(one.enteredCount).toBe(6)
    expect(interest.layers.map(({ reach }) => reach)).toEqual([33, 120, 22, 55.00000000000001])
    tick(world, () => {
      body.at.x = 400
    })
    one.refresh(2)
    expect([one.enteredCount, one.leftCount, one.count]).toEqual([0, 5, 1])
    expect(interest.layers[0]!.partition.moves).toBe(1)
  })

  test('[INT2] an object for everyone is known anywhere; a predicate gets handles that cannot be written', () => {
    let [asked, refused] = [0, 0]
    const Secret = entity(
      { at, hp: u8 },
      {
        interest: where((viewer, secret) => {
          asked++
          try {
            ;(secret as { hp: number }).hp = 9
          } catch {
            refused++
          }
          return viewer.own(Clock) !== null && secret.hp === 7
        }),
      },
    ) as Entity
    const entities = [Clock, Secret, entity({ at }, { interest: always })]
    const world = new World(entities)
    const client = new ClientInterest(new Interest(world, entities), 1)
    world.spawn(Clock, {}, 1)
    world.spawn(Secret, { hp: 7 } as never)
    world.spawn(Secret, { hp: 8 } as never)
    world.spawn(entities[2]!, { at: { x: 999, y: 999, z: 999 } } as never)
    tick(world)
    client.refresh(1)
    expect(client.count).toBe(3)
    expect([asked, refused]).toEqual([2, 2])
  })

  test('[INT6] refuses an unknown partition, and squares of no size', () => {
    const world = new World(ENTITIES)
    expect(() => new Interest(world, ENTITIES, { partition: 'bsp' as never })).toThrow(ConfigError)
    expect(() => new Interest(world, ENTITIES, { squareSize: 0 })).toThrow('interest.squareSize')
  })
})

describe('the simple twin', () => {
  test("[INT5] gives a client the owner's fields of own objects, and the team's fields of objects of its team", () => {
    const world = new World(ENTITIES)
    for (const peer of [0, 1, 2, 3]) world.spawn(Clock, {}, peer)
    tick(world)
    const setsOf = (relevance: AllRelevant): number[] => {
      relevance.refresh(1)
      relevance.refresh(1)
      return [...relevance.sets.subarray(0, relevance.count)]
    }
    expect(setsOf(new AllRelevant(world, 1))).toEqual([0, 2, 0, 0])
    expect(setsOf(new AllRelevant(world, 1, (peer) => peer % 2))).toEqual([0, 2, 0, 1])
    expect(setsOf(new AllRelevant(world, 2, (peer) => peer % 2))).toEqual([0, 0, 2, 0])
  })
})
