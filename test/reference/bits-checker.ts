/**
 * Reads the golden vectors of the bits layer by the documented rules alone, and reports what does not agree: each
 * vector's bits must mean its value, its value must be written in exactly those bits, and each refusal must be refused.
 * Imports nothing from src, so engine and vectors cannot be wrong together unless the rules are.
 */

import { prefixCodes, rangeDecode, rangeEncode, takeSymbol, type Coding } from './bits-entropy-reference.ts'
import { BitSource, bitsToBytes, bytesToBits, Refused, TWINS, type Bits, type Twin } from './bits-reference.ts'

/** One line of test/vectors/bits.json. `args` and `value` are in the notation of `fromJson`. */
export interface BitsVector {
  /** The rule that it shows. */
  readonly rule: string
  /** An operation of `TWINS`, or `sequence`, `rangeCoded`, `prefixCoded`. */
  readonly op: string
  /** What the schema says about the field. */
  readonly args: readonly unknown[]
  /** The meaning; absent when refused. */
  readonly value?: unknown
  /** Why a reader must refuse these bits. */
  readonly refused?: string
  /** The bytes, the last one padded with zeros. */
  readonly hex: string
  /** How many bits of them count. */
  readonly bits: number
}

/** What does not agree, one line each; empty when all is well. */
export function checkVectors(vectors: readonly BitsVector[]): string[] {
  return vectors.flatMap((vector, index) => {
    const problem = checkVector(vector)
    return problem === null ? [] : [`vector ${index} (${vector.rule} ${vector.op}): ${problem}`]
  })
}

function checkVector(vector: BitsVector): string | null {
  const all = bytesToBits(Uint8Array.from(vector.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)))
  if (all.length !== Math.ceil(vector.bits / 8) * 8) return `${vector.hex} has not ${vector.bits} bits`
  if (all.slice(vector.bits).includes('1')) return 'the padding is not zero'
  const bits = all.slice(0, vector.bits)
  const args = vector.args.map(fromJson)
  const twin = twinOf(vector.op)
  try {
    const source = new BitSource(bits)
    const value = twin.decode(source, ...args)
    if (vector.refused !== undefined) return `should be refused (${vector.refused}) but means ${show(value)}`
    if (source.taken !== bits.length) return `takes ${source.taken} bits of ${bits.length}`
    if (!isSame(value, fromJson(vector.value))) return `means ${show(value)}, not ${JSON.stringify(vector.value)}`
    const again = twin.encode(fromJson(vector.value), ...args)
    return again === bits ? null : `is encoded as ${again}, not ${bits}`
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return vector.refused === undefined ? `is refused: ${error.message}` : null
  }
}

function twinOf(op: string): Twin<unknown, unknown[]> {
  if (op === 'sequence') return SEQUENCE
  if (op === 'rangeCoded') return RANGE_CODED
  if (op === 'prefixCoded') return PREFIX_CODED
  if (!Object.hasOwn(TWINS, op)) throw new Error(`no operation ${op}`)
  return TWINS[op as keyof typeof TWINS] as unknown as Twin<unknown, unknown[]>
}

/** Fields in a row: each argument is `[op, ...args]`, the value is the list of their values. */
const SEQUENCE: Twin<unknown, unknown[]> = {
  encode: (values, ...fields) => fields.map((field, index) => {
    const [op, ...args] = field as [string, ...unknown[]]
    return twinOf(op).encode((values as unknown[])[index], ...args)
  }).join(''),
  decode: (source, ...fields) => fields.map((field) => {
    const [op, ...args] = field as [string, ...unknown[]]
    return twinOf(op).decode(source, ...args)
  }),
}

/** A section of whole bytes: each argument codes one bit, the value is the list of bits. */
const RANGE_CODED: Twin<unknown, unknown[]> = {
  encode: (bits, ...codings) => bytesToBits(rangeEncode(bits as number[], codings as Coding[])),
  decode: (source, ...codings) =>
    rangeDecode(Array.from(bitsToBytes(source.take(source.bits.length))), codings as Coding[]),
}

/** Symbols in a row, as many as the first argument says, in the code of these lengths. */
const PREFIX_CODED: Twin<unknown, unknown[]> = {
  encode: (symbols, _count, lengths) => {
    const codes = prefixCodes(lengths as number[])
    return (symbols as number[]).map((symbol): Bits => codes[symbol] ?? '?').join('')
  },
  decode: (source, count, lengths) =>
    Array.from({ length: count as number }, () => takeSymbol(source, lengths as number[])),
}

/** JSON has no bigints, no bytes and no NaN: `{ "bigint": "12" }`, `{ "bytes": "0aff" }`, `{ "number": "NaN" }`. */
export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson)
  if (typeof json !== 'object' || json === null) return json
  if ('bigint' in json) return BigInt(String(json.bigint))
  if ('number' in json) return Number(json.number)
  if ('bytes' in json) return Uint8Array.from(String(json.bytes).match(/../g) ?? [], (byte) => parseInt(byte, 16))
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, fromJson(value)]))
}

/** The inverse of `fromJson`. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) }
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { number: Object.is(value, -0) ? '-0' : String(value) }
  if (value instanceof Uint8Array)
    return { bytes: Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('') }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, toJson(of)]))
}

function isSame(a: unknown, b: unknown): boolean {
  return show(a) === show(b)
}

function show(value: unknown): string {
  return JSON.stringify(toJson(value))
}
