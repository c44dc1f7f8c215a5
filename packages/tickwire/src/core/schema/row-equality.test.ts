import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import type { Field } from './field.ts'
import { angle, bool, f32, f64, fixed, group, i32, int, list, oneOf, quat, struct, text, vec3 } from './field-kinds.ts'
import { firstDifference, isClose } from './row-equality.ts'
import { compileSchema } from './schema.ts'

const engineOf = (field: Field<unknown>): SchemaEngine => new SchemaEngine(compileSchema('T', { f: field }))

function areClose(engine: SchemaEngine, a: unknown, b: unknown): boolean {
  const [row, other] = [engine.row({ f: a }), engine.row({ f: b })]
  const close = isClose(engine.schema, row, 0, other, 0)
  expect(isClose(engine.schema, other, 0, row, 0)).toBe(close)
  expect(firstDifference(engine.schema, row, 0, other, 0) === undefined).toBe(close)
  return close
}

const seeded = { numRuns: 1000, seed: 1 }

describe('equality to prediction', () => {
  test('[SCHEMA22] noise below a step never counts, two steps always do', () => {
    const engine = engineOf(fixed(-100, 100, 0.01))
    fc.assert(
      fc.property(
        fc.double({ min: -99, max: 99, noNaN: true }),
        fc.double({ min: -0.999, max: 0.999, noNaN: true }),
        (value, noise) => {
          expect(areClose(engine, value, value + noise * 0.01)).toBe(true)
          expect(areClose(engine, value, value + 0.0201)).toBe(false)
        },
      ),
      seeded,
    )
  })

  test('[SCHEMA22] the highest and the lowest number of 32 bits are not equal', () => {
    const engine = engineOf(fixed(0, 2 ** 32 - 1, 1))
    expect(areClose(engine, 2 ** 32 - 1, 0)).toBe(false)
    expect(areClose(engine, 2 ** 31 - 1, 2 ** 31)).toBe(true)
    expect(areClose(engine, 2 ** 32 - 1, 2 ** 32 - 2)).toBe(true)
  })

  test('[SCHEMA22] noise below a step never counts across the end of the turn either', () => {
    for (const bits of [2, 8, 12, 24]) {
      const engine = engineOf(angle(bits))
      const step = (2 * Math.PI) / 2 ** bits
      fc.assert(
        fc.property(
          fc.oneof(fc.constantFrom(Math.PI, -Math.PI, 0), fc.double({ min: -7, max: 7, noNaN: true })),
          fc.double({ min: -0.999, max: 0.999, noNaN: true }),
          (value, noise) => {
            expect(areClose(engine, value, value + noise * step)).toBe(true)
            if (bits > 2) expect(areClose(engine, value, value + 2.01 * step)).toBe(false)
          },
        ),
        { numRuns: 300, seed: 2 },
      )
    }
  })

  test('[SCHEMA22] rotations less than a step apart in every component are equal, ties included', () => {
    const part = fc.oneof(
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.constantFrom(0, 1, -1, 0.5, -0.5, Math.SQRT1_2, -Math.SQRT1_2),
    )
    const noise = fc.double({ min: -1, max: 1, noNaN: true })
    for (const bits of [3, 5, 10, 15, 20]) {
      const engine = engineOf(quat(bits))
      const step = Math.SQRT1_2 / (2 ** (bits - 1) - 1)
      fc.assert(
        fc.property(
          fc.tuple(part, part, part, part),
          fc.tuple(noise, noise, noise, noise),
          fc.boolean(),
          (parts, noises, isFlipped) => {
            const length = Math.hypot(...parts)
            fc.pre(length > 0.01)
            const sign = isFlipped ? -1 : 1
            const [x, y, z, w] = parts.map((one) => one / length) as [number, number, number, number]
            const near = [x, y, z, w].map((one, axis) => sign * (one + noises[axis]! * step * 0.99)) as [
              number,
              number,
              number,
              number,
            ]
            fc.pre(bits > 3 || Math.hypot(...near) > 0.5)
            expect(areClose(engine, { x, y, z, w }, { x: near[0], y: near[1], z: near[2], w: near[3] })).toBe(true)
          },
        ),
        { numRuns: 2000, seed: 3 },
      )
    }
  })

  test('[SCHEMA22] rotations many steps apart are not', () => {
    for (const bits of [8, 10, 15, 20]) {
      const engine = engineOf(quat(bits))
      const step = Math.SQRT1_2 / (2 ** (bits - 1) - 1)
      fc.assert(
        fc.property(fc.double({ min: -3, max: 3, noNaN: true }), fc.constantFrom(-1, 1), (half, way) => {
          const turned = half + way * 8 * step
          expect(
            areClose(
              engine,
              { x: Math.sin(half), y: 0, z: 0, w: Math.cos(half) },
              { x: Math.sin(turned), y: 0, z: 0, w: Math.cos(turned) },
            ),
          ).toBe(false)
        }),
        { numRuns: 500, seed: 4 },
      )
    }
  })

  test('[SCHEMA22] everything but rounding must be equal, and the first difference is named', () => {
    expect(areClose(engineOf(int(0, 9)), 3, 4)).toBe(false)
    expect(areClose(engineOf(i32), 3, 4)).toBe(false)
    expect(areClose(engineOf(bool), true, false)).toBe(false)
    expect(areClose(engineOf(oneOf('a', 'b')), 'a', 'b')).toBe(false)
    expect(areClose(engineOf(f32), 1, 1 + 2 ** -23)).toBe(false)
    expect(areClose(engineOf(f64), 1, 1 + 2 ** -52)).toBe(false)
    expect(areClose(engineOf(text(4)), 'a', 'b')).toBe(false)
    expect(areClose(engineOf(text(4)), 'a', 'a')).toBe(true)
    expect(areClose(engineOf(list(fixed(0, 1, 0.1), 3)), [0.5], [0.6])).toBe(false)
    expect(areClose(engineOf(group({ a: fixed(0, 1, 0.1) })), null, { a: 0 })).toBe(false)
    const engine = engineOf(struct({ a: vec3(0, 9, 0.5), b: int(0, 9) }))
    const [row, other] = [
      engine.row({ f: { a: { x: 1, y: 1, z: 1 }, b: 1 } }),
      engine.row({ f: { a: { x: 1.5, y: 1, z: 2 }, b: 2 } }),
    ]
    expect(firstDifference(engine.schema, row, 0, other, 0)?.path).toBe('T.f.a.z')
  })
})
