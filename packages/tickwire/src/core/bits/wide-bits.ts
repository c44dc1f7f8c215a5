/** Bit fields of up to 64 bits: one integer, most significant bit first, as two int32 halves. */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** Writes the low `width` bits (0..64) of the pair, highest first. @hot */
export function writeBitsPair(writer: BitWriter, lo: number, hi: number, width: number): void {
  if (width > 32) {
    writer.writeBits(hi, width - 32)
    writer.writeBits(lo, 32)
  } else {
    writer.writeBits(lo, width)
  }
}

/** Reads `width` bits (0..64): the low half to `out[at]`, the high one to `out[at + 1]`. @hot */
export function readBitsPair(reader: BitReader, width: number, out: Int32Array, at: number): void {
  if (reader.bitsLeft < width) reader.fail()
  out[at + 1] = width > 32 ? reader.readBits(width - 32) : 0
  out[at] = reader.readBits(width > 32 ? 32 : width)
}
