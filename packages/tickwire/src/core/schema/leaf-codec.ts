/**
 * Leaves to bits and back: the innermost loop of every snapshot and input.
 *
 * One dense switch over small integers instead of a closure a leaf: calls stay monomorphic whatever the game's
 * schema, nothing is allocated, and no code is generated, so a page may forbid `eval`.
 * `docs/adr/0007-codecs-as-tables.md` has the measurement; test/reference/schema-reference.ts writes the same bits
 * from plain values one by one, and a test holds the two together.
 *
 * Reading checks, and never throws: a lane above its maximum, a rotation that is not canonical, a float that is not
 * finite set the reader's sticky flag.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { isCanonicalQuat } from '../bits/quantize.ts'
import { readInt, readLongPair, readVarint, writeInt, writeLongPair, writeVarint } from '../bits/varint.ts'
import { LEAF, type Leaf } from './leaf.ts'
import type { ValueHeap } from './value-heap.ts'

/** Writes `count` leaves of the row at `rows[at]`. @hot */
export function writeLeaves(
  writer: BitWriter, leaves: readonly Leaf[], first: number, count: number, rows: Int32Array, at: number, heap: ValueHeap,
): void {
  for (let index = first; index < first + count; index++) {
    const leaf = leaves[index]
    const lane = at + leaf.lane
    switch (leaf.kind) {
      case LEAF.bits:
      case LEAF.fixed:
      case LEAF.angle:
        writer.writeBits(rows[lane], leaf.width)
        break
      case LEAF.word:
        if (leaf.width === 16) writer.writeBits(swap16(rows[lane]), 16)
        else writer.writeBits(swap32(rows[lane]), 32)
        break
      case LEAF.varint:
        writeInt(writer, rows[lane])
        break
      case LEAF.ref:
        writeVarint(writer, rows[lane] >>> 0)
        break
      case LEAF.long:
        writeLongPair(writer, rows[lane], rows[lane + 1])
        break
      case LEAF.longBits:
        if (leaf.width > 32) writer.writeBits(rows[lane + 1], leaf.width - 32)
        writer.writeBits(rows[lane], leaf.width > 32 ? 32 : leaf.width)
        break
      case LEAF.float:
        writer.writeBits(swap32(rows[lane]), 32)
        break
      case LEAF.longWord:
      case LEAF.double:
        writer.writeBits(swap32(rows[lane]), 32)
        writer.writeBits(swap32(rows[lane + 1]), 32)
        break
      case LEAF.quat:
        writer.writeBits(rows[lane], 2)
        writer.writeBits(rows[lane + 1], leaf.width)
        writer.writeBits(rows[lane + 2], leaf.width)
        writer.writeBits(rows[lane + 3], leaf.width)
        break
      case LEAF.heap:
        heap.write(writer, leaf, rows[lane])
        break
    }
  }
}

/** Reads `count` leaves into the row at `rows[at]`; on nonsense the reader has failed and the row is worthless. @hot */
export function readLeaves(
  reader: BitReader, leaves: readonly Leaf[], first: number, count: number, rows: Int32Array, at: number, heap: ValueHeap,
): void {
  for (let index = first; index < first + count; index++) {
    const leaf = leaves[index]
    const lane = at + leaf.lane
    switch (leaf.kind) {
      case LEAF.bits:
      case LEAF.fixed:
      case LEAF.angle: {
        const value = reader.readBits(leaf.width)
        if (value > leaf.max) reader.fail()
        rows[lane] = value
        break
      }
      case LEAF.word:
        if (leaf.width === 32) rows[lane] = swap32(reader.readBits(32))
        else if (leaf.isSigned) rows[lane] = (swap16(reader.readBits(16)) << 16) >> 16
        else rows[lane] = swap16(reader.readBits(16))
        break
      case LEAF.varint:
        rows[lane] = readInt(reader)
        break
      case LEAF.ref: {
        const id = readVarint(reader)
        if (id > 0xffff_ffff) reader.fail()
        rows[lane] = id
        break
      }
      case LEAF.long:
        readLongPair(reader, rows, lane)
        break
      case LEAF.longBits:
        readLongBits(reader, leaf, rows, lane)
        break
      case LEAF.float:
        rows[lane] = swap32(reader.readBits(32))
        if (!isCanonicalFloat(rows[lane], leaf.isFinite)) reader.fail()
        break
      case LEAF.longWord:
        rows[lane] = swap32(reader.readBits(32))
        rows[lane + 1] = swap32(reader.readBits(32))
        break
      case LEAF.double:
        rows[lane] = swap32(reader.readBits(32))
        rows[lane + 1] = swap32(reader.readBits(32))
        if (!isCanonicalDouble(rows[lane], rows[lane + 1], leaf.isFinite)) reader.fail()
        break
      case LEAF.quat:
        readQuat(reader, leaf, rows, lane)
        break
      case LEAF.heap:
        rows[lane] = heap.read(reader, leaf)
        break
    }
  }
}

function readLongBits(reader: BitReader, leaf: Leaf, rows: Int32Array, lane: number): void {
  const high = leaf.width > 32 ? reader.readBits(leaf.width - 32) : 0
  const low = reader.readBits(leaf.width > 32 ? 32 : leaf.width)
  if (high > leaf.maxHigh || (high === leaf.maxHigh && low > leaf.max)) reader.fail()
  rows[lane] = low
  rows[lane + 1] = high
}

function readQuat(reader: BitReader, leaf: Leaf, rows: Int32Array, lane: number): void {
  const largest = reader.readBits(2)
  const a = reader.readBits(leaf.width)
  const b = reader.readBits(leaf.width)
  const c = reader.readBits(leaf.width)
  if (!isCanonicalQuat(leaf.width, largest, a, b, c)) reader.fail()
  rows[lane] = largest
  rows[lane + 1] = a
  rows[lane + 2] = b
  rows[lane + 3] = c
}

/** Of all patterns that mean "not a number" one may be written: 0x7fc00000. */
function isCanonicalFloat(bits: number, mustBeFinite: boolean): boolean {
  if ((bits & 0x7f80_0000) !== 0x7f80_0000) return true
  return !mustBeFinite && ((bits & 0x007f_ffff) === 0 || bits === 0x7fc0_0000)
}

/** The one pattern for a double that is not a number: 0x7ff80000_00000000. */
function isCanonicalDouble(low: number, high: number, mustBeFinite: boolean): boolean {
  if ((high & 0x7ff0_0000) !== 0x7ff0_0000) return true
  return !mustBeFinite && low === 0 && ((high & 0x000f_ffff) === 0 || high === 0x7ff8_0000)
}

/** Little-endian bytes at the cursor are one big-endian bit field with its bytes turned round. */
function swap32(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}

function swap16(word: number): number {
  return ((word & 0xff) << 8) | ((word >>> 8) & 0xff)
}
