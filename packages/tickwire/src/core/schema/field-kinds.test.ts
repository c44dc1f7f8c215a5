import { describe, expect, test } from 'vitest'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import type { Field } from './field.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, f64Any, fixed, fixedText, i16, i32, i32Word, i64, i64Word, i8, int,
  list, long, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3, vec4,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'

/** Bits of a value inside a struct, and of its change as a separate member, without the mask bit. */
function bitsOf<T>(field: Field<T>, value: T): { inside: number; alone: number } {
  const engine = new SchemaEngine(compileSchema('Test', { alone: field, around: struct({ inside: field }) }))
  const whole = engine.writeRow(engine.row({ alone: value, around: { inside: value } })).length
  const fresh = engine.schema.initialRow
  return { inside: whole / 2, alone: engine.writeDelta(engine.row({ alone: value }), fresh).length - 2 }
}

const half = (value: number): number => value / 2

/** A field, a value that is not its zero, and the bits it takes. */
const COSTS: readonly (readonly [string, Field<never>, unknown, number])[] = [
  ['u8', u8, 200, 8],
  ['i8', i8, -100, 8],
  ['int 0..9', int(0, 9), 9, 4],
  ['u16', u16, 60_000, 16],
  ['i16', i16, -30_000, 16],
  ['int 0..1000', int(0, 1000), 1000, 10],
  ['int 0..1023', int(0, 1023), 1023, 10],
  ['u32', u32, 2 ** 32 - 1, 32],
  ['i32Word', i32Word, -(2 ** 31), 32],
  ['i32 small', i32, -1, 8],
  ['i32 least', i32, -(2 ** 31), 40],
  ['i32 most', i32, 2 ** 31 - 1, 40],
  ['i64 small', i64, 63n, 8],
  ['i64 large', i64, 2n ** 62n, 72],
  ['i64 largest', i64, -(2n ** 62n), 72],
  ['i64Word', i64Word, -1n, 64],
  ['long 0..9', long(0n, 9n), 9n, 4],
  ['long of 64 bits', long(-(2n ** 63n), 2n ** 63n - 1n), -1n, 64],
  ['long of 33 bits', long(5n, 5n + 2n ** 32n), 5n + 2n ** 32n, 33],
  ['f32', f32, 1.5, 32], ['f64', f64, 0.1, 64], ['f32Any', f32Any, Infinity, 32], ['f64Any', f64Any, NaN, 64],
  ['position axis', fixed(-4096, 4096, 0.001), 17.25, 23], ['velocity axis', fixed(-256, 256, 0.01), -3, 16],
  ['angle', angle(), 1, 12], ['angle of 8 bits', angle(8), 1, 8],
  ['vec2', vec2(-1, 1, 0.01), { x: 0.5, y: 0 }, 16],
  ['vec3', vec3(-4096, 4096, 0.001), { x: 1, y: 2, z: 3 }, 69],
  [
    'vec3 by axis',
    vec3(
      { min: -4096, max: 4096, precision: 0.001 },
      { min: 0, max: 100, precision: 0.1 },
      { min: -1, max: 1, precision: 0.5 },
    ),
    { x: 1, y: 2, z: 1 },
    23 + 10 + 2,
  ],
  ['vec4', vec4(0, 1, 0.001), { x: 1, y: 1, z: 0, w: 0 }, 40],
  ['quat', quat(), { x: 1, y: 0, z: 0, w: 0 }, 32],
  ['quat of 15 bits', quat(15), { x: 0, y: 1, z: 0, w: 0 }, 47],
  ['oneOf five', oneOf('a', 'b', 'c', 'd', 'e'), 'e', 3],
  ['oneOf two', oneOf('a', 'b'), 'b', 1],
  ['text', text(200), 'grüße', 8 + 7 * 8],
  ['long text', text(200), 'x'.repeat(130), 16 + 130 * 8],
  ['fixedText', fixedText(16), 'abc', 128],
  ['fixedText above 256', fixedText(300), 'abc', 2400],
  ['bytes', bytes(), Uint8Array.of(1, 2, 3), 8 + 24],
  ['thousand bytes', bytes(1000), new Uint8Array(1000).fill(7), 16 + 8000],
  ['ref', ref(), 5, 8],
  ['far ref', ref(), 2 ** 32 - 1, 40],
  ['list', list(u8, 7), [1, 2, 3], 3 + 24],
  ['list of bools', list(bool, 8), [true, false], 4 + 2],
  ['struct', struct({ a: u8, b: bool, c: oneOf('x', 'y', 'z') }), { a: 1, b: true, c: 'y' }, 8 + 1 + 2],
].map(
  ([name, field, value, bits]) =>
    [name, field, value, bits] as unknown as readonly [string, Field<never>, unknown, number],
)

describe('field kinds', () => {
  test.each(COSTS)(
    '[SCHEMA5] %s costs what its rule says, as a member and inside a struct',
    (_name, field, value, bits) => {
      expect(bitsOf(field, value as never)).toEqual({ inside: bits, alone: bits })
    },
  )

  test('[SCHEMA11] a bool is its bit in the mask as a member, and one bit inside a struct', () => {
    expect(bitsOf(bool, true)).toEqual({ inside: 1, alone: 0 })
  })

  test('[SCHEMA11] an object of eight bools is exactly its mask', () => {
    const shape = Object.fromEntries('abcdefgh'.split('').map((name) => [name, bool]))
    const engine = new SchemaEngine(compileSchema('Flags', shape))
    const some = engine.row({ a: true, d: true, h: true })
    expect(engine.writeDelta(some, engine.schema.initialRow)).toBe('10010001')
    expect(engine.values(engine.readDelta('10010001', engine.schema.initialRow)!)).toMatchObject({
      a: true,
      b: false,
      d: true,
      h: true,
    })
    expect(engine.writeDelta(engine.row({ a: true, b: true }), some)).toBe('01010001')
  })

  test('[SCHEMA8] a nested struct is the sum of its leaves, without padding', () => {
    const inner = struct({ a: int(0, 4), b: bool })
    const outer = struct({ first: inner, second: inner, third: struct({ deep: struct({ c: u16 }) }) })
    expect(bitsOf(outer, { first: { a: 4, b: true }, second: { a: 0, b: false }, third: { deep: { c: 9 } } })).toEqual({
      inside: 24,
      alone: 24,
    })
  })

  test('[SCHEMA28] PlayerState packs to 168 bits', () => {
    const engine = new SchemaEngine(
      compileSchema('PlayerState', {
        position: vec3(-4096, 4096, 0.001),
        rotation: quat(10),
        velocity: vec3(-256, 256, 0.01),
        health: int(0, 1023),
        flags: int(0, 15),
      }),
    )
    const all = engine.row({
      position: { x: 1, y: 2, z: 3 },
      rotation: { x: 1, y: 0, z: 0, w: 0 },
      velocity: { x: -1, y: -2, z: -3 },
      health: 100,
      flags: 5,
    })
    expect(engine.writeDelta(all, engine.schema.initialRow)).toHaveLength(5 + 69 + 32 + 48 + 10 + 4)
    expect(engine.writeDelta(all, all)).toBe('00000')
  })

  test('[SCHEMA12] a struct changes as a whole, a deltaStruct by member', () => {
    const shape = { a: u16, b: u16, c: u16, d: bool }
    const before = { a: 1, b: 2, c: 3, d: false }
    const cost = (field: Field<typeof before>, after: Partial<typeof before>): number => {
      const engine = new SchemaEngine(compileSchema('Test', { s: field }))
      return engine.writeDelta(engine.row({ s: { ...before, ...after } }), engine.row({ s: before })).length
    }
    expect([cost(struct(shape), {}), cost(deltaStruct(shape), {})]).toEqual([1, 1])
    expect([cost(struct(shape), { b: 9 }), cost(deltaStruct(shape), { b: 9 })]).toEqual([1 + 49, 1 + 4 + 16])
    expect([cost(struct(shape), { d: true }), cost(deltaStruct(shape), { d: true })]).toEqual([1 + 49, 1 + 4])
    const all = { a: 9, b: 9, c: 9, d: true }
    expect([cost(struct(shape), all), cost(deltaStruct(shape), all)]).toEqual([1 + 49, 1 + 4 + 48])
  })

  test('[SCHEMA8] values are copied: changing a given or returned value changes no object', () => {
    const engine = new SchemaEngine(
      compileSchema('Test', { p: vec2(0, 10, 0.5), tags: list(struct({ n: u8 }), 4), raw: bytes(4) }),
    )
    const given = { p: { x: 1, y: 1 }, tags: [{ n: 1 }], raw: Uint8Array.of(1, 2) }
    const row = engine.row(given)
    given.p.x = half(9)
    given.tags[0]!.n = 7
    given.raw[0] = 9
    expect(engine.values(row)).toEqual({ p: { x: 1, y: 1 }, tags: [{ n: 1 }], raw: Uint8Array.of(1, 2) })
    const got = engine.values(row) as typeof given
    got.p.x = 3
    got.raw[0] = 9
    expect(() => { got.tags[0]!.n = 3 }).toThrow(TypeError)
    expect(() => { got.tags.push({ n: 3 }) }).toThrow(TypeError)
    expect(engine.values(row)).toEqual({ p: { x: 1, y: 1 }, tags: [{ n: 1 }], raw: Uint8Array.of(1, 2) })
  })
})
