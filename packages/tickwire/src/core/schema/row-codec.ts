/**
 * A whole row to bits and back, without a baseline and without a mask: for data that is sent once, such as a message.
 *
 *   +----------------------------------+
 *   | every member, in order           |      a bool is one bit, a group one bit "is here" and, if it is, its leaves
 *   +----------------------------------+
 *
 * Every member is in it, whatever its audience: such data goes only to its receiver.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import type { Schema } from './schema.ts'
import type { ValueStore } from './values.ts'

/** Writes the row at `rows[at]`. @hot */
export function writeRow(writer: BitWriter, schema: Schema, rows: Int32Array, at: number, heap: ValueStore): void {
  const { groups, leaves } = schema
  let first = 0
  for (let index = 0; index < groups.length; index++) {
    const { firstLeaf, leafCount, lane } = groups[index]
    writeLeaves(writer, schema, first, firstLeaf + 1, rows, at, heap)
    first = rows[at + lane] === 0 ? firstLeaf + leafCount : firstLeaf + 1
  }
  writeLeaves(writer, schema, first, leaves.length, rows, at, heap)
}

/** Reads a row to `rows[at]`; on invalid input the reader has failed and the row is unusable. @hot */
export function readRow(reader: BitReader, schema: Schema, rows: Int32Array, at: number, heap: ValueStore): void {
  const { groups, leaves, initialRow } = schema
  let first = 0
  for (let index = 0; index < groups.length; index++) {
    const { firstLeaf, leafCount, lane, laneCount } = groups[index]
    readLeaves(reader, schema, first, firstLeaf + 1, rows, at, heap)
    first = firstLeaf + 1
    if (rows[at + lane] !== 0) continue
    first = firstLeaf + leafCount
    for (let gone = lane + 1; gone < lane + laneCount; gone++) rows[at + gone] = initialRow[gone]
  }
  readLeaves(reader, schema, first, leaves.length, rows, at, heap)
}
