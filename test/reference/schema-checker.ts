/**
 * Reads the golden vectors of the schema layer by the documented rules alone, and reports what does not agree: each
 * vector's bits must turn its baseline into its values, and the values must be written in exactly those bits. Imports
 * nothing from src, so engine and vectors cannot be wrong together unless the rules are.
 */

import { fromJson, toJson } from './bits-checker.ts'
import { BitSource, bytesToBits, Refused } from './bits-reference.ts'
import {
  decodeDelta, decodeWhole, encodeDelta, encodeWhole, initialValues, type Reader, type Values,
} from './schema-reference.ts'
import { parseSchemaText } from './schema-text.ts'

/** One line of test/vectors/schema.json. Values are in the notation of `fromJson` in bits-checker.ts. */
export interface SchemaVector {
  /** The rule that it shows. */
  readonly rule: string
  /** The canonical text of the schema. */
  readonly schema: string
  /** The receiver of the delta; `whole` for a row without mask and baseline. */
  readonly reader: Reader | 'whole'
  /** What the reader holds; absent: a fresh object. */
  readonly base?: unknown
  /** What the reader holds afterwards; absent when refused. */
  readonly values?: unknown
  /** Why a reader must refuse these bits. */
  readonly refused?: string
  /** The bytes, the last one padded with zeros. */
  readonly hex: string
  /** How many bits of them count. */
  readonly bits: number
}

/** What does not agree, one line each; empty when all is well. */
export function checkSchemaVectors(vectors: readonly SchemaVector[]): string[] {
  return vectors.flatMap((vector, index) => {
    const problem = checkVector(vector)
    return problem === undefined ? [] : [`vector ${index} (${vector.rule} ${vector.schema}): ${problem}`]
  })
}

function checkVector({
  schema,
  reader,
  base: baseJson,
  values: valuesJson,
  refused,
  hex,
  bits: count,
}: SchemaVector): string | undefined {
  const all = bytesToBits(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)))
  if (all.length !== Math.ceil(count / 8) * 8 || all.slice(count).includes('1'))
    return `${hex} is not ${count} bits and padding`
  const bits = all.slice(0, count)
  const shape = parseSchemaText(schema)
  const base = baseJson === undefined ? initialValues(shape) : (fromJson(baseJson) as Values)
  const source = new BitSource(bits)
  let values: Values
  try {
    values = reader === 'whole' ? decodeWhole(source, shape) : decodeDelta(source, shape, base, reader)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return refused === undefined ? `is refused: ${error.message}` : undefined
  }
  if (refused !== undefined)
    return source.taken === count ? `should be refused (${refused}) but means ${show(values)}` : undefined
  if (source.taken !== count) return `takes ${source.taken} bits of ${count}`
  if (show(values) !== show(fromJson(valuesJson))) return `means ${show(values)}, not ${JSON.stringify(valuesJson)}`
  const again = reader === 'whole' ? encodeWhole(shape, values) : encodeDelta(shape, values, base, reader)
  return again === bits ? undefined : `is encoded as ${again}, not ${bits}`
}

function show(value: unknown): string {
  return JSON.stringify(toJson(value))
}
