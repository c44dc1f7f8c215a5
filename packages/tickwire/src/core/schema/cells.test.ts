import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaWithValues } from '../../../../../test/reference/schema-arbitrary.ts'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import { dequantizeFloat, floatQuant, quantizeFloat } from '../bits/quantize.ts'
import type { Field } from './field.ts'
import {
  angle, f32, f32Any, f64, f64Any, fixed, group, i16, i32, i64, int, long, oneOf, quat, ref, struct, u16, u32, u8, vec2,
} from './field-kinds.ts'
import { LEAF } from './leaf.ts'
import { compileSchema } from './schema.ts'

const engineOf = (field: Field<unknown>): SchemaEngine => new SchemaEngine(compileSchema('Test', { f: field }))

/** The value that a field has after quantising a number. */
function sampled(field: Field<number>, value: number): unknown {
  const engine = engineOf(field)
  return engine.values(engine.row({ f: value }))['f']
}

describe('sampling', () => {
  test('[SCHEMA4] dequantising a row and quantising again gives the row back, whatever the definition', () => {
    fc.assert(fc.property(schemaWithValues(2), ({ schema, samples }) => {
      const engine = new SchemaEngine(schema)
      for (const values of samples) {
        const row = engine.row(values)
        expect(engine.quantize(engine.cells(row))).toEqual(row)
        expect(engine.row(engine.values(row))).toEqual(row)
      }
    }), { numRuns: 200, seed: 1 })
  })

  test('[SCHEMA3] values between the steps become valid lanes, and the row is read back', () => {
    const nasty = fc.constantFrom(
      NaN,
      Infinity,
      -Infinity,
      -0,
      0.5,
      -0.5,
      1e300,
      -1e300,
      2 ** 31,
      -(2 ** 31) - 1,
      2 ** 32,
      2 ** 53,
      5e-324,
    )
    fc.assert(
      fc.property(schemaWithValues(1), fc.array(nasty, { minLength: 16, maxLength: 16 }), ({ schema }, cells) => {
        const engine = new SchemaEngine(schema)
        const live = schema.initialCells.slice()
        // Handles come from the engine and are always valid.
        for (const leaf of schema.leaves) {
          for (let cell = leaf.cell; cell < leaf.cell + leaf.cellCount && leaf.kind !== LEAF.heap; cell++)
            live[cell] = cells[cell % cells.length]!
        }
        const row = engine.quantize(live)
        expect(engine.readRow(engine.writeRow(row))).toEqual(row)
        expect(engine.quantize(engine.cells(row))).toEqual(row)
      }),
      { numRuns: 200, seed: 2 },
    )
  })

  test('[SCHEMA3] a number in steps is that of the bits layer, to the last bit', () => {
    const bounds = fc.tuple(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-3, max: 100, noNaN: true }),
      fc.double({ min: 2, max: 1e6, noNaN: true }),
    )
    fc.assert(
      fc.property(bounds, fc.double(), ([min, precision, steps], value) => {
        const max = min + precision * steps
        const engine = engineOf(fixed(min, max, precision))
        const quant = floatQuant(min, max, precision)
        for (const one of [value, min + (max - min) * Math.abs(value % 1)]) {
          const row = engine.row({ f: one })
          expect(row[0]).toBe(quantizeFloat(quant, one))
          expect(engine.cells(row)[0]).toBe(dequantizeFloat(quant, row[0]!))
        }
      }),
      { numRuns: 500, seed: 3 },
    )
  })

  test('[SCHEMA3] numbers are clamped and rounded to the nearest step; NaN becomes 0 or the nearest bound', () => {
    expect([-1, 0.4, 0.5, 255.4, 300, NaN, Infinity, -Infinity].map((value) => sampled(u8, value))).toEqual([
      0, 0, 1, 255, 255, 0, 255, 0,
    ])
    expect([NaN, -5, 50].map((value) => sampled(int(5, 9), value))).toEqual([5, 5, 9])
    expect([sampled(int(-5, 9), NaN), sampled(fixed(-10, 10, 0.5), NaN), sampled(fixed(-10, -5, 0.5), NaN)]).toEqual([
      0, 0, -5,
    ])
    expect([NaN, -5, 50, 15.26].map((value) => sampled(fixed(10, 20, 0.5), value))).toEqual([10, 10, 20, 15.5])
    expect([70_000, -1].map((value) => sampled(u16, value))).toEqual([65_535, 0])
    expect([70_000, -70_000].map((value) => sampled(i16, value))).toEqual([32_767, -32_768])
    expect([1e12, -1].map((value) => sampled(u32, value))).toEqual([2 ** 32 - 1, 0])
    expect([1e12, -1e12, NaN].map((value) => sampled(i32, value))).toEqual([2 ** 31 - 1, -(2 ** 31), 0])
    expect([1e300, -Infinity, NaN].map((value) => sampled(f32, value))).toEqual([
      Math.fround(3.4028234663852886e38),
      -Math.fround(3.4028234663852886e38),
      0,
    ])
    expect([Infinity, NaN].map((value) => sampled(f64, value))).toEqual([Number.MAX_VALUE, 0])
    expect([Infinity, NaN, -Infinity].map((value) => sampled(f32Any, value))).toEqual([Infinity, NaN, -Infinity])
    expect([Infinity, NaN, 0.1].map((value) => sampled(f64Any, value))).toEqual([Infinity, NaN, 0.1])
    expect(engineOf(ref()).values(engineOf(ref()).row({ f: -3 }))['f']).toBeNull()
    expect(engineOf(i64).values(engineOf(i64).row({ f: 2n ** 70n }))['f']).toBe(2n ** 63n - 1n)
    const bounded = engineOf(long(-5n, 2n ** 40n))
    expect([-6n, 2n ** 41n, 7n].map((value) => bounded.values(bounded.row({ f: value }))['f'])).toEqual([
      -5n,
      2n ** 40n,
      7n,
    ])
  })

  test('[SCHEMA3] negative zero is a number of its own in floats and does not exist in steps', () => {
    expect(sampled(f32, -0)).toBe(-0)
    expect(sampled(f64, -0)).toBe(-0)
    for (const field of [u8, fixed(-1, 1, 0.5), angle(), i32, i16, int(-5, 5)]) expect(sampled(field, -0)).toBe(0)
    const turned = engineOf(quat())
    expect(turned.values(turned.row({ f: { x: -0, y: -0, z: -0, w: -1 } }))['f']).toEqual({ x: 0, y: 0, z: 0, w: 1 })
  })

  test('[SCHEMA3] angles wrap: any turn of any number of turns is in [-pi, pi), to half a step', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 24 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }), (bits, radians) => {
        const read = sampled(angle(bits), radians) as number
        expect(read).toBeGreaterThanOrEqual(-Math.PI)
        expect(read).toBeLessThan(Math.PI)
        const apart = Math.abs(Math.sin((read - radians) / 2))
        expect(apart).toBeLessThanOrEqual(Math.sin(Math.PI / 2 ** (bits + 1)) + 1e-9)
      }),
      { numRuns: 300, seed: 4 },
    )
    expect([Math.PI, -Math.PI, 3 * Math.PI, 1e300, NaN].map((value) => sampled(angle(2), value)).slice(0, 3)).toEqual([
      -Math.PI,
      -Math.PI,
      -Math.PI,
    ])
    expect(sampled(angle(), NaN)).toBe(0)
    expect(sampled(angle(), Infinity)).toBe(0)
  })

  test('[SCHEMA13] an absent group has the lanes of a fresh object, whatever its cells contain', () => {
    const engine = new SchemaEngine(compileSchema('Test', {
      before: u8, g: group({ hp: u8.initially(50), name: oneOf('a', 'b'), p: vec2(0, 9, 1) }), after: u8,
      h: group({ s: struct({ n: i32 }) }).initially({ s: { n: 7 } }),
    }))
    const { schema } = engine
    const cells = schema.initialCells.slice()
    expect(Array.from(cells)).toEqual([0, 0, 50, 0, 0, 0, 0, 1, 7])
    cells.set([1, 0, 99, 1, 5, 5, 1, 0, 99])
    expect(Array.from(engine.quantize(cells))).toEqual([1, 0, 50, 0, 0, 0, 1, 0, 7])
  })
})
