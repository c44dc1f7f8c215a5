import { describe, expect, test } from 'vitest'
import type { Blend, Field } from './field.ts'
import {
  angle, bool, bytes, f32, f64, fixed, fixedText, group, i16, i32, i64, int, list, oneOf, quat, ref, struct, text, u8,
  vec2, vec3,
} from './field-kinds.ts'
import { compileSchema } from './schema.ts'

const blendsOf = (field: Field<unknown>): Blend[] => compileSchema('T', { f: field }).leaves.map(({ blend }) => blend)

describe('drawing between two values', () => {
  test.each<readonly [string, Field<unknown>, readonly Blend[]]>([
    ['numbers in steps go in a line', fixed(0, 1, 0.1), ['linear']],
    ['floats too', f32, ['linear']],
    ['and doubles', f64, ['linear']],
    ['vectors per component', vec3(0, 1, 0.1), ['linear', 'linear', 'linear']],
    ['angles the short way round', angle(), ['angle']],
    ['rotations by slerp', quat(), ['slerp']],
    ['bools snap', bool, ['snap']],
    ['names snap', oneOf('a', 'b'), ['snap']],
    ['ids snap', ref(), ['snap']],
    ['whole numbers snap', int(0, 9), ['snap']],
    ['longs snap', i64, ['snap']],
    ['text snaps', text(4), ['snap']],
    ['fixed text snaps', fixedText(4), ['snap']],
    ['bytes snap', bytes(4), ['snap']],
    ['lists snap', list(f32, 4), ['snap']],
    [
      'structs go field by field',
      struct({ a: f32, b: bool, c: struct({ d: angle(), e: quat() }) }),
      ['linear', 'snap', 'angle', 'slerp'],
    ],
    ['so do groups, once they are there', group({ a: f32 }), ['snap', 'linear']],
    ['a whole number may ask for a line', i32.linear(), ['linear']],
    ['a number may ask to snap', f32.snap(), ['snap']],
    ['so may an angle', angle().snap(), ['snap']],
    ['a vector that snaps does so in all components', vec2(0, 1, 0.1).snap(), ['snap', 'snap']],
    [
      'a struct that snaps does so in all fields',
      struct({ a: f32, b: struct({ c: vec2(0, 1, 0.1), d: f32.linear() }) }).snap(),
      ['snap', 'snap', 'snap', 'snap'],
    ],
  ])('[SCHEMA23] %s', (_rule, field, blends) => {
    expect(blendsOf(field)).toEqual(blends)
  })
})

describe('motion', () => {
  const motionsOf = (shape: { readonly [name: string]: Field<unknown> }): string[] =>
    compileSchema('T', shape).motions.map(({ role, rate, of }) => `${role}: ${rate.name} of ${of.name}`)

  test('[SCHEMA23] a rate finds the only field that it can belong to', () => {
    expect(
      motionsOf({
        p: vec3(0, 9, 0.1).position(),
        v: vec3(-9, 9, 0.1).velocity(),
        a: vec3(-9, 9, 0.1).acceleration(),
        q: quat(),
        w: vec3(-9, 9, 0.1).angularVelocity(),
        n: u8,
      }),
    ).toEqual(['velocity: v of p', 'acceleration: a of v', 'angular-velocity: w of q'])
  })

  test('[SCHEMA23] a rate belongs to the field that it names', () => {
    expect(
      motionsOf({
        x: i16.position(),
        y: i32.position(),
        u: fixed(-9, 9, 0.1).velocity('x'),
        v: f32.velocity('y'),
        yaw: angle(),
        pitch: angle(),
        turn: f32.angularVelocity('pitch'),
      }),
    ).toEqual(['velocity: u of x', 'velocity: v of y', 'angular-velocity: turn of pitch'])
  })

  test('[SCHEMA23] a field without a role has no motion', () => {
    expect(motionsOf({ p: vec3(0, 9, 0.1).position(), n: u8 })).toEqual([])
  })
})
