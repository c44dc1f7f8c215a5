import { describe, expect, test } from 'vitest'
import { hashHex } from '../base/hash.ts'
import type { Field, Shape } from './field.ts'
import {
  angle, bool, bytes, deltaStruct, f32, f32Any, f64, fixed, fixedText, group, i16, i32, i32Word, i64, i64Word, int,
  list, long, manual, oneOf, quat, ref, struct, text, u16, u32, u8, vec2, vec3,
} from './field-kinds.ts'
import { describeShape, fingerprintOf } from './fingerprint.ts'
import { compileSchema } from './schema.ts'

const printOf = (shape: Shape): string => hashHex(fingerprintOf(compileSchema('T', shape).text), 0)

const codec = (format: string, first = 0): Field<number> =>
  manual<number>({
    format,
    create: () => first,
    write: (writer, value) => writer.writeBits(value, 4),
    read: (reader) => reader.readBits(4),
  })

/** Definitions of one field, no two of which are compatible. */
const DIFFERENT: readonly Field<unknown>[] = [
  bool,
  u8,
  int(0, 254),
  int(1, 255),
  int(0, 256),
  u16,
  i16,
  u32,
  i32Word,
  i32,
  i64,
  i64Word,
  long(0n, 255n),
  long(0n, 254n),
  f32,
  f32Any,
  f64,
  fixed(0, 10, 0.1),
  fixed(0, 10, 0.2),
  fixed(0, 11, 0.1),
  fixed(-1, 10, 0.1),
  angle(),
  angle(11),
  quat(),
  quat(9),
  vec2(0, 10, 0.1),
  vec3(0, 10, 0.1),
  vec2({ min: 0, max: 10, precision: 0.1 }, { min: 0, max: 10, precision: 0.2 }),
  oneOf('a', 'b'),
  oneOf('b', 'a'),
  oneOf('a', 'b', 'c'),
  oneOf('a,b', 'c'),
  oneOf('a', 'b,c'),
  text(8),
  text(9),
  fixedText(8),
  bytes(8),
  ref(),
  struct({ a: u8 }),
  struct({ b: u8 }),
  struct({ a: u8, b: u8 }),
  struct({ b: u8, a: u8 }),
  deltaStruct({ a: u8 }),
  group({ a: u8 }),
  list(u8, 3),
  list(u8, 4),
  list(u16, 3),
  list(list(u8, 3), 3),
  codec('one'),
  codec('two'),
  codec('one', 1),
  codec('one').initially(1 + 1),
  u8.team(),
  u8.owner(),
  u8.local(),
  u8.server(),
  u8.initially(1),
  u8.initially(2),
  f32Any.initially(NaN),
  f32Any.initially(Infinity),
  f32.initially(-0),
  f32.initially(0),
  ref().initially(1),
  text(8).initially('null'),
  text(8).initially('"'),
  i64.initially(1n),
  group({ a: u8 }).initially({ a: 0 }),
  fixed(0, 10, 0.1).position(),
]

describe('the fingerprint', () => {
  test('[SCHEMA25] differs for every other name, order, type, bound, bit, audience, role and initial value', () => {
    const prints = [
      ...DIFFERENT.map((field) => printOf({ f: field })),
      printOf({ g: bool }),
      printOf({ f: bool, g: u8 }),
      printOf({ g: u8, f: bool }),
    ]
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('[SCHEMA25] differs when a rate belongs to another field', () => {
    const shape = (of: string): Shape => ({
      a: fixed(0, 1, 0.1).position(),
      b: fixed(0, 1, 0.1).position(),
      v: fixed(0, 1, 0.1).velocity(of),
    })
    expect(printOf(shape('a'))).not.toBe(printOf(shape('b')))
  })

  test('[SCHEMA25] does not depend on how a field is drawn, the name of the definition, or literal order', () => {
    expect(printOf({ f: fixed(0, 1, 0.1).snap() })).toBe(printOf({ f: fixed(0, 1, 0.1) }))
    expect(printOf({ f: u8.linear() })).toBe(printOf({ f: u8 }))
    expect(compileSchema('A', { f: u8 }).text).toBe(compileSchema('B', { f: u8 }).text)
    const start = (value: { a: number; b: number }): Shape => ({ f: struct({ a: u8, b: u8 }).initially(value) })
    expect(printOf(start({ a: 1, b: 2 }))).toBe(printOf(start({ b: 2, a: 1 })))
    expect(printOf({ f: u8 })).toBe(printOf({ f: int(0, 255) }))
  })

  test('[SCHEMA24] is computed from a text that lists everything that affects a bit', () => {
    expect(
      describeShape({
        at: vec2(0, 640, 0.1).position(),
        v: vec2(-9, 9, 0.5).velocity('at'),
        hp: int(0, 100).initially(100),
        name: text(16).owner(),
        bag: list(struct({ n: u8, k: oneOf('a"', 'b') }), 8),
        shield: group({ left: angle(8) }),
        seed: u32.server(),
        own: codec('nibble', 5),
        big: long(-1n, 5n).initially(2n),
        any: f32Any.initially(-Infinity),
        raw: bytes(4).initially(Uint8Array.of(1, 255)),
      }),
    ).toBe(
      '{at:vec2(0,640,0.1|0,640,0.1)~position;v:vec2(-9,9,0.5|-9,9,0.5)~velocity(at);hp:int(0,100)=100;name:text(16)@owner;'
        + 'bag:list(struct{n:int(0,255);k:oneOf("a\\"","b")},8);shield:group{left:angle(8)};seed:u32@server;own:manual("nibble",4:50);big:ranged-long(-1,5)=2n;'
        + 'any:float-any=-Infinity;raw:bytes(4)=bytes[1,255]}',
    )
  })

  test('[SCHEMA25] of a known text is a known number, on every machine and in every version of the rules', () => {
    expect(hashHex(fingerprintOf('{x:fixed(0,640,0.1);y:fixed(0,360,0.1);hue:int(0,255)}'), 0)).toBe('a540cd94c6877900')
    expect(printOf({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), hue: u8 })).toBe('a540cd94c6877900')
  })
})
