/**
 * Rows against rows: the delta that snapshots and inputs are made of, and the questions asked of two rows.
 *
 *   +------------------------------+----------------------------------------------+
 *   | mask, one bit a member       | members whose bit is set, in order           |
 *   +------------------------------+----------------------------------------------+
 *
 * Which members there are depends on whom it is for (`Layout.masks`). A bit is set exactly when the member differs
 * from the baseline; the reader refuses a bit set for nothing, so that one change has one encoding.
 *
 * Nothing here knows ticks, objects or packets.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { dequantizeQuat } from '../bits/quantize.ts'
import type { Layout, Mask, Member } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import type { ValueHeap } from './value-heap.ts'

/** Writes what turns the baseline into the row, for one mask of the layout. Returns false if that is nothing. @hot */
export function writeDelta(
  writer: BitWriter, layout: Layout, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueHeap,
): boolean {
  const { members, dirty } = mask
  const isChanged = diffMask(mask, rows, at, baseRows, baseAt, dirty)
  writeMask(writer, members.length, dirty)
  for (let index = 0; index < members.length; index++) {
    if (!isMarked(dirty, index)) continue
    const member = members[index]
    if (member.kind === 'plain') {
      writeLeaves(writer, layout.leaves, member.firstLeaf, member.leafCount, rows, at, heap)
    } else if (member.kind === 'masked') {
      writeDelta(writer, layout, member.inner, rows, at, baseRows, baseAt, heap)
    } else if (member.kind === 'group') {
      writer.writeBits(rows[at + member.lane], 1)
      if (rows[at + member.lane] !== 0) writeDelta(writer, layout, member.inner, rows, at, baseRows, baseAt, heap)
    }
  }
  return isChanged
}

/**
 * Reads a delta over the baseline into the row: lanes outside the mask are the baseline's. `initial` is the row of a
 * fresh object. On nonsense the reader has failed and the row is worthless. Rows may share one array, not one place. @hot
 */
export function readDelta(
  reader: BitReader, layout: Layout, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, initial: Int32Array, heap: ValueHeap,
): void {
  for (let lane = 0; lane < layout.laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
  readMembers(reader, layout, mask, rows, at, baseRows, baseAt, initial, heap)
}

function readMembers(
  reader: BitReader, layout: Layout, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, initial: Int32Array, heap: ValueHeap,
): void {
  const { members, dirty } = mask
  readMask(reader, members.length, dirty)
  for (let index = 0; index < members.length; index++) {
    if (!isMarked(dirty, index)) continue
    const member = members[index]
    if (member.kind === 'flag') {
      rows[at + member.lane] ^= 1
      continue
    }
    if (member.kind === 'plain') readLeaves(reader, layout.leaves, member.firstLeaf, member.leafCount, rows, at, heap)
    else if (member.kind === 'masked') readMembers(reader, layout, member.inner, rows, at, baseRows, baseAt, initial, heap)
    else readGroup(reader, layout, member, rows, at, baseRows, baseAt, initial, heap)
    if (reader.failed) return
    if (!differs(rows, at, baseRows, baseAt, member)) reader.fail()
  }
}

function readGroup(
  reader: BitReader, layout: Layout, member: Member,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, initial: Int32Array, heap: ValueHeap,
): void {
  const isHere = reader.readBits(1)
  rows[at + member.lane] = isHere
  if (isHere !== 0) {
    readMembers(reader, layout, member.inner, rows, at, baseRows, baseAt, initial, heap)
    return
  }
  // A group that left takes its values along: whoever comes back starts afresh.
  for (let lane = member.lane + 1; lane < member.lane + member.laneCount; lane++) rows[at + lane] = initial[lane]
}

/** Marks in `dirty` the members of the mask that differ, highest bit first. Returns whether any does. @hot */
export function diffMask(
  mask: Mask, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, dirty: Uint32Array,
): boolean {
  const { members } = mask
  let any = 0
  for (let word = 0; word * 32 < members.length; word++) {
    const end = Math.min(members.length, word * 32 + 32)
    let bits = 0
    for (let index = word * 32; index < end; index++) {
      const member = members[index]
      const isDirty = member.laneCount === 1
        ? rows[at + member.lane] !== baseRows[baseAt + member.lane]
        : differs(rows, at, baseRows, baseAt, member)
      if (isDirty) bits |= 0x8000_0000 >>> (index & 31)
    }
    dirty[word] = bits
    any |= bits
  }
  return any !== 0
}

/** The first leaf by which two rows differ to prediction, its tolerance granted; undefined if none does. */
export function firstDifference(
  layout: Layout, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number,
): Leaf | undefined {
  for (const leaf of layout.leaves) if (!isLeafClose(leaf, rows, at, otherRows, otherAt)) return leaf
  return undefined
}

/** Whether two rows are equal, sub-step noise aside. @hot */
export function isClose(
  layout: Layout, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number,
): boolean {
  const { leaves } = layout
  for (let index = 0; index < leaves.length; index++) {
    if (!isLeafClose(leaves[index], rows, at, otherRows, otherAt)) return false
  }
  return true
}

function isLeafClose(leaf: Leaf, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number): boolean {
  const a = at + leaf.lane
  const b = otherAt + leaf.lane
  if (leaf.kind === LEAF.fixed) return Math.abs((rows[a] >>> 0) - (otherRows[b] >>> 0)) <= leaf.tolerance
  if (leaf.kind === LEAF.angle) {
    // Round the turn: the last step and the first are neighbours.
    const apart = (rows[a] - otherRows[b]) & leaf.max
    return apart <= leaf.tolerance || leaf.max + 1 - apart <= leaf.tolerance
  }
  if (leaf.kind === LEAF.quat) return isRotationClose(leaf, rows, a, otherRows, b)
  for (let lane = 0; lane < leaf.laneCount; lane++) if (rows[a + lane] !== otherRows[b + lane]) return false
  return true
}

/**
 * With the same component dropped each code may be one step off. With another dropped the two largest components are
 * nearly equal, and one rounding chose between them: the rotations themselves are compared, q and -q being one.
 */
function isRotationClose(leaf: Leaf, rows: Int32Array, a: number, otherRows: Int32Array, b: number): boolean {
  if (rows[a] === otherRows[b]) {
    for (let lane = 1; lane <= 3; lane++) if (Math.abs(rows[a + lane] - otherRows[b + lane]) > leaf.tolerance) return false
    return true
  }
  dequantizeQuat(leaf.width, rows, a, rotations, 0)
  dequantizeQuat(leaf.width, otherRows, b, rotations, 4)
  let dot = 0
  for (let axis = 0; axis < 4; axis++) dot += rotations[axis] * rotations[4 + axis]
  const sign = dot < 0 ? -1 : 1
  // A rebuilt component moves by up to the sum of the steps of the other three.
  const stepMax = 4 * leaf.tolerance * Math.SQRT1_2 / (2 ** (leaf.width - 1) - 1)
  for (let axis = 0; axis < 4; axis++) if (Math.abs(rotations[axis] - sign * rotations[4 + axis]) > stepMax) return false
  return true
}

const rotations = new Float64Array(8)

function differs(rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, member: Member): boolean {
  const end = member.lane + member.laneCount
  for (let lane = member.lane; lane < end; lane++) if (rows[at + lane] !== baseRows[baseAt + lane]) return true
  return false
}

/** As in `dirty`, the first member has the highest bit: on the wire a mask lists members from left to right. */
function writeMask(writer: BitWriter, count: number, dirty: Uint32Array): void {
  for (let word = 0; word * 32 < count; word++) {
    const width = Math.min(32, count - word * 32)
    writer.writeBits(dirty[word] >>> (32 - width), width)
  }
}

function readMask(reader: BitReader, count: number, dirty: Uint32Array): void {
  for (let word = 0; word * 32 < count; word++) {
    const width = Math.min(32, count - word * 32)
    dirty[word] = reader.readBits(width) << (32 - width)
  }
}

/** Whether member `index` is marked. A mask word read as int32 is negative when its highest bit is set. */
function isMarked(dirty: Uint32Array, index: number): boolean {
  return dirty[index >>> 5] << (index & 31) < 0
}
