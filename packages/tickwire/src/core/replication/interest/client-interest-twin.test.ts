import { describe, expect, test } from 'vitest'
import { Banner, Bird, Coin, ENTITIES, Ghost, Npc, Scout, tick } from '../../../../../../test/interest-entities.ts'
import { form } from '../../../../../../test/form.ts'
import { Prng } from '../../base/prng.ts'
import type { Entity } from '../../schema/definition.ts'
import type { InterestRule } from '../../schema/interest.ts'
import type { ObjectOf } from '../../world/handle.ts'
import { World } from '../../world/world.ts'
import type { Relevance } from '../relevance.ts'
import { ClientInterest } from './client-interest.ts'
import { Interest, type InterestOptions } from './interest.ts'

const PLACED = [Npc, Bird, Coin, Banner, Scout, Ghost] as const

interface Placed {
  readonly id: number
  readonly owner: number
  readonly at: { x: number; y: number; z?: number }
}

/** Checks every object against every rule, without an index. */
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
    const everyone = ENTITIES.flatMap((each) =>
      [...this.#world.each(each)].map((object) => ({ each, object: object as unknown as Placed })),
    )
    const own = everyone.filter(
      ({ each, object }) => object.owner === viewer && (PLACED as readonly Entity[]).includes(each),
    )
    if (own.length > 0)
      this.points = own
        .sort((a, b) => a.object.id - b.object.id)
        .slice(0, 64)
        .map(({ object }) => [object.at.x, object.at.y, object.at.z ?? 0])
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
      const own = (of: { schema: unknown }): never =>
        (ENTITIES.filter(({ schema }) => schema === of.schema)
          .flatMap((each) => [...this.#world.each(each)])
          .find((each) => each.owner === viewer) as never) ?? null
      return rule.sees({ peer: viewer, team: this.#teamOf(viewer), x, y, z, own }, object as never)
    }
    switch (rule.kind) {
      case 'always':
        return true
      case 'owner':
        return false
      case 'team':
        return object.owner !== 0 && this.#teamOf(viewer) !== 0 && this.#teamOf(object.owner) === this.#teamOf(viewer)
      case 'near':
        return this.points.some((point) => {
          const distance = Math.hypot(object.at.x - point[0], object.at.y - point[1], (object.at.z ?? 0) - point[2])
          return distance <= (this.known.has(object.id) ? rule.leave : rule.distance) && sees(point)
        })
      case 'where':
        return this.points.length === 0 ? sees() : this.points.some(sees)
      case 'any-of':
        return rule.rules.some((each) => this.#follows(each, object, viewer))
    }
  }
}

function idsOf(world: World, { count, indexes }: Relevance): number[] {
  return [...indexes.subarray(0, count)].map((index) => world.objects.idAt(index))
}

describe('interest', () => {
  test.each<InterestOptions>([
    { partition: 'grid' },
    { partition: 'octree' },
    { partition: 'grid', squareSize: 7 },
    { partition: 'grid', squareSize: 500 },
  ])(
    '[INT3, INT4, INT5, INT6, INT8] equals its slow twin through births, deaths, moves, owners, teams, followers: %o',
    (options) => {
      let [changes, spectated] = [0, 0]
      for (let seed = 1; seed <= form(2, 4); seed++) {
        const dice = new Prng(seed)
        const world = new World(ENTITIES)
        const teams = new Map<number, number>()
        const teamOf = (peer: number): number => teams.get(peer) ?? 0
        const interest = new Interest(world, ENTITIES, { ...options, teamOf })
        const clients = [1, 2, 3, 4].map((peer) => ({
          client: new ClientInterest(interest, peer),
          twin: new SlowTwin(world, teamOf),
          before: new Set<number>(),
        }))
        const place = (): { x: number; y: number; z: number } => ({
          x: dice.nextInt(-90, 90),
          y: dice.nextInt(-90, 90),
          z: dice.nextInt(-20, 20),
        })
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
            expect([...client.left.subarray(0, client.leftCount)]).toEqual(
              [...before].filter((id) => !twin.known.has(id)).sort((a, b) => a - b),
            )
            expect([...client.sets.subarray(0, client.count)]).toEqual(
              [...client.indexes.subarray(0, client.count)].map((index) => {
                const peer = world.objects.ownerAt(index)
                const isMate = teamOf(client.viewer) !== 0 && peer !== 0 && teamOf(peer) === teamOf(client.viewer)
                return peer !== 0 && (peer === client.peer || peer === client.viewer) ? 2 : isMate ? 1 : 0
              }),
            )
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
    },
  )
})
