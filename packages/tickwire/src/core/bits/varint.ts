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
 * Invariant: one number has one spelling. Readers refuse a last byte of 0 after the first (over-long), and a value
 * above the type's range. Bytes stand at the cursor, aligned or not.
 *
 * 64-bit numbers are int32 pairs; the bigint forms are for the edges and allocate.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Writes a safe integer, 0..2^53-1, in 1..8 bytes. @hot */
export function writeVarint(writer: BitWriter, value: number): void {
  if (value < 0x1000_0000) {
    writeGroups(writer, value)
    return
  }
  // Four groups fill a word; what is left has 25 bits at most.
  const low = value % 0x1000_0000
  writer.writeBits(spread(low) | 0x8080_8080, 32)
  writeGroups(writer, (value - low) / 0x1000_0000)
}

/** Reads a safe integer, 0..2^53-1. @hot */
export function readVarint(reader: BitReader): number {
  const bytes = reader.peekBits(32)
  if (bytes < 0x8000_0000) {
    reader.skipBits(8)
    return reader.failed ? 0 : bytes >>> 24
  }
  // The first byte without its high bit is the last one. Past the end there are zeros, and skipping them fails.
  const ends = ~bytes & 0x8080_8080
  if (ends === 0) return readLongVarint(reader)
  const count = (Math.clz32(ends) >>> 3) + 1
  const value = gather(bytes) & ((1 << (7 * count)) - 1)
  // The last group of an over-long form is 0.
  if (value >>> (7 * count - 7) === 0) reader.fail()
  reader.skipBits(8 * count)
  return reader.failed ? 0 : value
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

/** Writes 0..2^28-1 in 1..4 bytes, as one field. */
function writeGroups(writer: BitWriter, value: number): void {
  if (value < 0x80) writer.writeBits(value, 8)
  else if (value < 0x4000) writer.writeBits((spread(value) | 0x8000_0000) >>> 16, 16)
  else if (value < 0x20_0000) writer.writeBits((spread(value) | 0x8080_0000) >>> 8, 24)
  else writer.writeBits(spread(value) | 0x8080_8000, 32)
}

/** Five to eight bytes: four that go on, then the rest. */
function readLongVarint(reader: BitReader): number {
  const low = gather(reader.readBits(32))
  const bytes = reader.peekBits(32)
  const ends = ~bytes & 0x8080_8080
  const count = (Math.clz32(ends) >>> 3) + 1
  const high = gather(bytes) & (count === 4 ? 0xfff_ffff : (1 << (7 * count)) - 1)
  // 2^53 - 1 has 25 bits above its low 28.
  if (ends === 0 || high >>> (7 * count - 7) === 0 || high >= 0x200_0000) reader.fail()
  reader.skipBits(8 * count)
  return reader.failed ? 0 : high * 0x1000_0000 + low
}

/** The four groups of seven bits of a 28-bit value, lowest group in the highest byte. */
function spread(value: number): number {
  return ((value & 0x7f) << 24) | ((value & 0x3f80) << 9) | ((value >>> 6) & 0x7f00) | (value >>> 21)
}

/** The inverse of `spread`; high bits of the bytes are ignored. */
function gather(bytes: number): number {
  return ((bytes >>> 24) & 0x7f) | ((bytes >>> 9) & 0x3f80) | ((bytes & 0x7f00) << 6) | ((bytes & 0x7f) << 21)
}

const pair: Int32Array = new Int32Array(2)

/** Writes a 64-bit integer given as a bigint. An edge form: use the pair on hot paths. */
export function writeLong(writer: BitWriter, value: bigint): void {
  assert(BigInt.asIntN(64, value) === value, 'a long fits 64 bits')
  writeLongPair(writer, Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)))
}

/** Reads a 64-bit integer as a bigint. An edge form: use the pair on hot paths. */
export function readLong(reader: BitReader): bigint {
  readLongPair(reader, pair, 0)
  return (BigInt(pair[1]) << 32n) | BigInt(pair[0] >>> 0)
}
