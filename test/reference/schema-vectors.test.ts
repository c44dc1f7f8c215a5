import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeSchemaVectors } from '../../tools/gen-vectors-schema.ts'
import { schemaWithValues } from './schema-arbitrary.ts'
import { checkSchemaVectors, type SchemaVector } from './schema-checker.ts'
import { encodeWhole, initialValues } from './schema-reference.ts'
import { parseSchemaText } from './schema-text.ts'

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/schema.json', import.meta.url), 'utf8'),
) as readonly SchemaVector[]

test('[SCHEMA30] the vectors mean what the rules say, to a checker that has never seen the engine', () => {
  expect(VECTORS.length).toBeGreaterThan(40)
  expect(checkSchemaVectors(VECTORS)).toEqual([])
})

test('[SCHEMA30] the engine still writes the vectors', () => {
  expect(makeSchemaVectors()).toEqual(VECTORS)
})

test('[SCHEMA30] the checker finds a wrong bit, a wrong value and a wrong baseline', () => {
  const vector = VECTORS.find(({ rule, base }) => rule === 'SCHEMA9' && base !== undefined)!
  const flipped =
    (Number.parseInt(vector.hex.slice(0, 2), 16) ^ 0x80).toString(16).padStart(2, '0') + vector.hex.slice(2)
  for (const wrong of [
    { ...vector, hex: flipped },
    { ...vector, values: { ...(vector.values as object), flags: 9 } },
    { ...vector, bits: vector.bits - 1 },
  ]) {
    expect(checkSchemaVectors([wrong])).toHaveLength(1)
  }
})

test('[SCHEMA24] the text of any definition describes it: a twin made from the text alone writes the same bits', () => {
  fc.assert(
    fc.property(
      schemaWithValues(1).filter(({ schema }) => !schema.text.includes('manual(')),
      ({ schema, samples: [values] }) => {
        const shape = parseSchemaText(schema.text)
        expect(encodeWhole(shape, values!)).toBe(encodeWhole(schema.shape, values!))
        expect(encodeWhole(shape, initialValues(shape))).toBe(encodeWhole(schema.shape, initialValues(schema.shape)))
        expect(Object.values(shape).map(({ options }) => options.audience)).toEqual(
          schema.members.map(({ audience }) => audience),
        )
      },
    ),
    { numRuns: 150, seed: 1 },
  )
})
