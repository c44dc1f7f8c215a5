import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { entity, message } from './definition.ts'
import { bool, f64, fixed, group, struct, u8, vec2, vec3, vec4 } from './field-kinds.ts'
import { always, anyOf, near, owner, positionLeaves, team, where, type InterestRule } from './interest.ts'

const at = vec2(-100, 100, 0.1).position()

describe('rules of interest', () => {
  test('[INT1] every rule is a value, and an entity without a rule is known to everyone', () => {
    expect(entity({ at }).interest).toBe(always)
    for (const rule of [
      always,
      owner,
      team,
      near(60),
      near(60, { leave: 60 }),
      anyOf(team, near(30)),
      where(() => true),
    ] as InterestRule[]) {
      expect(entity({ at }, { interest: rule }).interest).toBe(rule)
    }
    expect(near(60)).toMatchObject({ distance: 60, leave: 66 })
    expect(near(60, { leave: 80 })).toMatchObject({ distance: 60, leave: 80 })
    expect(entity({ at }).priority).toBe(1)
    expect(entity({ at }, { priority: 2.5 }).priority).toBe(2.5)
  })

  test('[INT1] predicates see objects of their entity, with its types, and no other', () => {
    const Spy = entity({ at, cover: bool, hp: u8.owner() }, {
      name: 'Spy',
      interest: where((viewer, spy) => !spy.cover && spy.at.x > viewer.x && spy.id > 0 && viewer.team === 1),
    })
    expect(Spy.interest.kind).toBe('where')
    entity({ at, cover: bool }, { interest: near(30, { where: (_, spy) => !spy.cover }) })
    // @ts-expect-error reason: the entity has no such field
    entity({ at, cover: bool }, { interest: where((_, spy) => spy.covver) })
    // @ts-expect-error reason: a predicate may not write to the object
    entity({ at, cover: bool }, { interest: where((_, spy) => (spy.cover = true)) })
  })

  test.each<[string, () => unknown, string]>([
    ['near without a position', () => entity({ hp: u8 }, { name: 'A', interest: near(5) }), 'A.interest'],
    [
      'near with a position that others may not hold',
      () => entity({ at: at.owner() }, { name: 'A', interest: near(5) }),
      'A.interest',
    ],
    [
      'near in four dimensions',
      () => entity({ at: vec4(0, 1, 0.1).position() }, { name: 'A', interest: near(5) }),
      'A.interest',
    ],
    ['no distance', () => entity({ at }, { name: 'A', interest: near(0) }), 'A.interest'],
    ['an endless distance', () => entity({ at }, { name: 'A', interest: near(Infinity) }), 'A.interest'],
    ['leaving before entering', () => entity({ at }, { name: 'A', interest: near(5, { leave: 4 }) }), 'A.interest'],
    ['inside anyOf', () => entity({ at }, { name: 'A', interest: anyOf(team, near(-1)) }), 'A.interest'],
    ['anyOf nothing', () => entity({ at }, { name: 'A', interest: anyOf() }), 'A.interest'],
    ['where nothing', () => entity({ at }, { name: 'A', interest: where(undefined as never) }), 'A.interest'],
    ['no rule at all', () => entity({ at }, { name: 'A', interest: { kind: 'sometimes' } as never }), 'A.interest'],
    ['priority 0', () => entity({ at }, { name: 'A', priority: 0 }), 'A.priority'],
    ['a priority that is not a number', () => entity({ at }, { name: 'A', priority: NaN }), 'A.priority'],
    ['a huge priority', () => entity({ at }, { name: 'A', priority: 1e6 }), 'A.priority'],
  ])('[INT1] refused by name: %s', (_, declare, path) => {
    expect(declare).toThrow(ConfigError)
    expect(declare).toThrow(path)
  })

  test('[INT2] a position is one to three numbers, in one field or in several', () => {
    const cells = (shape: Parameters<typeof entity>[0]): number[] =>
      positionLeaves(entity(shape).schema, ['all']).map(({ cell }) => cell)
    expect(cells({ hp: u8, at })).toEqual([1, 2])
    expect(cells({ x: f64.position(), hp: u8, y: fixed(0, 1, 0.1).position() })).toEqual([0, 2])
    expect(cells({ at: vec3(0, 1, 0.1).position() })).toEqual([0, 1, 2])
    expect(cells({ at: at.server() })).toEqual([])
    expect(cells({ hp: u8 })).toEqual([])
  })

  test('[INT1] rules, priorities and rates are not part of the fingerprint', () => {
    const plain = entity({ at, hp: u8 }, { name: 'A' })
    const ruled = entity({ at, hp: u8.rate(5) }, { name: 'A', interest: near(5), priority: 3, rate: 10 })
    expect(ruled.schema.text).toBe(plain.schema.text)
  })
})

describe('rates', () => {
  test("[RATE1] an entity's rate applies to every sent field without a rate of its own", () => {
    const { members } = entity(
      { at, hp: u8.rate(5), heat: u8.server(), aim: u8.local(), ammo: u8.owner() },
      { rate: 20 },
    ).schema
    expect(members.map(({ field }) => field.options.rateHz)).toEqual([20, 5, undefined, undefined, 20])
  })

  test.each<[string, () => unknown, string]>([
    ['rate 0', () => entity({ hp: u8.rate(0) }, { name: 'A' }), 'A.hp'],
    ['a rate beyond every tick rate', () => entity({ hp: u8.rate(1e6) }, { name: 'A' }), 'A.hp'],
    ['a rate that is not a number', () => entity({ hp: u8 }, { name: 'A', rate: NaN }), 'A.hp'],
    ['inside a struct', () => entity({ gear: struct({ hp: u8.rate(5) }) }, { name: 'A' }), 'A.gear.hp'],
    ['inside a group', () => entity({ gear: group({ hp: u8.rate(5) }) }, { name: 'A' }), 'A.gear.hp'],
    ['on what is never sent', () => entity({ hp: u8.server().rate(5) }, { name: 'A' }), 'A.hp'],
    ['in a message', () => message({ hp: u8.rate(5) }, 'A'), 'A.hp'],
  ])('[RATE1] refused by name: %s', (_, declare, path) => {
    expect(declare).toThrow(ConfigError)
    expect(declare).toThrow(path)
  })
})
