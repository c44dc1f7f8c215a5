/**
 * Random definitions and values that fit them: every field kind, every modifier, nested to a bounded depth.
 *
 * ```ts
 * fc.assert(fc.property(schemaWithValues(2), ({ schema, samples: [a, b] }) => { … }))
 * ```
 */

import fc from 'fast-check'
import { Field, type Bounds, type ManualCodec, type Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import * as kinds from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import type { Values } from './schema-reference.ts'

/** A field and how to make values of it. Values are legal but not on the grid: quantising moves them by half a step. */
export interface Kit {
  readonly field: Field<unknown>
  readonly value: fc.Arbitrary<unknown>
}

/** A definition and values of it. */
export interface SchemaSample {
  readonly schema: Schema
  readonly samples: readonly Values[]
}

/** Random definitions, each with `count` random objects of it. */
export function schemaWithValues(count: number, depth = 2): fc.Arbitrary<SchemaSample> {
  return shapeKit(depth, true).chain(({ shape, values }) =>
    fc.tuple(...Array.from({ length: count }, () => values)).map((samples) => {
      const schema = compileSchema('Random', shape)
      return { schema, samples, [fc.toStringMethod]: () => `${schema.text} with ${fc.stringify(samples)}` }
    }))
}

interface ShapeKit {
  readonly shape: Shape
  readonly values: fc.Arbitrary<Values>
}

function shapeKit(depth: number, isTop: boolean): fc.Arbitrary<ShapeKit> {
  // Now and then more members than one word of the mask holds.
  const size =
    isTop && depth > 0
      ? fc.oneof(
          { weight: 9, arbitrary: fc.integer({ min: 1, max: 8 }) },
          { weight: 1, arbitrary: fc.integer({ min: 31, max: 70 }) },
        )
      : fc.integer({ min: 1, max: 4 })
  return size
    .chain((count) => fc.array(memberKit(count > 8 ? 0 : depth, isTop), { minLength: count, maxLength: count }))
    .map((kits) => {
      const named = kits.map((kit, index) => [`f${index}`, kit] as const)
      return {
        shape: Object.fromEntries(named.map(([name, { field }]) => [name, field])),
        values: fc.record(Object.fromEntries(named.map(([name, { value }]) => [name, value]))),
      }
    })
}

/** A field of a definition, with the modifiers allowed there. */
function memberKit(depth: number, isTop: boolean): fc.Arbitrary<Kit> {
  const plain = fieldKit(depth)
  const bare =
    isTop && depth > 0 ? fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: groupKit(depth) }) : plain
  const started = bare.chain((kit) =>
    fc
      .option(kit.value, { freq: 2, nil: NOTHING })
      .map((initial): Kit => (initial === NOTHING ? kit : { ...kit, field: kit.field.initially(initial) })),
  )
  const field = fc.constantFrom<(field: Field<unknown>) => Field<unknown>>(
    (field) => field, (field) => field, (field) => field, (field) => field.team(), (field) => field.owner(),
    (field) => field.local(), (field) => field.server(), (field) => field.snap(),
  )
  return isTop ? fc.tuple(started, field).map(([kit, tell]) => ({ ...kit, field: tell(kit.field) })) : started
}

const NOTHING = Symbol('nothing')

function fieldKit(depth: number): fc.Arbitrary<Kit> {
  const leaf = fc.oneof(...LEAVES)
  return depth === 0
    ? leaf
    : fc.oneof(
        { weight: 4, arbitrary: leaf },
        { weight: 1, arbitrary: structKit(depth) },
        { weight: 1, arbitrary: listKit(depth) },
      )
}

function structKit(depth: number): fc.Arbitrary<Kit> {
  return fc
    .tuple(shapeKit(depth - 1, false), fc.boolean())
    .map(([{ shape, values }, isDelta]) => ({
      field: isDelta ? kinds.deltaStruct(shape) : kinds.struct(shape),
      value: values,
    }))
}

function groupKit(depth: number): fc.Arbitrary<Kit> {
  return shapeKit(depth - 1, false).map(({ shape, values }) => ({
    field: kinds.group(shape),
    value: fc.option(values, { freq: 3 }),
  }))
}

function listKit(depth: number): fc.Arbitrary<Kit> {
  return fc.tuple(fieldKit(depth - 1), fc.integer({ min: 1, max: 5 }))
    .map(([item, max]) => ({ field: kinds.list(item.field, max), value: fc.array(item.value, { maxLength: max }) }))
}

const whole = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max))
const of = <T,>(field: Field<T>, value: fc.Arbitrary<T>): fc.Arbitrary<Kit> => fc.constant({ field, value })

/** Bounds of every size, exact in binary or not, with steps that divide them or not. */
const bounds: fc.Arbitrary<Bounds> = fc
  .tuple(
    fc.integer({ min: -5000, max: 5000 }),
    fc.constantFrom(0.001, 0.01, 0.1, 0.5, 1, 3, 1 / 512, 0.3),
    fc.integer({ min: 2, max: 100_000 }),
    fc.constantFrom(0, 0, 0.25, 0.75),
  )
  .map(([min, precision, steps, extra]) => ({ min, max: min + precision * (steps + extra), precision }))
  .filter(isClear)

/**
 * Far from 0 the number of steps of a decimal range is exact only up to a rounding. The bits layer decides whether it
 * counts as whole.
 */
function isClear({ min, max, precision }: Bounds): boolean {
  const ratio = (max - min) / precision
  const off = Math.abs(ratio - Math.round(ratio))
  return off <= ratio * 2 ** -44 || off > 0.01
}

const inside = ({ min, max }: Bounds): fc.Arbitrary<number> => fc.double({ min, max, noNaN: true })

const longs = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -300n, max: 300n }))
const finiteFloats = fc.float({ noNaN: true, noDefaultInfinity: true })
const rotations = fc
  .tuple(...Array.from({ length: 4 }, () => fc.double({ min: -1, max: 1, noNaN: true })))
  .filter((parts) => parts.some((part) => Math.abs(part) > 0.01))
  .map(([x = 0, y = 0, z = 0, w = 1]) => ({ x, y, z, w }))

/** A codec of two functions: a count, and that many small numbers. */
export const runs: ManualCodec<readonly number[]> = {
  format: 'runs of 5',
  create: () => [],
  write(writer, value) {
    writer.writeBits(value.length, 3)
    for (const each of value) writer.writeBits(each, 5)
  },
  read(reader) {
    const count = reader.readBits(3)
    if (count > 6) reader.fail()
    return Array.from({ length: count }, () => reader.readBits(5))
  },
}

/** One to four bytes a character. */
const words = fc.string({ unit: fc.constantFrom('a', 'b', '\0', ' ', 'é', '漢', '😀', '\u{10ffff}'), maxLength: 15 })

const VECTORS = { 2: kinds.vec2, 3: kinds.vec3, 4: kinds.vec4 } as const
const AXES = ['x', 'y', 'z', 'w']

function vectorKit(arity: 2 | 3 | 4): fc.Arbitrary<Kit> {
  return fc.array(bounds, { minLength: arity, maxLength: arity }).map((each) => ({
    field: VECTORS[arity](...each),
    value: fc.record(Object.fromEntries(each.map((one, axis) => [AXES[axis]!, inside(one)]))),
  }))
}

const LEAVES: readonly fc.Arbitrary<Kit>[] = [
  of(kinds.bool, fc.boolean()),
  of(kinds.u8, whole(0, 255)),
  of(kinds.i8, whole(-128, 127)),
  of(kinds.u16, whole(0, 65_535)),
  of(kinds.i16, whole(-32_768, 32_767)),
  of(kinds.u32, whole(0, 2 ** 32 - 1)),
  of(kinds.i32, fc.oneof(whole(-(2 ** 31), 2 ** 31 - 1), whole(-100, 100))),
  of(kinds.i32Word, whole(-(2 ** 31), 2 ** 31 - 1)),
  of(kinds.i64, longs),
  of(kinds.i64Word, longs),
  of(kinds.f32, finiteFloats),
  of(kinds.f64, fc.double({ noNaN: true, noDefaultInfinity: true })),
  of(kinds.f32Any, fc.float()),
  of(kinds.f64Any, fc.double()),
  fc
    .tuple(
      fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
      fc.oneof(fc.integer({ min: 1, max: 2 ** 32 - 1 }), fc.constantFrom(1, 2, 2 ** 32 - 1)),
    )
    .map(([min, span]): Kit => ({ field: kinds.int(min, min + span), value: whole(min, min + span) })),
  fc
    .tuple(longs, longs)
    .filter(([a, b]) => a !== b)
    .map(([a, b]): Kit => ({
      field: kinds.long(a < b ? a : b, a < b ? b : a),
      value: fc.bigInt(a < b ? { min: a, max: b } : { min: b, max: a }),
    })),
  bounds.map((one): Kit => ({ field: kinds.fixed(one.min, one.max, one.precision), value: inside(one) })),
  fc
    .integer({ min: 2, max: 24 })
    .map((bits): Kit => ({ field: kinds.angle(bits), value: fc.double({ min: -20, max: 20, noNaN: true }) })),
  vectorKit(2),
  vectorKit(3),
  vectorKit(4),
  fc.integer({ min: 3, max: 20 }).map((bits): Kit => ({ field: kinds.quat(bits), value: rotations })),
  fc
    .uniqueArray(fc.string(), { minLength: 2, maxLength: 9 })
    .map((names): Kit => ({ field: kinds.oneOf(...names), value: fc.constantFrom(...names) })),
  of(kinds.text(60), words),
  of(kinds.fixedText(64), words),
  of(kinds.bytes(40), fc.uint8Array({ maxLength: 40 })),
  of(kinds.ref(), fc.option(whole(1, 2 ** 32 - 1))),
  of(kinds.manual(runs), fc.array(fc.nat(31), { maxLength: 6 })),
]
