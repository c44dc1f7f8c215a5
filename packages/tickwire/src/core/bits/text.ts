/**
 * Text fields.
 *
 * ```
 * string        varint size | UTF-8                                 1 byte of size up to 127 bytes of text
 * fixed string  size        | UTF-8 | zeros            exactly N bytes; size is 1 byte, 2 (low first) if N > 256
 * ```
 *
 * Readers refuse sizes above the field's maximum or the remaining bytes, malformed UTF-8 and non-zero padding. Writers
 * assert that the text fits: the caller must truncate it, because only the caller knows where.
 */

import { assert } from '../base/assert.ts'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from './utf8.ts'
import { readVarint, writeVarint } from './varint.ts'
import { readU16, writeU16 } from './word.ts'

/** Writes the size and the bytes of `text`. */
export function writeString(writer: BitWriter, text: string, maxBytes: number = VALUE_BYTES_MAX): void {
  const size = utf8Size(text)
  assert(size <= maxBytes, 'a string is no longer than its field allows')
  writeVarint(writer, size)
  writeUtf8(writer, text)
}

/** Reads text of at most `maxBytes` bytes; empty once failed. */
export function readString(reader: BitReader, maxBytes: number = VALUE_BYTES_MAX): string {
  const size = readVarint(reader)
  if (size > maxBytes) reader.fail()
  return readUtf8(reader, size)
}

/** Bytes of text that a fixed string of `bytes` bytes can hold. */
export function fixedStringRoom(bytes: number): number {
  return bytes > 256 ? bytes - 2 : bytes - 1
}

/** Writes `text` in exactly `bytes` bytes. */
export function writeFixedString(writer: BitWriter, text: string, bytes: number): void {
  const size = utf8Size(text)
  const room = fixedStringRoom(bytes)
  assert(size <= room, 'a fixed string fits its bytes')
  if (bytes > 256) writeU16(writer, size)
  else writer.writeBits(size, 8)
  writeUtf8(writer, text)
  for (let filled = size; filled < room; filled++) writer.writeBits(0, 8)
}

/** Reads text from exactly `bytes` bytes; empty once failed. */
export function readFixedString(reader: BitReader, bytes: number): string {
  const size = bytes > 256 ? readU16(reader) : reader.readBits(8)
  const room = fixedStringRoom(bytes)
  if (size > room) reader.fail()
  const text = readUtf8(reader, size)
  for (let filled = size; filled < room; filled++) {
    if (reader.readBits(8) !== 0) reader.fail()
  }
  return reader.failed ? '' : text
}
