import { describe, expect, test } from 'vitest'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { ConfigError } from '../base/assert.ts'
import type { Field, Shape } from './field.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, fixed, fixedText, group, i16, i32, i64, int, list, long, manual,
  oneOf, quat, ref, struct, text, u16, u32, u8, vec2,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'

function fresh(shape: Shape): unknown {
  const engine = new SchemaEngine(compileSchema('Test', shape))
  return engine.values(engine.schema.initialRow)
}

const digits = manual<readonly number[]>({
  create: () => [],
  write: (writer, value) => {
    writer.writeBits(value.length, 2)
    for (const digit of value) writer.writeBits(digit, 4)
  },
  read: (reader) => Array.from({ length: reader.readBits(2) }, () => reader.readBits(4)),
})

describe('a fresh object', () => {
  test('[SCHEMA6] has the zero of each kind, or the nearest value within its bounds', () => {
    expect(
      fresh({
        b: bool,
        n: int(5, 9),
        m: int(-9, -5),
        z: int(-5, 5),
        f: fixed(10, 20, 0.5),
        a: angle(),
        v: vec2(-1, 1, 0.5),
        q: quat(),
        c: oneOf('x', 'y'),
        i: i32,
        l: i64,
        r: long(3n, 9n),
        t: text(5),
        x: fixedText(5),
        y: bytes(5),
        o: list(u8, 3),
        e: ref(),
        d: f64,
        g: group({ a: u8 }),
        s: struct({ a: int(2, 3) }),
        m2: digits,
      }),
    ).toEqual({
      b: false,
      n: 5,
      m: -5,
      z: 0,
      f: 10,
      a: 0,
      v: { x: 0, y: 0 },
      q: { x: 0, y: 0, z: 0, w: 1 },
      c: 'x',
      i: 0,
      l: 0n,
      r: 3n,
      t: '',
      x: '',
      y: new Uint8Array(0),
      o: [],
      e: null,
      d: 0,
      g: null,
      s: { a: 2 },
      m2: [],
    })
  })

  test('[SCHEMA6] has the values of initially(), rounded to what can be sent', () => {
    expect(
      fresh({
        b: bool.initially(true),
        n: int(5, 9).initially(7),
        f: fixed(0, 20, 0.5).initially(3.3),
        a: angle(8).initially(Math.PI),
        v: vec2(-1, 1, 0.5).initially({ x: 0.5, y: -1 }),
        q: quat().initially({ x: 0, y: 2, z: 0, w: 0 }),
        c: oneOf('x', 'y').initially('y'),
        i: i32.initially(-4),
        l: i64.initially(-4n),
        r: long(3n, 9n).initially(9n),
        t: text(5).initially('héé'),
        x: fixedText(5).initially('abc'),
        y: bytes(5).initially(Uint8Array.of(1)),
        o: list(u8, 3).initially([1, 2]),
        e: ref().initially(12),
        d: f64.initially(0.1),
        s: f32.initially(0.1),
        n2: f32Any.initially(NaN),
        m: digits.initially([1, 2]),
      }),
    ).toEqual({
      b: true,
      n: 7,
      f: 3.5,
      a: -Math.PI,
      v: { x: 0.5, y: -1 },
      q: { x: 0, y: 1, z: 0, w: 0 },
      c: 'y',
      i: -4,
      l: -4n,
      r: 9n,
      t: 'héé',
      x: 'abc',
      y: Uint8Array.of(1),
      o: [1, 2],
      e: 12,
      d: 0.1,
      s: Math.fround(0.1),
      n2: NaN,
      m: [1, 2],
    })
  })

  test('[SCHEMA6] the initial value of a struct or group overrides the values inside it', () => {
    const inner = { hp: u8.initially(50), name: text(8).initially('bob'), at: vec2(0, 9, 1).initially({ x: 1, y: 2 }) }
    expect(fresh({ s: struct(inner) })).toEqual({ s: { hp: 50, name: 'bob', at: { x: 1, y: 2 } } })
    const said = { hp: 9, name: 'eve', at: { x: 3, y: 4 } }
    expect(
      fresh({
        s: struct(inner).initially(said),
        d: deltaStruct(inner).initially(said),
        g: group(inner).initially(said),
      }),
    ).toEqual({ s: said, d: said, g: said })
    expect(fresh({ g: group(inner).initially(null) })).toEqual({ g: null })
    const partly = { hp: 9 } as unknown as typeof said
    expect(fresh({ s: struct(inner).initially(partly) })).toEqual({ s: { hp: 9, name: 'bob', at: { x: 1, y: 2 } } })
  })

  test('[SCHEMA6] costs only a mask to send', () => {
    const engine = new SchemaEngine(
      compileSchema('Test', {
        t: text(5).initially('abc'),
        n: u8.initially(9),
        g: group({ a: u8 }).initially({ a: 3 }),
      }),
    )
    expect(engine.writeDelta(engine.row({}), engine.schema.initialRow)).toBe('000')
    expect(engine.row({ t: 'abc' })[0]).toBe(0)
  })
})

const MISTAKES: readonly (readonly [string, Field<unknown>, string])[] = [
  ['a bool that is a number', bool.initially(1 as never), 'f'],
  ['half an int', int(0, 9).initially(2.5), 'f'],
  ['above its bounds', u8.initially(256), 'f'],
  ['below them', fixed(0, 1, 0.1).initially(-0.1), 'f'],
  ['too large a word', u16.initially(65_536), 'f'],
  ['too small a word', i16.initially(-32_769), 'f'],
  ['a negative u32', u32.initially(-1), 'f'],
  ['too large an i32', i32.initially(2 ** 31), 'f'],
  ['no angle', angle().initially(Infinity), 'f'],
  ['no finite float', f32.initially(1e39), 'f'],
  ['no finite double', f64.initially(NaN), 'f'],
  ['a number for a bigint', i64.initially(5 as never), 'f'],
  ['too large a long', i64.initially(2n ** 63n), 'f'],
  ['a long out of bounds', long(0n, 5n).initially(6n), 'f'],
  ['no rotation', quat().initially({ x: 0, y: 0, z: 0, w: 0 }), 'f'],
  ['half a rotation', quat().initially({ x: 1 } as never), 'f'],
  ['an unknown name', oneOf('a', 'b').initially('c' as never), 'f'],
  ['an invalid id', ref().initially(-1), 'f'],
  ['too long a text', text(3).initially('four'), 'f'],
  ['a fixed text without room', fixedText(3).initially('abc'), 'f'],
  ['text for bytes', bytes(3).initially('abc' as never), 'f'],
  ['too many bytes', bytes(3).initially(new Uint8Array(4)), 'f'],
  ['too many items', list(u8, 2).initially([1, 2, 3]), 'f'],
  ['a wrong item', list(u8, 2).initially(['x' as never]), 'f'],
  ['a stranger in a struct', struct({ a: u8 }).initially({ b: 1 } as never), 'f'],
  ['a wrong member', struct({ a: u8 }).initially({ a: -1 }), 'f.a'],
  ['a struct that is null', struct({ a: u8 }).initially(null as never), 'f'],
  ['a number for a struct', struct({ a: u8 }).initially(5 as never), 'f'],
  ['a wrong axis', vec2(0, 1, 0.1).initially({ x: 0, y: 2 }), 'f.y'],
  ['a wrong member of a group', group({ a: u8 }).initially({ a: 999 }), 'f.a'],
  ['what a codec cannot write', digits.initially(5 as never), 'f'],
]

test.each(MISTAKES)('[SCHEMA6] %s is refused', (_what, field, path) => {
  expect(() => compileSchema('T', { f: field })).toThrow(ConfigError)
  expect(() => compileSchema('T', { f: field })).toThrow(new RegExp(`^T\\.${path.replaceAll('.', '\\.')}: .*initial`))
})
