import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import type { Values } from '../../../../../test/reference/schema-reference.ts'
import type { Field } from './field.ts'
import { bool, f32, group, i64, list, oneOf, quat, ref, struct, text, u8, vec2 } from './field-kinds.ts'
import { compileSchema } from './schema.ts'

/** Throws unless `read` is equal to `given`, or within half a step of it, or within the error of a rotation. */
function expectNear({ spec }: Field<unknown>, given: unknown, read: unknown): void {
  if (given === null || read === null) {
    expect(read).toBe(given)
  } else if ('shape' in spec) {
    for (const [name, inner] of Object.entries(spec.shape))
      expectNear(inner, (given as Values)[name], (read as Values)[name])
  } else if (spec.kind === 'list') {
    expect(read).toHaveLength((given as unknown[]).length)
    for (const [index, item] of (given as unknown[]).entries()) expectNear(spec.item, item, (read as unknown[])[index])
  } else if (spec.kind === 'fixed') {
    // Above the highest step there may be less than a whole one, or, where its bits end, a whole one.
    const [value, got] = [given as number, read as number]
    const isAboveTop = value > spec.max - spec.precision
    expect(Math.abs(value - got)).toBeLessThanOrEqual(spec.precision * (isAboveTop ? 1 : 0.5) * (1 + 1e-6))
  } else if (spec.kind === 'angle') {
    expect(Math.abs(Math.sin(((read as number) - (given as number)) / 2))).toBeLessThanOrEqual(
      Math.sin(Math.PI / 2 ** (spec.bits + 1)) + 1e-9,
    )
  } else if (spec.kind === 'quat') {
    const [a, b] = [given, read].map((one) => Object.values(one as object) as number[])
    const cosine = Math.abs(a!.reduce((sum, part, axis) => sum + part * b![axis]!, 0)) / Math.hypot(...a!)
    expect((2 * Math.acos(Math.min(1, cosine)) * 180) / Math.PI).toBeLessThanOrEqual(
      141 / (2 ** (spec.bits - 1) - 1) + 1e-5,
    )
  } else {
    expect(read).toEqual(spec.kind === 'float' ? Math.fround(given as number) : given)
  }
}

describe('values', () => {
  test('[SCHEMA3] are read back within half a step, whatever the definition', () => {
    fc.assert(fc.property(schemaWithValues(2), ({ schema, samples }) => {
      const engine = new SchemaEngine(schema)
      for (const values of samples) {
        const read = engine.values(engine.row(values))
        for (const [name, field] of Object.entries(schema.shape)) expectNear(field, values[name], read[name])
      }
    }), { numRuns: 300, seed: 1 })
  })

  test('[SCHEMA6] that are not given are the initial values', () => {
    const engine = new SchemaEngine(compileSchema('T', { a: u8.initially(7), b: text(4).initially('x'), c: bool }))
    expect(engine.values(engine.row({ c: true }))).toEqual({ a: 7, b: 'x', c: true })
    expect(engine.values(engine.row({ a: undefined, b: '' }))).toEqual({ a: 7, b: '', c: false })
  })

  test.each<readonly [string, Field<unknown>, unknown]>([
    ['a string for a number', u8, '5'],
    ['undefined inside a struct', struct({ a: u8, b: u8 }), { a: 1 }],
    ['a number for a bool', bool, 1],
    ['an unknown name', oneOf('a', 'b'), 'c'],
    ['a number for a name', oneOf('a', 'b'), 0],
    ['a number for a bigint', i64, 5],
    ['text for an id', ref(), 'x'],
    ['a bigint for a float', f32, 5n],
    ['a number for a struct', struct({ a: u8 }), 5],
    ['null for a struct', vec2(0, 1, 0.1), null],
    ['a number for a group', group({ a: u8 }), 0],
    ['half a rotation', quat(), { x: 1, y: 0, z: 0 }],
    ['a number for text', text(4), 5],
    ['a string for a list', list(u8, 4), 'abc'],
    ['a hole in a list', list(u8, 4), [1, undefined]],
    ['a wrong item', list(oneOf('a', 'b'), 4), ['z']],
  ])('[SCHEMA7] of the wrong type are refused where the compiler could not see them: %s', (_what, field, value) => {
    const engine = new SchemaEngine(compileSchema('T', { f: field }))
    expect(() => engine.row({ f: value })).toThrow(RangeError)
    expect(() => engine.row({ f: value })).toThrow(/^T\.f/)
  })

  test('[SCHEMA21] a reference is an id or null; ids have 32 bits', () => {
    const engine = new SchemaEngine(compileSchema('T', { target: ref() }))
    for (const target of [null, 1, 127, 128, 2 ** 31, 2 ** 32 - 1]) {
      const row = engine.row({ target })
      const bits = engine.writeDelta(row, engine.row({ target: 77 }))
      expect(engine.values(engine.readDelta(bits, engine.row({ target: 77 }))!)).toEqual({ target })
    }
    expect(engine.readDelta('1' + '11111111'.repeat(4) + '00001111', engine.schema.initialRow)).toBeDefined()
    expect(engine.readDelta('1' + '11111111'.repeat(4) + '00011111', engine.schema.initialRow)).toBeUndefined()
  })
})
