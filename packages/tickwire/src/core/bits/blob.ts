/**
 * Raw bytes, prefixed by their count: `varint count | bytes`, at the cursor, aligned or not.
 *
 * Readers refuse a count above the field's maximum or above the remaining bytes, before anything is allocated for it.
 */

import { assert } from '../base/assert.ts'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readVarint, writeVarint } from './varint.ts'

/** Writes the count and the bytes. @hot */
export function writeBytes(writer: BitWriter, bytes: Uint8Array, maxBytes: number = VALUE_BYTES_MAX): void {
  assert(bytes.length <= maxBytes, 'bytes are no more than their field allows')
  writeVarint(writer, bytes.length)
  writer.copyBits(bytes, 0, bytes.length * 8)
}

/** Reads at most `maxBytes` bytes into a new array; empty once failed. */
export function readBytes(reader: BitReader, maxBytes: number = VALUE_BYTES_MAX): Uint8Array {
  const out = new Uint8Array(readCount(reader, maxBytes))
  take(reader, out, 0, out.length)
  return out
}

/** Reads at most `maxBytes` bytes to `out[at..]` and returns how many; 0 once failed. @hot */
export function readBytesInto(reader: BitReader, out: Uint8Array, at: number, maxBytes: number): number {
  assert(at + maxBytes <= out.length, 'there is room for the longest value')
  const count = readCount(reader, maxBytes)
  take(reader, out, at, count)
  return count
}

function readCount(reader: BitReader, maxBytes: number): number {
  const count = readVarint(reader)
  if (count <= maxBytes && count * 8 <= reader.bitsLeft) return count
  reader.fail()
  return 0
}

function take(reader: BitReader, out: Uint8Array, at: number, count: number): void {
  let index = at
  const end = at + count
  // Two bytes per step and not four: see `word.ts`.
  for (; end - index >= 2; index += 2) {
    const two = reader.readBits(16)
    out[index] = two >>> 8
    out[index + 1] = two
  }
  if (index < end) out[index] = reader.readBits(8)
}
