/**
 * Leaves to bits and back: the innermost loop of every snapshot and input.
 *
 * One dense switch over small integers instead of a closure per leaf: calls stay monomorphic whatever the game's
 * schema, nothing is allocated, and no code is generated, so a page may forbid `eval`.
 * `docs/adr/0007-codecs-as-tables.md` has the measurement; test/reference/schema-reference.ts writes the same bits from
 * plain values one by one, and a test checks that both agree.
 *
 * Reading checks, and never throws: a lane above its maximum, a rotation that is not canonical, a float that is not
 * finite set the reader's sticky flag.
 *
 * It writes and reads all leaves that it is given, in groups or not: for whole objects see `row-delta.ts`.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { isCanonicalQuat } from '../bits/quantize.ts'
import { readInt, readLongPair, readVarint, writeInt, writeLongPair, writeVarint } from '../bits/varint.ts'
import { readBitsPair, writeBitsPair } from '../bits/wide-bits.ts'
import { readU16, readU32, readU64Pair, writeU16, writeU32, writeU64Pair } from '../bits/word.ts'
import type { Layout } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'
import * as table from './leaf-table.ts'
import type { ValueStore } from './values.ts'

// Constants of this module, for speed: see leaf-table.ts.
const { CODE_SHIFT, CODE_LANE, CODE_WIDTH, CODE_MAX } = table
const {
  angle: ANGLE,
  word: WORD,
  varint: VARINT,
  ref: REF,
  long: LONG,
  longWord: LONG_WORD,
  longBits: LONG_BITS,
  float: FLOAT,
  double: DOUBLE,
  quat: QUAT,
  heap: HEAP,
} = LEAF

/** Writes the leaves `first` to `end` of the row at `rows[at]`. @hot */
export function writeLeaves(
  writer: BitWriter, layout: Layout, first: number, end: number, rows: Int32Array, at: number, heap: ValueStore,
): void {
  const { codes } = layout.table
  for (let index = first; index < end; index++) {
    const code = index << CODE_SHIFT
    const lane = at + codes[code + CODE_LANE]
    if (codes[code] <= ANGLE) writer.writeBits(rows[lane], codes[code + CODE_WIDTH])
    else writeRare(writer, layout.leaves[index], rows, lane, heap)
  }
}

/**
 * Reads the leaves `first` to `end` into the row at `rows[at]`; on invalid input the reader has failed and the row is
 * unusable. @hot
 */
export function readLeaves(
  reader: BitReader, layout: Layout, first: number, end: number, rows: Int32Array, at: number, heap: ValueStore,
): void {
  const { codes } = layout.table
  for (let index = first; index < end; index++) {
    const code = index << CODE_SHIFT
    const lane = at + codes[code + CODE_LANE]
    if (codes[code] > ANGLE) {
      readRare(reader, layout.leaves[index], rows, lane, heap)
      continue
    }
    const value = reader.readBits(codes[code + CODE_WIDTH])
    if (value > codes[code + CODE_MAX] >>> 0) reader.fail()
    rows[lane] = value
  }
}

/** The kinds that are not a bit field of fixed width. */
function writeRare(writer: BitWriter, leaf: Leaf, rows: Int32Array, lane: number, heap: ValueStore): void {
  switch (leaf.kind) {
    case WORD:
      if (leaf.width === 16) writeU16(writer, rows[lane])
      else writeU32(writer, rows[lane])
      break
    case VARINT:
      writeInt(writer, rows[lane])
      break
    case REF:
      writeVarint(writer, rows[lane] >>> 0)
      break
    case LONG:
      writeLongPair(writer, rows[lane], rows[lane + 1])
      break
    case LONG_BITS:
      writeBitsPair(writer, rows[lane], rows[lane + 1], leaf.width)
      break
    case FLOAT:
      writeU32(writer, rows[lane])
      break
    case LONG_WORD:
    case DOUBLE:
      writeU64Pair(writer, rows[lane], rows[lane + 1])
      break
    case QUAT:
      writer.writeBits(rows[lane], 2)
      writer.writeBits(rows[lane + 1], leaf.width)
      writer.writeBits(rows[lane + 2], leaf.width)
      writer.writeBits(rows[lane + 3], leaf.width)
      break
    case HEAP:
      heap.write(writer, leaf, rows[lane])
      break
  }
}

function readRare(reader: BitReader, leaf: Leaf, rows: Int32Array, lane: number, heap: ValueStore): void {
  switch (leaf.kind) {
    case WORD:
      if (leaf.width === 32) rows[lane] = readU32(reader)
      else rows[lane] = leaf.isSigned ? (readU16(reader) << 16) >> 16 : readU16(reader)
      break
    case VARINT:
      rows[lane] = readInt(reader)
      break
    case REF: {
      const id = readVarint(reader)
      if (id > 0xffff_ffff) reader.fail()
      rows[lane] = id
      break
    }
    case LONG:
      readLongPair(reader, rows, lane)
      break
    case LONG_BITS:
      readBitsPair(reader, leaf.width, rows, lane)
      if (isAbove(leaf, rows[lane] >>> 0, rows[lane + 1] >>> 0)) reader.fail()
      break
    case FLOAT:
      rows[lane] = readU32(reader)
      if (!isCanonicalFloat(rows[lane], leaf.isFinite)) reader.fail()
      break
    case LONG_WORD:
      readU64Pair(reader, rows, lane)
      break
    case DOUBLE:
      readU64Pair(reader, rows, lane)
      if (!isCanonicalDouble(rows[lane], rows[lane + 1], leaf.isFinite)) reader.fail()
      break
    case QUAT:
      rows[lane] = reader.readBits(2)
      rows[lane + 1] = reader.readBits(leaf.width)
      rows[lane + 2] = reader.readBits(leaf.width)
      rows[lane + 3] = reader.readBits(leaf.width)
      if (!isCanonicalQuat(leaf.width, rows[lane], rows[lane + 1], rows[lane + 2], rows[lane + 3])) reader.fail()
      break
    case HEAP:
      rows[lane] = heap.read(reader, leaf)
      break
  }
}

function isAbove(leaf: Leaf, low: number, high: number): boolean {
  return high > leaf.maxHigh || (high === leaf.maxHigh && low > leaf.max)
}

/** Of all NaN patterns only one may be written: 0x7fc00000. */
function isCanonicalFloat(bits: number, mustBeFinite: boolean): boolean {
  if ((bits & 0x7f80_0000) !== 0x7f80_0000) return true
  return !mustBeFinite && ((bits & 0x007f_ffff) === 0 || bits === 0x7fc0_0000)
}

/** The only NaN pattern of a double: 0x7ff80000_00000000. */
function isCanonicalDouble(low: number, high: number, mustBeFinite: boolean): boolean {
  if ((high & 0x7ff0_0000) !== 0x7ff0_0000) return true
  return !mustBeFinite && low === 0 && ((high & 0x000f_ffff) === 0 || high === 0x7ff8_0000)
}
