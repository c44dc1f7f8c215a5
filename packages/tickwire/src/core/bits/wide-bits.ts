/**
 * Bit fields of up to 64 bits: one integer, most significant bit first, as two int32 halves. Full words are written and
 * read in 16-bit halves, for the reason given in `word.ts`.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Writes the low `width` bits (0..64) of the pair, highest first. @hot */
export function writeBitsPair(writer: BitWriter, lo: number, hi: number, width: number): void {
  if (width > 32) writeBits32(writer, hi, width - 32)
  writeBits32(writer, lo, width > 32 ? 32 : width)
}

/** Reads `width` bits (0..64): the low half to `out[at]`, the high one to `out[at + 1]`. @hot */
export function readBitsPair(reader: BitReader, width: number, out: Int32Array, at: number): void {
  if (reader.bitsLeft < width) reader.fail()
  out[at + 1] = 0
  if (width > 32) readBits32(reader, width - 32, out, at + 1)
  readBits32(reader, width > 32 ? 32 : width, out, at)
}

function writeBits32(writer: BitWriter, value: number, width: number): void {
  if (width > 16) writer.writeBits(value >>> 16, width - 16)
  writer.writeBits(value & 0xffff, width > 16 ? 16 : width)
}

function readBits32(reader: BitReader, width: number, out: Int32Array, at: number): void {
  const high = width > 16 ? reader.readBits(width - 16) : 0
  out[at] = (high << 16) | reader.readBits(width > 16 ? 16 : width)
}
