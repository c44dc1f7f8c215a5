/**
 * Whole numbers in as few bytes as they need: seven bits a byte, lowest group first, high bit set when more follow.
 *
 * ```
 * 300 = 0b10_0101100      1 0101100 | 0 0000010
 * ```
 *
 * Signed numbers are folded first (zig-zag: 0, -1, 1, -2, … become 0, 1, 2, 3, …). A 64-bit number takes at most nine
 * bytes: eight groups of seven, and a ninth byte that carries the last eight bits whole.
 *
 * Invariant: one number has one encoding. Readers refuse a last byte of 0 after the first (over-long), and a value
 * above the type's range. Bytes are written at the cursor, aligned or not.
 *
 * 64-bit numbers are int32 pairs; the bigint functions are for edges and allocate. A varint of 2^31 and more is a
 * double to the engine, and returning it may allocate 16 bytes.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Writes a safe integer, 0..2^53-1, in 1..8 bytes. @hot */
export function writeVarint(writer: BitWriter, value: number): void {
  if (value < 0x4000) {
    writeLastGroups(writer, value)
    return
  }
  // Split into 28 bits and the rest, so that only this one division is on doubles.
  const high = Math.floor(value / 0x1000_0000)
  const low = value - high * 0x1000_0000
  writeTwoGroups(writer, low & 0x3fff)
  if (high === 0) {
    writeLastGroups(writer, low >>> 14)
    return
  }
  writeTwoGroups(writer, low >>> 14)
  if (high >= 0x4000) writeTwoGroups(writer, high & 0x3fff)
  writeLastGroups(writer, high >= 0x4000 ? high >>> 14 : high)
}

/** Reads a safe integer, 0..2^53-1. @hot */
export function readVarint(reader: BitReader): number {
  let value = 0
  for (let unit = 1; unit <= 0x400_0000_0000; unit *= 0x4000) {
    // Past the end `peekBits` returns zeros, and skipping them fails.
    const two = reader.peekBits(16)
    const first = (two >>> 8) & 0x7f
    const second = two & 0x7f
    if (two < 0x8000) return endVarint(reader, value + first * unit, 8, unit > 1 ? first : 1)
    value += (first | (second << 7)) * unit
    if ((two & 0x80) === 0) return endVarint(reader, value, 16, second)
    reader.skipBits(16)
  }
  reader.fail()
  return 0
}

/** Writes an int32, zig-zag, in 1..5 bytes. @hot */
export function writeInt(writer: BitWriter, value: number): void {
  writeVarint(writer, ((value << 1) ^ (value >> 31)) >>> 0)
}

/** Reads an int32, zig-zag. @hot */
export function readInt(reader: BitReader): number {
  const folded = readVarint(reader)
  if (folded > 0xffff_ffff) {
    reader.fail()
    return 0
  }
  return (folded >>> 1) ^ -(folded & 1)
}

/** Writes a 64-bit integer given as two int32 halves, zig-zag, in 1..9 bytes. @hot */
export function writeLongPair(writer: BitWriter, lo: number, hi: number): void {
  const sign = hi >> 31
  let low = (lo << 1) ^ sign
  let high = ((hi << 1) | (lo >>> 31)) ^ sign
  for (let index = 0; index < 8; index++) {
    if (high === 0 && low >>> 0 < 0x80) {
      writer.writeBits(low, 8)
      return
    }
    writer.writeBits(low | 0x80, 8)
    low = (low >>> 7) | (high << 25)
    high >>>= 7
  }
  writer.writeBits(low, 8)
}

/** Reads a 64-bit integer as two int32 halves: the low one to `out[at]`, the high one to `out[at + 1]`. @hot */
export function readLongPair(reader: BitReader, out: Int32Array, at: number): void {
  let low = 0
  let high = 0
  let index = 0
  let byte = 0
  for (; index < 9; index++) {
    byte = reader.readBits(8)
    const group = index === 8 ? byte : byte & 0x7f
    const shift = index * 7
    if (shift < 32) low |= group << shift
    if (shift > 24) high |= shift < 32 ? group >>> (32 - shift) : group << (shift - 32)
    if (index === 8 || byte < 0x80) break
  }
  if (index > 0 && byte === 0) reader.fail()
  if (reader.failed) {
    out[at] = 0
    out[at + 1] = 0
    return
  }
  const sign = -(low & 1)
  out[at] = ((low >>> 1) | (high << 31)) ^ sign
  out[at + 1] = (high >>> 1) ^ sign
}

/** Two groups that are not the last: one field, and a small integer in every engine. */
function writeTwoGroups(writer: BitWriter, value: number): void {
  writer.writeBits(0x8080 | ((value & 0x7f) << 8) | (value >>> 7), 16)
}

/** The last one or two groups. */
function writeLastGroups(writer: BitWriter, value: number): void {
  if (value < 0x80) writer.writeBits(value, 8)
  else writer.writeBits(0x8000 | ((value & 0x7f) << 8) | (value >>> 7), 16)
}

/** Consumes the last `bits` bits. The last group of an over-long form is 0. */
function endVarint(reader: BitReader, value: number, bits: number, lastGroup: number): number {
  if (lastGroup === 0 || value > Number.MAX_SAFE_INTEGER) reader.fail()
  reader.skipBits(bits)
  return reader.failed ? 0 : value
}

const pair: Int32Array = new Int32Array(2)

/** Writes a 64-bit integer given as a bigint. Allocates: use the pair on hot paths. */
export function writeLong(writer: BitWriter, value: bigint): void {
  assert(BigInt.asIntN(64, value) === value, 'a long fits 64 bits')
  writeLongPair(writer, Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)))
}

/** Reads a 64-bit integer as a bigint. Allocates: use the pair on hot paths. */
export function readLong(reader: BitReader): bigint {
  readLongPair(reader, pair, 0)
  return (BigInt(pair[1]) << 32n) | BigInt(pair[0] >>> 0)
}
