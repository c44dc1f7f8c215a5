import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../base/assert.ts'
import { Prng } from '../../base/prng.ts'
import { entity, type Entity } from '../../schema/definition.ts'
import { bool, u8, vec2, vec3 } from '../../schema/field-kinds.ts'
import { always, anyOf, near, owner, team, where, type InterestRule } from '../../schema/interest.ts'
import type { ObjectOf } from '../../world/handle.ts'
import { World } from '../../world/world.ts'
import { AllRelevant, type Relevance } from '../relevance.ts'
import { ClientInterest } from './client-interest.ts'
import { Interest, type InterestOptions } from './interest.ts'

const at = vec3(-1000, 1000, 0.01).position()
const Npc = entity({ at }, { name: 'Npc', interest: near(30) })
const Bird = entity({ at, high: bool }, { name: 'Bird', interest: near(80, { leave: 120, where: (viewer, bird) => bird.high || viewer.peer === 2 }) })
const Coin = entity({ at: vec2(-1000, 1000, 0.01).position() }, { name: 'Coin', interest: near(30, { leave: 33 }), priority: 0.5 })
const Clock = entity({ time: u8 }, { name: 'Clock', priority: 3 })
const Purse = entity({ gold: u8 }, { name: 'Purse', interest: owner })
const Banner = entity({ at }, { name: 'Banner', interest: team })
const Scout = entity({ at, hp: u8 }, { name: 'Scout', interest: anyOf(team, near(20), near(50, { where: (viewer) => viewer.own(Clock) !== null })) })
const Ghost = entity({ at, for: u8 }, { name: 'Ghost', interest: where((viewer, ghost) => ghost.for === viewer.peer || Math.abs(ghost.at.x - viewer.x) < 3) })
const ENTITIES: readonly Entity[] = [Npc, Bird, Coin, Clock, Purse, Banner, Scout, Ghost]
const PLACED = [Npc, Bird, Coin, Banner, Scout, Ghost] as const

interface Placed { readonly id: number; readonly owner: number; readonly at: { x: number; y: number; z?: number } }

function tick(world: World, step: () => void = () => {}): void {
  world.beginTick()
  step()
  world.endTick()
}

/** Looks at everybody, by the words of the rules. */
class SlowTwin {
  known = new Set<number>()
  points: (readonly [number, number, number])[] = []
  readonly #world: World
  readonly #teamOf: (peer: number) => number

  constructor(world: World, teamOf: (peer: number) => number) {
    this.#world = world
    this.#teamOf = teamOf
  }

  refresh(peer: number, viewer: number): void {
    const everyone = ENTITIES.flatMap((each) => [...this.#world.each(each)].map((object) => ({ each, object: object as unknown as Placed })))
    const own = everyone.filter(({ each, object }) => object.owner === viewer && (PLACED as readonly Entity[]).includes(each))
    if (own.length > 0) this.points = own.sort((a, b) => a.object.id - b.object.id).slice(0, 64).map(({ object }) => [object.at.x, object.at.y, object.at.z ?? 0])
    const known = new Set<number>()
    for (const { each, object } of everyone) {
      if (object.owner !== 0 && (object.owner === peer || object.owner === viewer)) known.add(object.id)
      else if (this.#follows(each.interest, object, viewer)) known.add(object.id)
    }
    this.known = known
  }

  #follows(rule: InterestRule, object: Placed, viewer: number): boolean {
    const sees = (point?: readonly [number, number, number]): boolean => {
      if (rule.kind !== 'near' && rule.kind !== 'where') return false
      const [x, y, z] = point ?? [NaN, NaN, NaN]
      const own = (of: { schema: unknown }): never => ENTITIES.filter(({ schema }) => schema === of.schema).flatMap((each) => [...this.#world.each(each)])
        .find((each) => each.owner === viewer) as never ?? null
      return rule.sees({ peer: viewer, team: this.#teamOf(viewer), x, y, z, own }, object as never)
    }
    switch (rule.kind) {
      case 'always': return true
      case 'owner': return false
      case 'team': return object.owner !== 0 && this.#teamOf(viewer) !== 0 && this.#teamOf(object.owner) === this.#teamOf(viewer)
      case 'near': return this.points.some((point) => {
        const distance = Math.hypot(object.at.x - point[0], object.at.y - point[1], (object.at.z ?? 0) - point[2])
        return distance <= (this.known.has(object.id) ? rule.leave : rule.distance) && sees(point)
      })
      case 'where': return this.points.length === 0 ? sees() : this.points.some(sees)
      case 'any-of': return rule.rules.some((each) => this.#follows(each, object, viewer))
    }
  }
}

function idsOf(world: World, { count, indexes }: Relevance): number[] {
  return [...indexes.subarray(0, count)].map((index) => world.objects.idAt(index))
}

describe('interest', () => {
  test.each<InterestOptions>([
    { partition: 'grid' }, { partition: 'octree' }, { partition: 'grid', cellSize: 7 }, { partition: 'grid', cellSize: 500 },
  ])('[INT3, INT4, INT5, INT6, INT8] knows whom its slow twin knows, through births, deaths, moves, new owners, teams and followers: %o', (options) => {
    let [changes, spectated] = [0, 0]
    for (let seed = 1; seed <= 4; seed++) {
      const dice = new Prng(seed)
      const world = new World(ENTITIES)
      const teams = new Map<number, number>()
      const teamOf = (peer: number): number => teams.get(peer) ?? 0
      const interest = new Interest(world, ENTITIES, { ...options, teamOf })
      const clients = [1, 2, 3, 4].map((peer) => ({ client: new ClientInterest(interest, peer), twin: new SlowTwin(world, teamOf), before: new Set<number>() }))
      const place = (): { x: number; y: number; z: number } => ({ x: dice.nextInt(-90, 90), y: dice.nextInt(-90, 90), z: dice.nextInt(-20, 20) })
      for (let round = 1; round <= 80; round++) {
        tick(world, () => {
          for (const each of PLACED) {
            for (const object of world.each(each) as Iterable<ObjectOf<typeof Npc>>) {
              if (dice.nextInt(0, 1) === 0) object.at.x += dice.nextInt(-8, 8)
              if (dice.nextInt(0, 99) === 0) world.setOwner(object, dice.nextInt(0, 4))
              if (dice.nextInt(0, 40) === 0) world.despawn(object)
            }
          }
          for (const bird of world.each(Bird)) if (dice.nextInt(0, 9) === 0) bird.high = !bird.high
          for (let count = dice.nextInt(0, 6); count > 0; count--) {
            const type = ENTITIES[dice.nextInt(0, ENTITIES.length - 1)]!
            const init = { at: place(), for: dice.nextInt(0, 4), high: dice.nextInt(0, 1) === 0 }
            const fields = Object.fromEntries(Object.entries(init).filter(([name]) => name in type.schema.shape))
            if (type === Coin) Reflect.deleteProperty(init.at, 'z')
            world.spawn(type, fields as never, dice.nextInt(0, 3) === 0 ? dice.nextInt(1, 3) : 0)
          }
        })
        if (dice.nextInt(0, 9) === 0) teams.set(dice.nextInt(1, 4), dice.nextInt(0, 2))
        for (const { client, twin, before } of clients) {
          if (dice.nextInt(0, 5) === 0) continue
          if (dice.nextInt(0, 30) === 0) client.viewer = dice.nextInt(1, 4)
          client.refresh(round)
          twin.refresh(client.peer, client.viewer)
          const wanted = [...twin.known].sort((a, b) => a - b)
          expect(idsOf(world, client)).toEqual(wanted)
          expect([...client.ids.subarray(0, client.count)]).toEqual(wanted)
          expect([...client.entered.subarray(0, client.enteredCount)]).toEqual(wanted.filter((id) => !before.has(id)))
          expect([...client.left.subarray(0, client.leftCount)]).toEqual([...before].filter((id) => !twin.known.has(id)).sort((a, b) => a - b))
          expect([...client.sets.subarray(0, client.count)]).toEqual([...client.indexes.subarray(0, client.count)].map((index) => {
            const peer = world.objects.ownerAt(index)
            const isMate = teamOf(client.viewer) !== 0 && peer !== 0 && teamOf(peer) === teamOf(client.viewer)
            return peer !== 0 && (peer === client.peer || peer === client.viewer) ? 2 : isMate ? 1 : 0
          }))
          expect(client.weights.subarray(0, client.count).every((weight) => weight > 0)).toBe(true)
          changes += client.enteredCount + client.leftCount
          if (client.viewer !== client.peer) spectated++
          before.clear()
          for (const id of wanted) before.add(id)
        }
      }
    }
    expect(changes).toBeGreaterThan(1000)
    expect(spectated).toBeGreaterThan(50)
  })

  test('[INT4] who walks along the border neither comes nor goes', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES)
    const client = new ClientInterest(interest, 1)
    world.spawn(Scout, { at: { x: 0, y: 0, z: 0 } }, 1)
    const npc = world.spawn(Npc, { at: { x: 40, y: 0, z: 0 } })
    const seen: boolean[] = []
    for (const [round, x] of [40, 31, 30, 31, 32.9, 30, 33, 33.5, 31, 30.5, 30].entries()) {
      tick(world, () => { npc.at.x = x })
      client.refresh(round + 1)
      seen.push(client.knows(npc.id))
    }
    expect(seen).toEqual([false, false, true, true, true, true, true, false, false, false, true])
  })

  test('[INT4] the memory of a border does not pass to who lives at the same index next', () => {
    const world = new World([Npc])
    const client = new ClientInterest(new Interest(world, [Npc]), 1)
    world.spawn(Npc, {}, 1)
    const first = world.spawn(Npc, { at: { x: 29, y: 0, z: 0 } })
    tick(world)
    client.refresh(1)
    expect(client.knows(first.id)).toBe(true)
    tick(world, () => world.despawn(first))
    let second = first
    tick(world, () => { second = world.spawn(Npc, { at: { x: 32, y: 0, z: 0 } }) })
    expect(second.id >>> 16).toBe(first.id >>> 16)
    client.refresh(3)
    expect([client.knows(first.id), client.knows(second.id)]).toEqual([false, false])
    expect([...client.left.subarray(0, client.leftCount)]).toEqual([first.id])
  })

  test('[INT8] a client looks from where the host says, from what he owns, or from where he looked last', () => {
    const world = new World(ENTITIES)
    const elsewhere = new Map<number, number[]>()
    const interest = new Interest(world, ENTITIES, { viewpoint: (peer, points) => elsewhere.get(peer)?.forEach((x) => points.add(x, 0)) })
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
    expect(known(client, () => { body.at.x = 205 })).toEqual([2])
    expect(known(client, () => world.despawn(body))).toEqual([2])
    expect(known(follower)).toEqual([1, 3])
  })

  test('[INT5] a follower knows what he whom he follows knows, by the same field sets', () => {
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

  test('[INT9] urgency grows with priority and nearness and for what is one\'s own; far away it never ends', () => {
    const world = new World(ENTITIES)
    const client = new ClientInterest(new Interest(world, ENTITIES), 1)
    const weightOf = (object: { id: number }): number => client.weights[idsOf(world, client).indexOf(object.id)]!
    const body = world.spawn(Npc, {}, 1)
    const [hand, middle, edge] = [0, 16.5, 33].map((x) => world.spawn(Npc, { at: { x: Math.min(x, 30), y: 0, z: 0 } }))
    const clock = world.spawn(Clock, {})
    tick(world)
    client.refresh(1)
    tick(world, () => { edge!.at.x = 33 })
    client.refresh(2)
    expect(weightOf(body)).toBe(4)
    expect(weightOf(hand!)).toBe(1)
    expect(weightOf(middle!)).toBeCloseTo(1 / 4.5)
    expect(weightOf(edge!)).toBeCloseTo(1 / 8)
    expect(weightOf(clock)).toBe(3)
  })

  test('[INT9, INT10] the nearest of several viewpoints counts; without `near` the largest reach; a position that only some hold does not', () => {
    const Tower = entity({ at, hp: u8 }, { name: 'Tower', interest: always })
    const Mole = entity({ at: vec3(-1000, 1000, 0.01).position().owner() }, { name: 'Mole', interest: always })
    const entities = [Npc, Tower, Mole]
    for (const places of [[0, 400], [400, 0]]) {
      const world = new World(entities)
      const client = new ClientInterest(new Interest(world, entities, { viewpoint: (_, points) => places.forEach((x) => points.add(x, 0)) }), 1)
      world.spawn(Tower, { at: { x: 33, y: 0, z: 0 } })
      world.spawn(Tower, { at: { x: 400 - 33, y: 0, z: 0 } })
      world.spawn(Mole, { at: { x: 200, y: 0, z: 0 } })
      tick(world)
      client.refresh(1)
      expect([...client.weights.subarray(0, 3)]).toEqual([1 / 8, 1 / 8, 1])
    }
  })

  test('[INT3, INT5, INT8] peers whose numbers are alike are not each other, and the authority is nobody\'s own', () => {
    const world = new World(ENTITIES)
    const interest = new Interest(world, ENTITIES, { teamOf: (peer) => (peer === 1 ? 1 : 2) })
    const [client, other] = [new ClientInterest(interest, 1), new ClientInterest(interest, 513)]
    const [own, others] = [world.spawn(Purse, {}, 1), world.spawn(Purse, {}, 513)]
    world.spawn(Scout, { at: { x: 500, y: 0, z: 0 } }, 513)
    world.spawn(Scout, { at: { x: -500, y: 0, z: 0 } }, 1)
    const [here, there] = [world.spawn(Npc, { at: { x: -500, y: 9, z: 0 } }), world.spawn(Npc, { at: { x: 500, y: 9, z: 0 } })]
    const banner = world.spawn(Banner, {}, 513)
    world.spawn(Clock, {})
    tick(world)
    client.refresh(1)
    other.refresh(1)
    expect([own, others, here, there, banner].map(({ id }) => client.knows(id))).toEqual([true, false, true, false, false])
    expect([own, others, here, there, banner].map(({ id }) => other.knows(id))).toEqual([false, true, false, true, true])
    other.viewer = 0
    tick(world)
    other.refresh(2)
    expect([...other.sets.subarray(0, other.count)].filter((set) => set !== 0).length).toBe(3)
  })

  test('[INT3] two rules of one entity that leave at the same distance both hold', () => {
    const Owl = entity({ at, hp: u8 }, { name: 'Owl', interest: anyOf(near(40, { leave: 50 }), near(20, { leave: 50, where: () => false })) })
    const world = new World([Owl])
    const client = new ClientInterest(new Interest(world, [Owl]), 1)
    world.spawn(Owl, {}, 1)
    const owl = world.spawn(Owl, { at: { x: 30, y: 0, z: 0 } })
    tick(world)
    client.refresh(1)
    expect(client.knows(owl.id)).toBe(true)
  })

  test('[INT8] of many viewpoints the first 64 count', () => {
    const world = new World(ENTITIES)
    const client = new ClientInterest(new Interest(world, ENTITIES), 1)
    for (let count = 0; count < 70; count++) world.spawn(Scout, { at: { x: -999 + count, y: 999, z: 0 } }, 1)
    const last = world.spawn(Scout, { at: { x: 500, y: 0, z: 0 } }, 1)
    const npc = world.spawn(Npc, { at: { x: 500, y: 5, z: 0 } })
    tick(world)
    client.refresh(1)
    expect([client.knows(last.id), client.knows(npc.id)]).toEqual([true, false])
  })

  test('[INT10] who may not be known has no part in the answer: not where he is, not what he does, not that he is', () => {
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
        answer.push([client.indexes, client.weights, client.sets, client.ids].map((list) => [...list.subarray(0, count)]))
      }
      return answer
    })
    expect(answers[1]).toEqual(answers[0])
  })

  test('[INT11] asking again at the same tick changes nothing, and what rests is not looked at again', () => {
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
    tick(world, () => { body.at.x = 400 })
    one.refresh(2)
    expect([one.enteredCount, one.leftCount, one.count]).toEqual([0, 5, 1])
    expect(interest.layers[0]!.partition.moves).toBe(1)
  })

  test('[INT2] an object that everyone may know is known anywhere; a predicate gets handles that cannot be written', () => {
    let [asked, refused] = [0, 0]
    const Secret = entity({ at, hp: u8 }, {
      interest: where((viewer, secret) => {
        asked++
        try { (secret as { hp: number }).hp = 9 } catch { refused++ }
        return viewer.own(Clock) !== null && secret.hp === 7
      }),
    }) as Entity
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

  test('[INT6] refuses a partition that there is none of, and cells of no size', () => {
    const world = new World(ENTITIES)
    expect(() => new Interest(world, ENTITIES, { partition: 'bsp' as never })).toThrow(ConfigError)
    expect(() => new Interest(world, ENTITIES, { cellSize: 0 })).toThrow('interest.cellSize')
  })
})

describe('the simple twin', () => {
  test('[INT5] sees everything, owners as owners and mates as mates', () => {
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
