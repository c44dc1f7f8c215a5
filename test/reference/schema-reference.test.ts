import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FieldSpec, Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { BitSource, Refused, type Bits } from './bits-reference.ts'
import { schemaWithValues, type SchemaSample } from './schema-arbitrary.ts'
import { SchemaEngine } from './schema-engine.ts'
import { decodeDelta, decodeWhole, encodeDelta, encodeWhole, initialValues, type Reader } from './schema-reference.ts'

const READERS: readonly Reader[] = ['all', 'team', 'owner']

/** The kinds of all fields, however deep. */
function kindsIn(shape: Shape): FieldSpec['kind'][] {
  return Object.values(shape).flatMap((field) => {
    const { spec } = field
    const inside = 'shape' in spec ? kindsIn(spec.shape) : spec.kind === 'list' ? kindsIn({ item: spec.item }) : []
    return [spec.kind, ...inside]
  })
}

/**
 * Which of two rotations is nearer to a third is decided by the last bit of a square root: the bits layer has its own
 * test.
 */
function withoutRotations(count: number): fc.Arbitrary<SchemaSample> {
  return schemaWithValues(count).filter(({ schema }) => !kindsIn(schema.shape).includes('quat'))
}

/** The values that the twin reads from bits, or 'refused'. */
function judged<T>(bits: Bits, decode: (source: BitSource) => T): T | 'refused' {
  try {
    const source = new BitSource(bits)
    const value = decode(source)
    return source.taken === bits.length ? value : 'refused'
  } catch (error) {
    if (error instanceof Refused) return 'refused'
    throw error
  }
}

describe('the engine and its twin', () => {
  test('[SCHEMA9] write the same delta between any two objects of any definition, for every reader', () => {
    fc.assert(fc.property(schemaWithValues(2), fc.constantFrom(...READERS), ({ schema, samples }, reader) => {
      const engine = new SchemaEngine(schema)
      const [row, base] = samples.map((values) => engine.row(values))
      const bits = engine.writeDelta(row!, base!, reader)
      expect(bits).toBe(encodeDelta(schema.shape, engine.values(row!), engine.values(base!), reader))
      const read = engine.readDelta(bits, base!, reader)!
      expect(engine.values(read)).toEqual(decodeDelta(new BitSource(bits), schema.shape, engine.values(base!), reader))
    }), { numRuns: 150, seed: 1 })
  })

  test('[SCHEMA15] write the same whole row', () => {
    fc.assert(fc.property(schemaWithValues(1), ({ schema, samples: [values] }) => {
      const engine = new SchemaEngine(schema)
      const row = engine.row(values!)
      const bits = engine.writeRow(row)
      expect(bits).toBe(encodeWhole(schema.shape, engine.values(row)))
      expect(engine.values(engine.readRow(bits)!)).toEqual(decodeWhole(new BitSource(bits), schema.shape))
    }), { numRuns: 150, seed: 2 })
  })

  test('[SCHEMA3] quantise alike: values between the steps become the same bits', () => {
    fc.assert(fc.property(withoutRotations(1), ({ schema, samples: [values] }) => {
      const engine = new SchemaEngine(schema)
      expect(engine.writeRow(engine.row(values!))).toBe(encodeWhole(schema.shape, values!))
    }), { numRuns: 150, seed: 3 })
  })

  test('[SCHEMA6] begin with the same fresh object', () => {
    fc.assert(fc.property(withoutRotations(0), ({ schema }) => {
      const engine = new SchemaEngine(schema)
      expect(engine.writeRow(schema.initialRow)).toBe(encodeWhole(schema.shape, initialValues(schema.shape)))
    }), { numRuns: 150, seed: 4 })
  })

  test('[SCHEMA10] refuse the same mutated deltas and understand the others alike', () => {
    const mutated = fc.tuple(schemaWithValues(2), fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), fc.nat(7))
    let accepted = 0
    let refused = 0
    fc.assert(fc.property(mutated, ([{ schema, samples }, flips, cut]) => {
      const engine = new SchemaEngine(schema)
      const [row, base] = samples.map((values) => engine.row(values))
      const bits = flips.reduce(flip, engine.writeDelta(row!, base!)).slice(0, cut === 0 ? -1 : undefined)
      const read = engine.readDelta(bits, base!)
      const twin = judged(bits, (source) => decodeDelta(source, schema.shape, engine.values(base!), 'owner'))
      if (read === undefined) expect(twin).toBe('refused')
      else expect(twin).toEqual(engine.values(read))
      if (read === undefined) refused++
      else accepted++
    }), { numRuns: 300, seed: 5 })
    expect(Math.min(accepted, refused)).toBeGreaterThan(50)
  })
})

function flip(bits: Bits, position: number): Bits {
  if (bits.length === 0) return bits
  const at = position % bits.length
  return bits.slice(0, at) + (bits[at] === '0' ? '1' : '0') + bits.slice(at + 1)
}
