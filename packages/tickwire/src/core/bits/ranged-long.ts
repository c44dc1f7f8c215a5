/**
 * 64-bit whole numbers between two bounds: ceil(log2(max - min + 1)) bits, at most 64, most significant bit first.
 *
 * The hot functions work on int32 pairs and a precomputed range; the bigint functions are for edges and allocate. Both
 * write the same bits. Readers refuse codes above the range.
 */

import { assert, ConfigError } from '../base/assert.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readBitsPair, writeBitsPair } from './wide-bits.ts'

/** Bounds of a ranged long as int32 pairs. Created by `longRange`. */
export interface LongRange {
  readonly min: bigint
  readonly max: bigint
  readonly minLo: number
  readonly minHi: number
  /** max - min, unsigned. */
  readonly spanLo: number
  readonly spanHi: number
  readonly bits: number
}

/** Computes the range min..max, both within int64; `path` names the field in errors. */
export function longRange(min: bigint, max: bigint, path: string = 'longRange'): LongRange {
  if (BigInt.asIntN(64, min) !== min || BigInt.asIntN(64, max) !== max || min > max) {
    throw new ConfigError(
      path,
      `not a range of 64-bit integers (got ${min}..${max})`,
      'give -2^63 <= min <= max < 2^63.',
    )
  }
  const span = max - min
  return {
    min, max,
    minLo: low(min), minHi: high(min),
    spanLo: low(span), spanHi: high(span),
    bits: high(span) === 0 ? 32 - Math.clz32(low(span)) : 64 - Math.clz32(high(span)),
  }
}

/** Writes the pair, which must be in `range`. @hot */
export function writeRangedLongPair(writer: BitWriter, lo: number, hi: number, range: LongRange): void {
  const codeLo = (lo - range.minLo) | 0
  const borrow = lo >>> 0 < range.minLo >>> 0 ? 1 : 0
  const codeHi = (hi - range.minHi - borrow) | 0
  assert(!isAbove(codeLo, codeHi, range), 'a ranged long lies in its range')
  writeBitsPair(writer, codeLo, codeHi, range.bits)
}

/** Reads a pair of `range`: low half to `out[at]`, high half to `out[at + 1]`; `min` once failed. @hot */
export function readRangedLongPair(reader: BitReader, range: LongRange, out: Int32Array, at: number): void {
  readBitsPair(reader, range.bits, out, at)
  if (isAbove(out[at], out[at + 1], range)) {
    reader.fail()
    out[at] = 0
    out[at + 1] = 0
  }
  const lo = (out[at] + range.minLo) | 0
  const carry = lo >>> 0 < range.minLo >>> 0 ? 1 : 0
  out[at] = lo
  out[at + 1] = out[at + 1] + range.minHi + carry
}

/** Writes a bigint of `range`. Allocates: use the pair on hot paths. */
export function writeRangedLong(writer: BitWriter, value: bigint, range: LongRange): void {
  assert(value >= range.min && value <= range.max, 'a ranged long lies in its range')
  writeRangedLongPair(writer, low(value), high(value), range)
}

/** Reads a bigint of `range`; `min` once failed. Allocates: use the pair on hot paths. */
export function readRangedLong(reader: BitReader, range: LongRange): bigint {
  readRangedLongPair(reader, range, pair, 0)
  return (BigInt(pair[1]) << 32n) | BigInt(pair[0] >>> 0)
}

const pair: Int32Array = new Int32Array(2)

function isAbove(lo: number, hi: number, range: LongRange): boolean {
  if (hi !== range.spanHi) return hi >>> 0 > range.spanHi >>> 0
  return lo >>> 0 > range.spanLo >>> 0
}

function low(value: bigint): number {
  return Number(BigInt.asIntN(32, value))
}

function high(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n))
}
