/** The two smallest fields: a boolean in one bit, a byte in eight. */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'

/** One bit. @hot */
export function writeBool(writer: BitWriter, value: boolean): void {
  writer.writeBits(value ? 1 : 0, 1)
}

/** One bit. @hot */
export function readBool(reader: BitReader): boolean {
  return reader.readBits(1) !== 0
}

/** The low eight bits of `value`. @hot */
export function writeByte(writer: BitWriter, value: number): void {
  writer.writeBits(value, 8)
}

/** 0..255. @hot */
export function readByte(reader: BitReader): number {
  return reader.readBits(8)
}
