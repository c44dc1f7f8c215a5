import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { entity, message } from './definition.ts'
import type { Field, Shape } from './field.ts'
import {
  angle, bool, bytes, deltaStruct, fixed, fixedText, group, i64, int, list, long, manual, oneOf, quat, ref, struct,
  text, u8, vec2, vec3,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'

/** Definitions as code without types could write them. */
const wrong = (value: unknown): Field<never> => value as Field<never>
const nest = (depth: number): Field<unknown> => (depth === 0 ? u8 : struct({ in: nest(depth - 1) }))

/** A mistake: its name, the definition, the path in the error, and a word of the fix. */
const MISTAKES: readonly (readonly [string, Shape, string, RegExp])[] = [
  ['no fields', {}, 'Player', /at least one/],
  ['not a field', { x: wrong(5) }, 'Player.x', /bool, u8/],
  ['a maker that was not called', { x: wrong(fixed) }, 'Player.x', /call the ones/],
  ['an invalid name', { 'a b': u8 }, 'Player.a b', /letters/],
  ['a number as a name', { 1: u8 }, 'Player.1', /letters/],
  ['a name of JavaScript', { toString: u8 }, 'Player.toString', /another name/],
  ['a field that would make it a promise', { then: u8 }, 'Player.then', /another name/],
  ['missing bounds', { x: wrong(Reflect.apply(fixed, undefined, [])) }, 'Player.x', /finite bounds/],
  ['missing precision', { x: wrong(Reflect.apply(fixed, undefined, [0, 10])) }, 'Player.x', /size of one step/],
  ['bounds the wrong way round', { x: fixed(10, 0, 1) }, 'Player.x', /min < max/],
  ['one value only', { x: fixed(0, 1, 1) }, 'Player.x', /smaller than the range/],
  ['too fine a step', { x: fixed(0, 1e9, 1e-9) }, 'Player.x', /coarser/],
  [
    'an axis without its bounds',
    { p: wrong(Reflect.apply(vec3, undefined, [0, 10])) },
    'Player.p.x',
    /size of one step/,
  ],
  [
    'two bounds for three axes',
    { p: vec3({ min: 0, max: 1, precision: 0.1 }, { min: 0, max: 1, precision: 0.1 }) },
    'Player.p',
    /for a component/,
  ],
  [
    'one axis wrong',
    { s: struct({ p: vec2({ min: 0, max: 1, precision: 0.1 }, { min: 1, max: 0, precision: 0.1 }) }) },
    'Player.s.p.y',
    /min < max/,
  ],
  ['half a number', { n: int(0.5, 3) }, 'Player.n', /whole numbers/],
  ['an empty range', { n: int(3, 3) }, 'Player.n', /min < max/],
  ['33 bits', { n: int(0, 2 ** 32) }, 'Player.n', /long\(min, max\)/],
  ['numbers for bigints', { n: wrong(Reflect.apply(long, undefined, [0, 5])) }, 'Player.n', /0n, not 0/],
  ['beyond 64 bits', { n: long(0n, 2n ** 63n) }, 'Player.n', /bigints with/],
  ['one bit of angle', { a: angle(1) }, 'Player.a', /2 to 24/],
  ['two bits of rotation', { q: quat(2) }, 'Player.q', /3 to 20/],
  ['a choice of one', { c: oneOf('only') }, 'Player.c', /at least two/],
  ['a choice twice', { c: oneOf('a', 'b', 'a') }, 'Player.c', /distinct/],
  ['a choice of numbers', { c: wrong(Reflect.apply(oneOf, undefined, [1, 2])) }, 'Player.c', /strings/],
  ['no text', { t: text(0) }, 'Player.t', /1 to/],
  ['a book', { t: text(300_000) }, 'Player.t', /260864/],
  ['a fixed text without room', { t: fixedText(1) }, 'Player.t', /2 to/],
  ['bytes and a half', { b: bytes(1.5) }, 'Player.b', /1 to/],
  ['a list without a maximum', { l: wrong(Reflect.apply(list, undefined, [u8])) }, 'Player.l', /make them objects/],
  ['a list of nothing', { l: list(wrong(undefined), 3) }, 'Player.l[]', /bool, u8/],
  ['a mistake inside a list', { l: list(struct({ a: list(int(1, 0), 2) }), 3) }, 'Player.l[].a[]', /min < max/],
  ['no codec', { m: wrong(Reflect.apply(manual, undefined, [{}])) }, 'Player.m', /serialize/],
  ['a codec that is nothing', { m: wrong(Reflect.apply(manual, undefined, [undefined])) }, 'Player.m', /serialize/],
  ['nested without end', { n: nest(9) }, 'Player.n.in.in.in.in.in.in.in.in', /flatten/],
  ['a group in a struct', { s: struct({ g: group({ a: u8 }) }) }, 'Player.s.g', /to the top/],
  ['a group in a list', { l: list(group({ a: u8 }), 2) }, 'Player.l[]', /to the top/],
  ['an audience in a struct', { s: struct({ a: u8.owner() }) }, 'Player.s.a', /whole member/],
  ['a role in a struct', { s: struct({ a: fixed(0, 1, 0.1).position() }) }, 'Player.s.a', /to the top/],
  ['a straight line between names', { c: oneOf('a', 'b').linear() }, 'Player.c', /leave it out/],
  ['a straight line between angles', { s: struct({ a: angle().linear() }) }, 'Player.s.a', /short way/],
  ['a straight line between structs', { s: struct({ a: u8 }).linear() }, 'Player.s', /field by field/],
  ['a bool that moves', { b: bool.position() }, 'Player.b', /for roles/],
  ['a velocity of nothing', { v: fixed(0, 1, 0.1).velocity() }, 'Player.v', /velocity\('/],
  [
    'a velocity of one of two',
    { a: fixed(0, 1, 0.1).position(), b: fixed(0, 1, 0.1).position(), v: fixed(0, 1, 0.1).velocity() },
    'Player.v',
    /velocity\('/,
  ],
  [
    'a velocity of a stranger',
    { a: fixed(0, 1, 0.1).position(), v: fixed(0, 1, 0.1).velocity('b') },
    'Player.v',
    /velocity\('/,
  ],
  ['a velocity of what does not move', { a: u8, v: fixed(0, 1, 0.1).velocity('a') }, 'Player.v', /position\(\)/],
  [
    'a velocity with an axis too few',
    { a: vec3(0, 1, 0.1).position(), v: vec2(0, 1, 0.1).velocity() },
    'Player.v',
    /as many/,
  ],
  ['a rotation that turns by two numbers', { q: quat(), v: vec2(0, 1, 0.1).angularVelocity() }, 'Player.v', /vec3/],
]

describe('definitions', () => {
  test.each(MISTAKES)('[SCHEMA2] %s is refused, with the path and the fix', (_what, shape, path, fix) => {
    let thrown: unknown
    try {
      compileSchema('Player', shape)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    expect(thrown).toMatchObject({ path })
    expect((thrown as ConfigError).message).toMatch(fix)
  })

  test('[SCHEMA2] a definition that is not a plain object of fields is refused', () => {
    for (const shape of [null, undefined, 5, new Map(), Object.create({ x: u8 }), { __proto__: { x: u8 }, y: u8 }]) {
      expect(() => compileSchema('Player', shape as unknown as Shape)).toThrow(/^Player: not a plain object/)
    }
    expect(compileSchema('Player', Object.assign(Object.create(null), { x: u8 })).laneCount).toBe(1)
  })

  test('[SCHEMA2] too many numbers are refused, and a field of a huge schema can still be found', () => {
    const shape = (count: number): Shape =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, u8]))
    expect(() => compileSchema('Huge', shape(4097))).toThrow(/^Huge: too many numbers/)
    expect(compileSchema('Huge', shape(4096)).masks[0].width).toBe(4096)
  })

  test("[SCHEMA2] names of the handle's own members are allowed inside structs and messages", () => {
    for (const name of ['id', 'owner', 'tick', 'isAlive']) {
      expect(() => entity({ [name]: u8 }, { name: 'Player' })).toThrow(new RegExp(`^Player\\.${name}: `))
      expect(message({ [name]: u8, inside: struct({ [name]: u8 }) }).schema.members).toHaveLength(2)
    }
  })

  test('[SCHEMA2] a message is for its receiver: it has no audiences', () => {
    expect(() => message({ x: u8.owner() }, 'Hit')).toThrow(/^Hit\.x: owner\(\) in a message/)
  })

  test('[SCHEMA1] wire order is declaration order, depth first', () => {
    const schema = compileSchema('T', {
      z: u8,
      a: struct({ m: bool, b: vec2(0, 1, 0.1) }),
      l: i64,
      q: quat(),
      y: deltaStruct({ k: ref() }),
    })
    expect(schema.leaves.map(({ path }) => path)).toEqual(['T.z', 'T.a.m', 'T.a.b.x', 'T.a.b.y', 'T.l', 'T.q', 'T.y.k'])
    expect(schema.leaves.map(({ lane }) => lane)).toEqual([0, 1, 2, 3, 4, 6, 10])
    expect(schema.leaves.map(({ cell }) => cell)).toEqual([0, 1, 2, 3, 4, 6, 10])
    expect([schema.laneCount, schema.cellCount]).toEqual([11, 11])
  })
})
