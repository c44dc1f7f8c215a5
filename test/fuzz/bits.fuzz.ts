/**
 * Hostile bits for every reader of the bits layer. Accepted bits must be written again as the same bits; the rest
 * must be refused without a throw.
 */

import { readFileSync } from 'node:fs'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import {
  isCompletePrefix, prefixCode, readSymbol, writeSymbol,
} from '../../packages/tickwire/src/core/bits/prefix-code.ts'
import { PROBABILITY_HALF, RangeDecoder, RangeEncoder } from '../../packages/tickwire/src/core/bits/range-coder.ts'
import { fromJson, type BitsVector } from '../reference/bits-checker.ts'
import { OPERATIONS } from '../reference/bits-operations.ts'
import type { FuzzTarget } from './target.ts'

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/bits.json', import.meta.url), 'utf8'),
) as readonly BitsVector[]

/** Reads of one input: fields of no bits would otherwise never end. */
const READS_MAX = 64

/** Every field that the vectors show, each with its own arguments. */
const FIELDS = [
  ...new Map(VECTORS.map((vector) => [JSON.stringify([vector.op, vector.args]), vector])).values(),
].flatMap((vector) => {
  const operation = OPERATIONS.find(({ name }) => name === vector.op)
  return operation === undefined
    ? []
    : [{ operation, args: vector.args.map(fromJson), op: vector.op, json: JSON.stringify(vector.args) }]
})

const scratch = new Uint8Array(1 << 16)

/** Which field, how many bits before it, then the bits: the same field again and again until they end. */
const fields: FuzzTarget = {
  name: 'bits-fields',
  seeds: () => VECTORS.flatMap((vector) => {
    const index = FIELDS.findIndex(({ op, json }) => op === vector.op && json === JSON.stringify(vector.args))
    return index < 0 ? [] : [Uint8Array.of(index, 0, ...fromHex(vector.hex))]
  }),
  run(bytes) {
    const { operation, args } = FIELDS[(bytes[0] ?? 0) % FIELDS.length]!
    const head = Math.min((bytes[1] ?? 0) & 15, Math.max(0, bytes.length - 2) * 8)
    const body = bytes.subarray(2)
    const reader = new BitReader(body)
    const writer = new BitWriter(scratch)
    reader.skipBits(head)
    for (let count = 0; count < READS_MAX && !reader.failed; count++) {
      const from = reader.bitPosition
      const value = operation.read(reader, ...args)
      if (reader.failed) break
      writer.reset(scratch)
      operation.write(writer, value, ...args)
      writer.finish()
      expectSameBits(body, from, reader.bitPosition - from, writer.bitLength, operation.name)
    }
    if (reader.failed && (reader.readBits(32) !== 0 || reader.finish()))
      throw new Error('a failed reader reads again')
  },
}

/** How many bits to decode, which of them adaptively, then the section. */
const range: FuzzTarget = {
  name: 'bits-range-coder',
  seeds: () =>
    VECTORS.filter(({ op }) => op === 'rangeCoded').map(({ hex, args }) =>
      Uint8Array.of(args.length, 0x55, ...fromHex(hex)),
    ),
  run(bytes) {
    const count = bytes[0] ?? 0
    const pattern = bytes[1] ?? 0
    const body = bytes.subarray(2)
    const isAdaptive = (index: number): boolean => ((pattern >> (index & 7)) & 1) === 1
    const decoder = new RangeDecoder(body)
    const cells = new Uint16Array(4).fill(PROBABILITY_HALF)
    const bits = Array.from({ length: count }, (_, index) =>
      (isAdaptive(index) ? decoder.decodeBit(cells, index & 3) : decoder.decodeFixed(1 + ((index * 6007) % 32767))))
    const isAccepted = decoder.finish()
    const encoder = new RangeEncoder(scratch)
    cells.fill(PROBABILITY_HALF)
    bits.forEach((bit, index) => {
      if (isAdaptive(index)) encoder.encodeBit(cells, index & 3, bit)
      else encoder.encodeFixed(1 + ((index * 6007) % 32767), bit)
    })
    const size = encoder.finish()
    const isSame = size === body.length && body.every((byte, index) => byte === scratch[index])
    if (isAccepted && !isSame) throw new Error('accepted a second encoding')
    if (!isAccepted && isSame) throw new Error('refused its own encoding')
  },
}

/** Sixteen code lengths of four bits, then symbols, as in a trained table of a peer. */
const prefix: FuzzTarget = {
  name: 'bits-prefix-code',
  seeds: () => [
    Uint8Array.of(0x13, 0x23, 0, 0, 0, 0, 0, 0, 0x5a, 0xf0), Uint8Array.of(...new Uint8Array(8).fill(0x44), 1, 2, 3),
    Uint8Array.of(0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xc0, 0, 0xff, 0xff, 0x12),
  ],
  run(bytes) {
    const lengths = Array.from(
      { length: 16 },
      (_, index) => ((bytes[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0)) & 15,
    )
    if (!isCompletePrefix(lengths)) return
    const code = prefixCode(lengths)
    const body = bytes.subarray(8)
    const reader = new BitReader(body)
    const writer = new BitWriter(scratch)
    for (let count = 0; count < READS_MAX; count++) {
      const from = reader.bitPosition
      const symbol = readSymbol(reader, code)
      if (reader.failed) return
      writer.reset(scratch)
      writeSymbol(writer, code, symbol)
      writer.finish()
      expectSameBits(body, from, reader.bitPosition - from, writer.bitLength, 'symbol')
    }
  },
}

export const targets: readonly FuzzTarget[] = [fields, range, prefix]

function expectSameBits(body: Uint8Array, from: number, count: number, written: number, what: string): void {
  if (written !== count) throw new Error(`${what}: read ${count} bits, writes ${written}`)
  for (let bit = 0; bit < count; bit++) {
    const read = (body[(from + bit) >> 3]! >> (7 - ((from + bit) & 7))) & 1
    if (read !== ((scratch[bit >> 3]! >> (7 - (bit & 7))) & 1))
      throw new Error(`${what}: bit ${bit} is encoded differently`)
  }
}

function fromHex(hex: string): number[] {
  return (hex.match(/../g) ?? []).map((byte) => parseInt(byte, 16))
}
