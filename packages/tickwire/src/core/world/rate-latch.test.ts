import { describe, expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { entity } from '../schema/definition.ts'
import { bool, group, text, u16, u8 } from '../schema/field-kinds.ts'
import { isDue, rateLatchOf, ratePeriod } from './rate-latch.ts'
import { Timeline } from './timeline.ts'
import { World } from './world.ts'

const TICK_RATE = 60
/** Usual rates: the transform every tick, the velocity every second tick, down to the state of the AI. */
const RATES = { transform: 60, velocity: 30, health: 20, animation: 15, weapon: 10, ai: 5 } as const
type Name = keyof typeof RATES
const NAMES = Object.keys(RATES) as Name[]
const Creature = entity(
  {
    transform: u16.rate(60),
    velocity: u16.rate(30),
    health: u16.rate(20),
    animation: u16.rate(15),
    weapon: u16.rate(10),
    ai: u16.rate(5),
    free: u16,
  },
  { name: 'Creature' },
)

describe('rates', () => {
  test('[RATE2] changes are sent as often as the table says, and with a rate above the tick rate every tick', () => {
    const world = new World([Creature])
    const timeline = new Timeline(world, 61, TICK_RATE)
    const creatures = Array.from({ length: 7 }, () => world.spawn(Creature, {}))
    for (let tick = 1; tick <= 61; tick++) {
      world.beginTick()
      for (const creature of world.each(Creature)) for (const name of [...NAMES, 'free'] as const) creature[name] = tick
      world.endTick()
      timeline.sample()
    }
    for (const { id } of creatures) {
      for (const name of [...NAMES, 'free'] as const) {
        const sent = Array.from({ length: 61 }, (_, at) => timeline.read(Creature, id, at + 1, name))
        const changes = sent.filter((value, at) => at > 0 && value !== sent[at - 1]).length
        expect(changes, name).toBe(name === 'free' ? 60 : RATES[name])
      }
    }
    expect(ratePeriod(60, 1000)).toBe(1)
    expect(ratePeriod(128, 60)).toBe(2)
    expect(ratePeriod(60, 0.1)).toBe(600)
  })

  test('[RATE2] of many objects an equal share is due at every tick', () => {
    for (const period of [2, 3, 4, 8, 12]) {
      for (let tick = 0; tick < period; tick++) {
        const due = Array.from({ length: 120 }, (_, index) => isDue(tick, index, period)).filter(Boolean).length
        expect(due).toBe(120 / period)
      }
    }
  })

  test("[RATE3] a remembered row is the object's own, with every field as of its last due tick or its birth", () => {
    const Thing = entity(
      { slow: u8.rate(20), label: text(8).rate(15), shield: group({ hp: u8 }).rate(7), flag: bool.rate(30), fast: u8 },
      { name: 'Thing' },
    )
    const periods = { slow: 3, label: 4, shield: 9, flag: 2, fast: 1 } as const
    const dice = new Prng(5)
    const world = new World([Thing])
    const timeline = new Timeline(world, 32, TICK_RATE)
    const twin = new Map<number, Record<string, unknown>>()
    for (let tick = 1; tick <= 2000; tick++) {
      world.beginTick()
      for (const thing of world.each(Thing)) {
        if (dice.nextInt(0, 2) === 0) thing.slow = dice.nextInt(0, 255)
        if (dice.nextInt(0, 2) === 0) thing.label = `n${dice.nextInt(0, 9)}`
        if (dice.nextInt(0, 2) === 0) thing.shield = thing.shield === null ? { hp: dice.nextInt(0, 9) } : null
        if (dice.nextInt(0, 2) === 0) thing.flag = !thing.flag
        if (dice.nextInt(0, 2) === 0) thing.fast = dice.nextInt(0, 255)
        if (dice.nextInt(0, 60) === 0) world.despawn(thing)
        if (dice.nextInt(0, 20) === 0) world.setOwner(thing, dice.nextInt(0, 3))
      }
      if (world.count(Thing) < 6) world.spawn(Thing, { slow: dice.nextInt(0, 255), label: 'new' })
      world.endTick()
      timeline.sample()
      for (const id of [...twin.keys()]) if (world.get(Thing, id) === null) twin.delete(id)
      for (const thing of world.each(Thing)) {
        const known = twin.get(thing.id)
        const now = JSON.parse(JSON.stringify(thing)) as Record<string, unknown>
        const held = Object.fromEntries(Object.entries(periods).map(([name, period]) =>
          [name, known === undefined || (tick + (thing.id >>> 16)) % period === 0 ? now[name] : known[name]]))
        twin.set(thing.id, held)
        const sent = Object.fromEntries(
          Object.keys(periods).map((name) => [
            name,
            timeline.read(Thing, thing.id, tick, name as keyof typeof periods),
          ]),
        )
        expect(sent).toEqual(held)
        expect(timeline.owner(0, thing.id, tick)).toBe(thing.owner)
      }
    }
  })

  test('[RATE4] a change that is not due is no change: a row in which only held fields changed is the same row', () => {
    const world = new World([Creature])
    const timeline = new Timeline(world, 32, TICK_RATE)
    const { id } = world.spawn(Creature, {})
    const found: number[] = []
    for (let tick = 1; tick <= 24; tick++) {
      world.beginTick()
      for (const creature of world.each(Creature)) creature.ai = tick
      world.endTick()
      timeline.sample()
      found.push(timeline.find(0, id, tick))
    }
    expect(new Set(found).size).toBe(3)
    expect(timeline.changedAt(id)).toBe(24)
    // The remaining changes of an object that then rests are sent when they are due.
    for (let tick = 25; tick <= 36; tick++) {
      world.beginTick()
      if (tick === 25) for (const creature of world.each(Creature)) creature.ai = 99
      world.endTick()
      timeline.sample()
    }
    expect(timeline.read(Creature, id, 35, 'ai')).toBe(24)
    expect(timeline.read(Creature, id, 36, 'ai')).toBe(99)
  })

  test('[RATE4] an entity without rates, and a Timeline without a tick rate, have no latch', () => {
    expect(rateLatchOf(entity({ a: u8, b: u8.rate(60) }).schema, TICK_RATE)).toBeUndefined()
    const world = new World([Creature])
    const timeline = new Timeline(world, 4)
    const creature = world.spawn(Creature, {})
    for (let tick = 1; tick <= 3; tick++) {
      world.beginTick()
      creature.ai = tick
      world.endTick()
      timeline.sample()
      expect(timeline.read(Creature, creature.id, tick, 'ai')).toBe(tick)
    }
  })
})
