/**
 * Whole words of 16, 32 and 64 bits, low byte first, at the cursor, aligned or not.
 *
 * ```
 * writeU16(0x1234)    00110100 | 00010010
 * ```
 *
 * Bit fields are most significant bit first; words are not, so that an aligned word is what a DataView, a C struct
 * or a packet dissector reads there. 64-bit words are int32 pairs.
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
  writer.writeBits(swap(value), 32)
}

/** 0..2^32-1; `| 0` makes it an int32. @hot */
export function readU32(reader: BitReader): number {
  return swap(reader.readBits(32)) >>> 0
}

/** 64 bits given as two int32 halves. @hot */
export function writeU64Pair(writer: BitWriter, lo: number, hi: number): void {
  writer.writeBits(swap(lo), 32)
  writer.writeBits(swap(hi), 32)
}

/** 64 bits as two int32 halves: the low one to `out[at]`, the high one to `out[at + 1]`. @hot */
export function readU64Pair(reader: BitReader, out: Int32Array, at: number): void {
  // One check for both halves: a cut word is nothing, not a low half.
  if (reader.bitsLeft < 64) reader.fail()
  out[at] = swap(reader.readBits(32))
  out[at + 1] = swap(reader.readBits(32))
}

/** Reverses the four bytes of a word. */
function swap(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}
