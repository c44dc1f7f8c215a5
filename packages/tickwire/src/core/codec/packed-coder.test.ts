import { expect, test } from 'vitest'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { angle, bool, quat, u8, vec2 } from '../schema/field-kinds.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { PackedCoder } from './packed-coder.ts'
import { RowPair } from './row-coder.ts'

const heap = new ValueHeap()

function pairOf(row: readonly number[], base: readonly number[]): RowPair {
  const pair = new RowPair()
  pair.rows = Int32Array.from(row)
  pair.baseRows = Int32Array.from(base)
  pair.age = 1
  return pair
}

function bitsOf(schema: Schema, row: readonly number[], base: readonly number[]): string {
  const writer = new BitWriter(new Uint8Array(64))
  new PackedCoder(schema).write(writer, 2, pairOf(row, base), heap)
  writer.finish()
  return Array.from(writer.bytes, (byte) => byte.toString(2).padStart(8, '0')).join('').slice(0, writer.bitLength)
}

function isRefused(schema: Schema, bits: string, base: readonly number[]): boolean {
  const writer = new BitWriter(new Uint8Array(64))
  for (const bit of bits) writer.writeBits(Number(bit), 1)
  writer.finish()
  const reader = new BitReader(writer.bytes)
  new PackedCoder(schema).read(reader, 2, pairOf(base.map(() => 0), base), heap)
  return reader.failed
}

const Thing = compileSchema('Thing', { alive: bool, hue: u8, at: vec2(0, 100, 0.1), yaw: angle(12), turn: quat(9) })
const BASE = [1, 10, 500, 500, 4095, 3, 255, 255, 255]

test('[CODEC5] the mask, then differences; a bool is its bit', () => {
  expect(bitsOf(Thing, BASE, BASE)).toBe('00000')
  expect(bitsOf(Thing, [0, ...BASE.slice(1)], BASE)).toBe('10000')
  // 10 to 11: folded 2, one less as it is not 0, in 8 / 3 = 2 bits.
  expect(bitsOf(Thing, [1, 11, ...BASE.slice(2)], BASE)).toBe('01000' + '0' + '01')
  // One bit for each component of a vector; the first is one step on: of 10 bits, 3.
  expect(bitsOf(Thing, [1, 10, 501, 500, ...BASE.slice(4)], BASE)).toBe('00100' + '1' + '0001' + '0')
  // The angle wraps.
  expect(bitsOf(Thing, [...BASE.slice(0, 4), 0, ...BASE.slice(5)], BASE)).toBe('00010' + '0' + '0001')
  // The same component is dropped: three differences.
  expect(bitsOf(Thing, [...BASE.slice(0, 5), 3, 256, 255, 254], BASE)).toBe('00001' + '0' + '0010' + '0000' + '0001')
  // A different component is dropped: the whole rotation.
  expect(bitsOf(Thing, [...BASE.slice(0, 5), 0, 256, 255, 254], BASE)).toBe(
    '00001' + '1' + '00' + '100000000' + '011111111' + '011111110',
  )
})

test('[CODEC5] an empty change, and a second encoding of a change, are refused', () => {
  expect(isRefused(Thing, '00100' + '0' + '0', BASE)).toBe(true)
  expect(isRefused(Thing, '00001' + '0' + '0000' + '0000' + '0000', BASE)).toBe(true)
  expect(isRefused(Thing, '00001' + '1' + '11' + '100000000' + '011111111' + '011111110', BASE)).toBe(true)
  expect(isRefused(Thing, '01000' + '111' + '00000001', BASE)).toBe(true)
})
