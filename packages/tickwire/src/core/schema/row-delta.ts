/**
 * The delta of two rows: snapshots and inputs are made of it.
 *
 *   +------------------------------+----------------------------------------------+
 *   | mask, one bit per member     | members whose bit is set, in order           |
 *   +------------------------------+----------------------------------------------+
 *
 * The members depend on the audience (`Layout.masks`). A bit is set exactly when the member differs from the baseline;
 * the reader refuses a bit that is set without a difference, so that a change has one encoding.
 *
 * Afterwards `mask.dirty` says which members changed, on either side.
 *
 * Each direction has two code paths to the same bits: a fast one for masks of at most 32 members, which is nearly all
 * of them, and within it for members of one number; and `row-members.ts` for everything else. Nothing here knows ticks,
 * objects or packets.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { OP, SLOT, type Mask } from './mask.ts'
import { readMember, readMembers, writeMember, writeMembers } from './row-members.ts'
import type { Schema } from './schema.ts'
import type { ValueStore } from './values.ts'

// Constants of this module, for speed: see leaf-table.ts.
const { flag: FLAG, number: NUMBER } = OP
const { shift: SHIFT, lane: LANE, width: WIDTH, max: MAX } = SLOT

/**
 * Writes the difference between the baseline and the row, for one mask of the schema. Returns false if there is none.
 * @hot
 */
export function writeDelta(
  writer: BitWriter, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): boolean {
  const { width, ops, laneBits, wordLanes, dirty } = mask
  if (width > 32) return writeMembers(writer, schema, mask, rows, at, baseRows, baseAt, heap)
  const laneEnd = wordLanes[1]
  let bits = 0
  for (let lane = wordLanes[0]; lane < laneEnd; lane++) {
    if (rows[at + lane] !== baseRows[baseAt + lane]) bits |= laneBits[lane]
  }
  dirty[0] = bits
  writer.writeBits(bits >>> (32 - width), width)
  if (bits === 0) return false
  do {
    const index = Math.clz32(bits)
    bits ^= 0x8000_0000 >>> index
    const op = index << SHIFT
    if (ops[op] === NUMBER) writer.writeBits(rows[at + ops[op + LANE]], ops[op + WIDTH])
    else if (ops[op] !== FLAG) writeMember(writer, schema, mask.members[index], rows, at, baseRows, baseAt, heap)
  } while (bits !== 0)
  return true
}

/**
 * Reads a delta against the baseline into the row: lanes outside the mask are the baseline's. On invalid input the
 * reader has failed and the row is unusable. The rows may be in the same array, but must not overlap. @hot
 */
export function readDelta(
  reader: BitReader, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { laneCount } = schema
  const { width, ops, dirty } = mask
  for (let lane = 0; lane < laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
  if (width > 32) {
    readMembers(reader, schema, mask, rows, at, baseRows, baseAt, heap)
    return
  }
  let bits = reader.readBits(width) << (32 - width)
  dirty[0] = bits
  while (bits !== 0) {
    const index = Math.clz32(bits)
    bits ^= 0x8000_0000 >>> index
    const op = index << SHIFT
    if (ops[op] === NUMBER) {
      const lane = ops[op + LANE]
      const value = reader.readBits(ops[op + WIDTH])
      if (value > ops[op + MAX] >>> 0 || (value | 0) === baseRows[baseAt + lane]) reader.fail()
      rows[at + lane] = value
    } else {
      readMember(reader, schema, mask.members[index], rows, at, baseRows, baseAt, heap)
    }
  }
}
