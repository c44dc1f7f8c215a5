/** The golden vectors against three readers: the independent checker, the engine, and the list they are made from. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import {
  isCompletePrefix, prefixCode, readSymbol, writeSymbol,
} from '../../packages/tickwire/src/core/bits/prefix-code.ts'
import { PROBABILITY_HALF, RangeDecoder } from '../../packages/tickwire/src/core/bits/range-coder.ts'
import { makeVectors } from '../../tools/gen-vectors-bits.ts'
import { checkVectors, fromJson, toJson, type BitsVector } from './bits-checker.ts'
import type { Coding } from './bits-entropy-reference.ts'
import { OPERATIONS } from './bits-operations.ts'

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/bits.json', import.meta.url), 'utf8'),
) as readonly BitsVector[]

describe('[BITS25] the golden vectors', () => {
  test('are what the generator makes', () => {
    expect(VECTORS).toEqual(JSON.parse(JSON.stringify(makeVectors())))
  })

  test('agree with the rules, as the independent checker reads them', () => {
    expect(checkVectors(VECTORS)).toEqual([])
  })

  test('agree with the engine', () => {
    for (const vector of VECTORS) {
      const { value, isRefused } = readByEngine(vector)
      if (vector.refused !== undefined) expect(isRefused, JSON.stringify(vector)).toBe(true)
      else expect(toJson(value), JSON.stringify(vector)).toEqual(vector.value)
    }
  })

  test('show every form on the wire, and every form refuses something unless nothing can be wrong with it', () => {
    const total = ['bits', 'wideBits', 'bool', 'byte', 'u16', 'u64', 'vector3']
    const ops = [...OPERATIONS.map((operation) => operation.name as string), 'sequence', 'rangeCoded', 'prefixCoded']
    for (const op of ops)
      expect(
        VECTORS.some((vector) => vector.op === op && vector.refused === undefined),
        op,
      ).toBe(true)
    for (const op of ops.filter((one) => !total.includes(one))) {
      expect(VECTORS.some((vector) => vector.op === op && vector.refused !== undefined), `${op} refuses`).toBe(true)
    }
  })
})

describe('[BITS25] the checker', () => {
  test('notices every flipped bit of every vector', () => {
    for (const vector of VECTORS.filter((one) => one.refused === undefined)) {
      for (let bit = 0; bit < vector.bits; bit++) {
        const digit = parseInt(vector.hex[bit >> 2]!, 16) ^ (8 >> (bit & 3))
        const hex = vector.hex.slice(0, bit >> 2) + digit.toString(16) + vector.hex.slice((bit >> 2) + 1)
        expect(checkVectors([{ ...vector, hex }]), JSON.stringify({ ...vector, hex })).toHaveLength(1)
      }
    }
  })

  test('notices another meaning, one bit too many or too few, padding, and a false refusal', () => {
    const vector = VECTORS.find((one) => one.op === 'varint' && one.value === 300)!
    expect(checkVectors([vector])).toEqual([])
    expect(checkVectors([{ ...vector, value: 301 }])).toHaveLength(1)
    expect(checkVectors([{ ...vector, bits: 15 }])).toHaveLength(1)
    expect(checkVectors([{ ...vector, bits: 24, hex: `${vector.hex}00` }])).toHaveLength(1)
    expect(checkVectors([{ ...vector, refused: 'no reason' }])).toHaveLength(1)
    const bits = VECTORS.find((one) => one.op === 'bits' && one.bits === 3)!
    expect(checkVectors([{ ...bits, hex: 'a1' }])).toHaveLength(1)
    expect(() => checkVectors([{ ...vector, op: 'constructor' }])).toThrow('no operation')
  })
})

function readByEngine(vector: BitsVector): { value: unknown; isRefused: boolean } {
  const bytes = Uint8Array.from(vector.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16))
  const args = vector.args.map(fromJson)
  if (vector.op === 'rangeCoded') return readRangeCoded(bytes, args as Coding[])
  const reader = new BitReader(bytes)
  reader.resetBits(bytes, 0, vector.bits)
  if (vector.op === 'prefixCoded') return readPrefixCoded(reader, args[0] as number, args[1] as number[])
  const fields =
    vector.op === 'sequence' ? (args as [string, ...unknown[]][]) : [[vector.op, ...args] as [string, ...unknown[]]]
  const values = fields.map(([op, ...rest]) =>
    OPERATIONS.find((operation) => operation.name === op)!.read(reader, ...rest),
  )
  if (!reader.failed) expect(reader.bitsLeft).toBe(0)
  return { value: vector.op === 'sequence' ? values : values[0], isRefused: reader.failed }
}

function readRangeCoded(bytes: Uint8Array, codings: readonly Coding[]): { value: unknown; isRefused: boolean } {
  const decoder = new RangeDecoder(bytes)
  const cells = new Uint16Array(2).fill(PROBABILITY_HALF)
  const value = codings.map((one) =>
    'cell' in one ? decoder.decodeBit(cells, one.cell) : decoder.decodeFixed(one.fixed),
  )
  return { value, isRefused: !decoder.finish() }
}

function readPrefixCoded(
  reader: BitReader,
  count: number,
  lengths: readonly number[],
): { value: unknown; isRefused: boolean } {
  if (!isCompletePrefix(lengths)) return { value: null, isRefused: true }
  const code = prefixCode(lengths)
  const value = Array.from({ length: count }, () => readSymbol(reader, code))
  const writer = new BitWriter(new Uint8Array(100))
  for (const symbol of value) writeSymbol(writer, code, symbol)
  if (!reader.failed) expect(writer.bitLength).toBe(reader.bitPosition)
  return { value, isRefused: reader.failed }
}
