/**
 * Whole numbers between two bounds, and one-of-n choices: ceil(log2(count)) bits, no more.
 *
 * 0..1023 takes 10 bits, a choice of five takes 3, a range of one value takes none. When the count is not a power of
 * two, there are codes above it: readers refuse them.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Bits that distinguish `count` values, 1..2^32: ceil(log2(count)). */
export function bitsForCount(count: number): number {
  return 32 - Math.clz32(count - 1)
}

/** Writes a whole number from min to max; the bounds are safe integers at most 2^32 - 1 apart. @hot */
export function writeRangedInt(writer: BitWriter, value: number, min: number, max: number): void {
  assert(value >= min && value <= max, 'a ranged int lies in its range')
  writer.writeBits(value - min, bitsForCount(max - min + 1))
}

/** Reads a whole number from min to max; `min` once failed. @hot */
export function readRangedInt(reader: BitReader, min: number, max: number): number {
  const code = reader.readBits(bitsForCount(max - min + 1))
  if (code <= max - min) return min + code
  reader.fail()
  return min
}

/** Writes a choice 0..count-1. @hot */
export function writeEnum(writer: BitWriter, index: number, count: number): void {
  assert(index >= 0 && index < count, 'an enum index is below its count')
  writer.writeBits(index, bitsForCount(count))
}

/** Reads a choice 0..count-1; 0 once failed. @hot */
export function readEnum(reader: BitReader, count: number): number {
  const index = reader.readBits(bitsForCount(count))
  if (index < count) return index
  reader.fail()
  return 0
}
