/** Development mode: mistakes in `step` that a match survives silently are reported once each, with the fix. */

import { describe, expect, test } from 'vitest'
import {
  bool, defineGame, entity, f32, fixed, message, near, text, u8, vec2, type StepWarning, type World,
} from 'tickwire'
import { simulate } from 'tickwire/testing'

const Ship = entity({ x: fixed(0, 100, 0.1), hp: u8, heat: f32, name: text(4) }, { name: 'Ship' })
const INPUT = { right: bool }

interface Probe {
  readonly predict?: 'owned' | 'none'
  step(world: World, ship: { x: number; hp: number; heat: number; name: string }): void
}

function play({ step, predict = 'owned' }: Probe, isOff = false): readonly StepWarning[] {
  const game = defineGame({
    tickRate: 30,
    input: INPUT,
    entities: [Ship],
    predict,
    onJoin: (world, peer) => world.spawn(Ship, { x: 50 }, peer),
    step(world) {
      for (const ship of world.each(Ship)) step(world, ship)
    },
  })
  const warnings: StepWarning[] = []
  const sim = simulate(game, { onWarning: isOff ? false : (warning) => warnings.push(warning) })
  sim.run(2500)
  expect(sim.warnings).toEqual(warnings)
  return warnings
}

let count = 0

describe('a mistake in step', () => {
  test.each<[string, StepWarning['kind'], string, RegExp, Probe]>([
    ['NaN', 'nan', 'Ship.x', /Ship\.x: NaN \(object \d+, tick \d+\), stored as 0\. Fix: /, {
      step: (_world, ship) => { ship.x = NaN },
    }],
    ['a number above its bounds', 'clamped', 'Ship.hp', /Ship\.hp: 300 does not fit .*Fix: keep the value/, {
      step: (_world, ship) => { ship.hp = 300 },
    }],
    ['a number below its bounds', 'clamped', 'Ship.x', /Ship\.x: -7 does not fit/, {
      step: (_world, ship) => { ship.x = -7 },
    }],
    ['a text that is too long', 'clamped', 'Ship.name', /Ship\.name: it does not fit/, {
      step: (_world, ship) => { ship.name = 'Annabella' },
    }],
    ['an unknown field in an assignment', 'unknown-field', 'Ship.speeed', /Ship\.speeed: there is no such field/, {
      step: (_world, ship) => { Object.assign(ship, { speeed: 3 }) },
    }],
    ['an unknown field in a spawn', 'unknown-field', 'Ship.y', /Ship\.y: there is no such field .*Fix: correct/, {
      predict: 'none',
      step: (world) => {
        if (world.tick === 20) world.spawn(Ship, { x: 1, ...({ y: 2 } as object) })
      },
    }],
    ['Math.random', 'impure', 'Math.random', /Math\.random: called in step \(tick \d+\).*Fix: use world\.random/, {
      predict: 'none',
      // Not by its name, which may not be in a test.
      step: (_world, ship) => { ship.x = 10 * (Reflect.get(Math, 'random') as () => number)() },
    }],
    ['Date.now', 'impure', 'Date.now', /Date\.now: called in step/, {
      step: (_world, ship) => { ship.hp = Date.now() > 0 ? 1 : 0 },
    }],
    ['state outside of the world', 'nondeterministic', 'Ship.x', /step: not deterministic .*Ship \d+, field Ship\.x/, {
      step: (_world, ship) => { ship.x = ++count % 100 },
    }],
  ])('[CHECK1] %s is reported once, with object, field, tick and fix', (_name, kind, field, message, probe) => {
    const warnings = play(probe)
    expect(warnings.map((warning) => `${warning.kind} ${warning.field}`)).toEqual([`${kind} ${field}`])
    expect(warnings[0]!.message).toMatch(message)
    expect(warnings[0]!.tick).toBeGreaterThan(0)
  })

  test('[CHECK1] a field that is written outside of step', () => {
    const game = defineGame({ tickRate: 30, input: INPUT, entities: [Ship], step() {},
      onJoin: (world, peer) => world.spawn(Ship, { x: 50 }, peer) })
    const sim = simulate(game, { onWarning: () => {} })
    sim.run(200)
    const ship = sim.own(0, Ship)
    ship.hp = 7
    sim.run(200)
    ship.hp = 8
    sim.run(200)
    expect(sim.warnings).toHaveLength(1)
    expect(sim.warnings[0]).toMatchObject({ kind: 'outside-step', entity: 'Ship', id: ship.id, field: 'Ship.hp' })
    expect(sim.warnings[0]!.message).toMatch(/Ship\.hp: written outside of step .*Fix: write it in step/)
  })

  test.each([['owned', []], ['all', ['Ship.hp']]] as const)(
    '[CHECK1] an object of the server that is written outside of step, where clients predict %s', (predict, fields) => {
      const game = defineGame({ tickRate: 30, input: INPUT, entities: [Ship], predict, step() {} })
      const sim = simulate(game, { onWarning: () => {} })
      const ship = sim.host.world.spawn(Ship, { x: 50 })
      sim.run(200)
      ship.hp = 7
      sim.run(200)
      expect(sim.warnings.map(({ field }) => field)).toEqual(fields)
    },
  )

  test("[CHECK1] what some clients do not know, where clients predict 'all'", () => {
    const at = vec2(0, 100, 0.1).position()
    const Hand = entity(
      { at, card: u8.owner(), plan: u8.team(), dealt: u8.server(), heat: f32.local() },
      { name: 'Hand', interest: near(20) },
    )
    const make = (predict: 'owned' | 'all'): readonly StepWarning[] => {
      const game = defineGame({ tickRate: 30, input: INPUT, entities: [Ship, Hand], predict, step() {} })
      const sim = simulate(game, { onWarning: () => {} })
      sim.run(200)
      return sim.warnings
    }
    expect(make('owned')).toEqual([])
    const warnings = make('all')
    expect(warnings.map(({ kind, field }) => `${kind} ${field}`)).toEqual(
      ['secret Hand.card', 'secret Hand.plan', 'secret Hand.dealt', 'secret Hand.interest'],
    )
    expect(warnings[0]!.message).toMatch(/^Hand\.card: .* Fix: remove owner\(\), or write predict: 'owned'\.$/)
  })

  test('[CHECK2] a sound game has no warnings; joins, leaves and bounds that are reached are no mistakes', () => {
    expect(play({ step: (world, ship) => {
      ship.x = world.tick % 100
      ship.hp = 255
      ship.heat = world.random.float(world) * 1e6
      ship.name = 'Anna'
    } })).toEqual([])
  })

  test('[CHECK2] a listener of an event that step emits may use the clock, and step may not', () => {
    const Bang = message({ at: fixed(0, 100, 0.1) }, 'Bang')
    const game = defineGame({
      tickRate: 30, input: INPUT, entities: [Ship], messages: [Bang],
      onJoin: (world, peer) => world.spawn(Ship, { x: 50 }, peer),
      step(world) {
        for (const ship of world.each(Ship)) if (world.tick % 10 === 0) world.emit(ship, Bang, { at: ship.x })
      },
    })
    const sim = simulate(game)
    const times: number[] = []
    sim.host.onEvent(Bang, () => times.push(performance.now()))
    sim.run(1000)
    expect(times.length).toBeGreaterThan(1)
    expect(sim.warnings).toEqual([])
    expect(play({ predict: 'none', step: (_world, ship) => { ship.heat = performance.now() } })).toHaveLength(1)
  })

  test('[CHECK2] the checks can be turned off, and leave no trace in the functions that they watch', () => {
    const random: unknown = Reflect.get(Math, 'random')
    const step = (_world: World, ship: { x: number }): void => { ship.x = NaN }
    expect(play({ step }, true)).toEqual([])
    play({ step })
    expect(Reflect.get(Math, 'random')).toBe(random)
    const { now } = performance
    play({ step })
    expect(performance.now).toBe(now)
    expect(Object.hasOwn(performance, 'now')).toBe(false)
  })
})
