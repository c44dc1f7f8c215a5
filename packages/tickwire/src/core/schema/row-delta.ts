/**
 * Rows against rows: the delta that snapshots and inputs are made of.
 *
 *   +------------------------------+----------------------------------------------+
 *   | mask, one bit a member       | members whose bit is set, in order           |
 *   +------------------------------+----------------------------------------------+
 *
 * Which members there are depends on whom it is for (`Layout.masks`). A bit is set exactly when the member differs
 * from the baseline; the reader refuses a bit set for nothing, so that one change has one encoding.
 *
 * Afterwards `mask.dirty` says which members changed, on either side.
 *
 * Nothing here knows ticks, objects or packets.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Member } from './layout.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import { OP, OP_LANE, OP_LANE_END, OP_LEAF, OP_LEAF_END, OP_MAX, OP_SHIFT, OP_WIDTH, type Mask } from './mask.ts'
import type { Schema } from './schema.ts'
import type { ValueStore } from './values.ts'

/** Writes what turns the baseline into the row, for one mask of the schema. Returns false if that is nothing. @hot */
export function writeDelta(
  writer: BitWriter, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): boolean {
  const isChanged = diffMask(mask, rows, at, baseRows, baseAt)
  const { members, ops, dirty } = mask
  for (let word = 0; word < dirty.length; word++) {
    const width = Math.min(32, members.length - (word << 5))
    writer.writeBits(dirty[word] >>> (32 - width), width)
  }
  if (!isChanged) return false
  for (let word = 0; word < dirty.length; word++) {
    for (let bits = dirty[word]; bits !== 0; ) {
      const bit = Math.clz32(bits)
      bits ^= 0x8000_0000 >>> bit
      const index = (word << 5) + bit
      const op = index << OP_SHIFT
      if (ops[op] === OP.number) {
        writer.writeBits(rows[at + ops[op + OP_LANE]], ops[op + OP_WIDTH])
      } else if (ops[op] === OP.leaves) {
        writeLeaves(writer, schema, ops[op + OP_LEAF], ops[op + OP_LEAF_END], rows, at, heap)
      } else if (ops[op] === OP.masked) {
        writeDelta(writer, schema, members[index].inner, rows, at, baseRows, baseAt, heap)
      } else if (ops[op] === OP.group) {
        const isHere = rows[at + ops[op + OP_LANE]]
        writer.writeBits(isHere, 1)
        if (isHere !== 0) writeDelta(writer, schema, members[index].inner, rows, at, baseRows, baseAt, heap)
      }
    }
  }
  return true
}

/**
 * Reads a delta over the baseline into the row: lanes outside the mask are the baseline's. On nonsense the reader has
 * failed and the row is worthless. Rows may share one array, not one place. @hot
 */
export function readDelta(
  reader: BitReader, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  for (let lane = 0; lane < schema.laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
  readMembers(reader, schema, mask, rows, at, baseRows, baseAt, heap)
}

/** Finds the members of the mask that differ: `mask.dirty` says which. Returns whether any does. @hot */
export function diffMask(mask: Mask, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number): boolean {
  const { dirty, laneBits, wordLanes } = mask
  let any = 0
  for (let word = 0; word < dirty.length; word++) {
    const end = wordLanes[word + 1]
    let bits = 0
    for (let lane = wordLanes[word]; lane < end; lane++) {
      if (rows[at + lane] !== baseRows[baseAt + lane]) bits |= laneBits[lane]
    }
    dirty[word] = bits
    any |= bits
  }
  return any !== 0
}

/** @hot */
function readMembers(
  reader: BitReader, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { members, ops, dirty } = mask
  for (let word = 0; word < dirty.length; word++) {
    const width = Math.min(32, members.length - (word << 5))
    dirty[word] = reader.readBits(width) << (32 - width)
  }
  for (let word = 0; word < dirty.length; word++) {
    for (let bits = dirty[word]; bits !== 0; ) {
      const bit = Math.clz32(bits)
      bits ^= 0x8000_0000 >>> bit
      const index = (word << 5) + bit
      const op = index << OP_SHIFT
      const lane = ops[op + OP_LANE]
      if (ops[op] === OP.number) {
        const value = reader.readBits(ops[op + OP_WIDTH])
        if (value > ops[op + OP_MAX] >>> 0 || (value | 0) === baseRows[baseAt + lane]) reader.fail()
        rows[at + lane] = value
      } else if (ops[op] === OP.flag) {
        rows[at + lane] ^= 1
      } else {
        readMember(reader, schema, members[index], rows, at, baseRows, baseAt, heap)
        if (!differs(rows, at, baseRows, baseAt, lane, ops[op + OP_LANE_END])) reader.fail()
      }
      if (reader.failed) return
    }
  }
}

/** Reads a member that is more than one number. */
function readMember(
  reader: BitReader, schema: Schema, member: Member,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { kind, firstLeaf, leafCount, lane, laneCount, inner } = member
  if (kind === 'plain') {
    readLeaves(reader, schema, firstLeaf, firstLeaf + leafCount, rows, at, heap)
  } else if (kind === 'masked') {
    readMembers(reader, schema, inner, rows, at, baseRows, baseAt, heap)
  } else {
    const isHere = reader.readBits(1)
    rows[at + lane] = isHere
    if (isHere !== 0) {
      readMembers(reader, schema, inner, rows, at, baseRows, baseAt, heap)
      return
    }
    // A group that left takes its values along: whoever comes back starts afresh.
    for (let gone = lane + 1; gone < lane + laneCount; gone++) rows[at + gone] = schema.initialRow[gone]
  }
}

function differs(
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, lane: number, laneEnd: number,
): boolean {
  for (let each = lane; each < laneEnd; each++) if (rows[at + each] !== baseRows[baseAt + each]) return true
  return false
}
