/**
 * Whole words of 16, 32 and 64 bits, low byte first, at the cursor, aligned or not.
 *
 * ```
 * writeU16(0x1234)    00110100 | 00010010
 * ```
 *
 * Bit fields are most significant bit first; words are not, so that an aligned word is what a DataView, a C struct
 * or a packet dissector reads there. 64-bit words are int32 pairs.
 *
 * Words are written and read in halves. A number beyond an engine's small integers (2^31 in Node, 2^30 in Chrome) that
 * is passed through a call is allocated when the engine does not inline the call. Half a word never is.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** The low 16 bits of `value`. @hot */
export function writeU16(writer: BitWriter, value: number): void {
  writer.writeBits(((value & 0xff) << 8) | ((value >>> 8) & 0xff), 16)
}

/** 0..65,535. @hot */
export function readU16(reader: BitReader): number {
  const swapped = reader.readBits(16)
  return ((swapped & 0xff) << 8) | (swapped >>> 8)
}

/** The low 32 bits of `value`, signed or not. @hot */
export function writeU32(writer: BitWriter, value: number): void {
  writeU16(writer, value & 0xffff)
  writeU16(writer, value >>> 16)
}

/** 0..2^32-1; `| 0` makes it an int32. @hot */
export function readU32(reader: BitReader): number {
  // One check for both halves: of an incomplete word nothing is read, not even its low half.
  if (reader.bitsLeft < 32) reader.fail()
  const low = readU16(reader)
  return (low | (readU16(reader) << 16)) >>> 0
}

/** 64 bits given as two int32 halves. @hot */
export function writeU64Pair(writer: BitWriter, lo: number, hi: number): void {
  writeU32(writer, lo)
  writeU32(writer, hi)
}

/** 64 bits as two int32 halves: the low one to `out[at]`, the high one to `out[at + 1]`. @hot */
export function readU64Pair(reader: BitReader, out: Int32Array, at: number): void {
  if (reader.bitsLeft < 64) reader.fail()
  readU32Into(reader, out, at)
  readU32Into(reader, out, at + 1)
}

/** 32 bits as an int32 to `out[at]`. @hot */
export function readU32Into(reader: BitReader, out: Int32Array, at: number): void {
  if (reader.bitsLeft < 32) reader.fail()
  const low = readU16(reader)
  out[at] = low | (readU16(reader) << 16)
}
