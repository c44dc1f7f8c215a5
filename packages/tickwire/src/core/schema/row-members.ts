/**
 * The members of a delta, of every kind and any number: the general form of `row-delta.ts`, which handles the common
 * ones.
 *
 * It also writes and reads the masks inside structs and groups.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Member } from './layout.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import { diffMask, isDirty, type Mask } from './mask.ts'
import type { Schema } from './schema.ts'
import type { ValueStore } from './values.ts'

/** Writes a mask and the members that differ. Returns whether any does. @hot */
export function writeMembers(
  writer: BitWriter, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): boolean {
  const { members, dirty, width } = mask
  const isChanged = diffMask(mask, rows, at, baseRows, baseAt)
  for (let word = 0; word < dirty.length; word++) {
    const count = Math.min(32, width - (word << 5))
    writer.writeBits(dirty[word] >>> (32 - count), count)
  }
  for (let index = 0; index < width; index++) {
    if (isDirty(mask, index)) writeMember(writer, schema, members[index], rows, at, baseRows, baseAt, heap)
  }
  return isChanged
}

/** Reads a mask and the members it names, over the baseline that is already in the row. @hot */
export function readMembers(
  reader: BitReader, schema: Schema, mask: Mask,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { members, dirty, width } = mask
  for (let word = 0; word < dirty.length; word++) {
    const count = Math.min(32, width - (word << 5))
    dirty[word] = reader.readBits(count) << (32 - count)
  }
  for (let index = 0; index < width && !reader.failed; index++) {
    if (isDirty(mask, index)) readMember(reader, schema, members[index], rows, at, baseRows, baseAt, heap)
  }
}

/** Writes a member that differs. @hot */
export function writeMember(
  writer: BitWriter, schema: Schema, member: Member,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { kind, firstLeaf, leafCount, lane, inner } = member
  if (kind === 'flag') return
  if (kind === 'plain') {
    writeLeaves(writer, schema, firstLeaf, firstLeaf + leafCount, rows, at, heap)
    return
  }
  if (kind === 'group') {
    writer.writeBits(rows[at + lane], 1)
    if (rows[at + lane] === 0) return
  }
  writeMembers(writer, schema, inner, rows, at, baseRows, baseAt, heap)
}

/** Reads a member whose bit is set. If the value is unchanged, the input is invalid and the reader has failed. @hot */
export function readMember(
  reader: BitReader, schema: Schema, member: Member,
  rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number, heap: ValueStore,
): void {
  const { kind, firstLeaf, leafCount, lane, laneCount, inner } = member
  if (kind === 'flag') {
    rows[at + lane] ^= 1
  } else if (kind === 'plain') {
    readLeaves(reader, schema, firstLeaf, firstLeaf + leafCount, rows, at, heap)
  } else {
    if (kind === 'group') rows[at + lane] = reader.readBits(1)
    if (kind === 'masked' || rows[at + lane] !== 0) {
      readMembers(reader, schema, inner, rows, at, baseRows, baseAt, heap)
    } else {
      // The values of an absent group are reset: when it returns, it starts with initial values.
      for (let gone = lane + 1; gone < lane + laneCount; gone++) rows[at + gone] = schema.initialRow[gone]
    }
  }
  if (!differs(member, rows, at, baseRows, baseAt)) reader.fail()
}

function differs(member: Member, rows: Int32Array, at: number, baseRows: Int32Array, baseAt: number): boolean {
  const end = member.lane + member.laneCount
  for (let lane = member.lane; lane < end; lane++) if (rows[at + lane] !== baseRows[baseAt + lane]) return true
  return false
}
