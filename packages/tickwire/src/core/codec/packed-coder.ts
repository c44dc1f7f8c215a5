/**
 * The plain codec: a mask of the members that changed, then the differences. No tables, no prediction, no training.
 *
 * ```
 * +------------------------------+--------------------------------------------------+
 * | mask, one bit per member     | members whose bit is set, in order               |
 * +------------------------------+--------------------------------------------------+
 *
 * bool            nothing more: set = it changed
 * plain           if it is one leaf, that; else 1 bit per leaf, set = it differs, each with the leaf if set
 * leaf            a number as a difference (difference.ts), a rotation as below, the rest as the schema has it
 * masked, group   as in schema/row-delta.ts, one level down
 * rotation        1 bit "a different component is dropped": 1 = 2 bits which, and three codes; 0 = three differences
 * ```
 *
 * Invariant: a bit is set exactly when the member differs, and a difference has one encoding. The reader refuses
 * everything else, so that a change has one encoding.
 *
 * Masks and groups are those of `schema/row-delta.ts`. The slow reference is test/reference/packed-reference.ts.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readLeaves, writeLeaves } from '../schema/leaf-codec.ts'
import type { Member } from '../schema/layout.ts'
import type { Leaf } from '../schema/leaf.ts'
import { diffMask, type Mask } from '../schema/mask.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { foldDifference, LEAD_BITS_MAX, readDifference, unfoldDifference, writeDifference } from './difference.ts'
import { FORM, PLAN, planLeaves } from './packed-plan.ts'
import { gridsOf, schemaGrid, type MakeGrid, type RotationGrid } from './rotation.ts'
import type { FieldSet, RowCoder, RowPair } from './row-coder.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { difference: DIFFERENCE, rotation: ROTATION } = FORM
const { shift: SHIFT, lane: LANE, max: MAX, width: WIDTH, top: TOP, sign: SIGN } = PLAN

export class PackedCoder implements RowCoder {
  readonly #schema: Schema
  readonly #plan: Int32Array
  readonly #grids: readonly (RotationGrid | undefined)[]

  constructor(schema: Schema, makeGrid: MakeGrid = schemaGrid) {
    this.#schema = schema
    this.#plan = planLeaves(schema.leaves)
    this.#grids = gridsOf(schema, makeGrid)
  }

  /** @hot */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    return this.#writeMembers(out, this.#schema.masks[set], pair, heap)
  }

  /** @hot */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    const { laneCount, masks } = this.#schema
    const { rows, at, baseRows, baseAt } = pair
    for (let lane = 0; lane < laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
    this.#readMembers(reader, masks[set], pair, heap)
  }

  /** Writes a mask and the members that differ; returns whether any does. */
  #writeMembers(writer: BitWriter, mask: Mask, pair: RowPair, heap: ValueStore): boolean {
    const { dirty, width, members } = mask
    const isChanged = diffMask(mask, pair.rows, pair.at, pair.baseRows, pair.baseAt)
    for (let word = 0; word < dirty.length; word++) {
      const count = Math.min(32, width - (word << 5))
      writer.writeBits(dirty[word] >>> (32 - count), count)
    }
    for (let word = 0; word < dirty.length; word++) {
      for (let bits = dirty[word]; bits !== 0; ) {
        const index = Math.clz32(bits)
        bits ^= 0x8000_0000 >>> index
        this.#writeMember(writer, members[(word << 5) + index], pair, heap)
      }
    }
    return isChanged
  }

  /** Reads a mask and the members it names, over the baseline that is already in the row. */
  #readMembers(reader: BitReader, mask: Mask, pair: RowPair, heap: ValueStore): void {
    const { dirty, width, members } = mask
    for (let word = 0; word < dirty.length; word++) {
      const count = Math.min(32, width - (word << 5))
      dirty[word] = reader.readBits(count) << (32 - count)
    }
    for (let word = 0; word < dirty.length; word++) {
      for (let bits = dirty[word]; bits !== 0 && !reader.failed; ) {
        const index = Math.clz32(bits)
        bits ^= 0x8000_0000 >>> index
        this.#readMember(reader, members[(word << 5) + index], pair, heap)
      }
    }
  }

  /** Writes a member that differs. */
  #writeMember(writer: BitWriter, member: Member, pair: RowPair, heap: ValueStore): void {
    const { kind, firstLeaf, leafCount, lane, inner } = member
    if (kind === 'flag') return
    if (kind === 'plain') {
      if (leafCount === 1) this.#writeLeaf(writer, firstLeaf, pair, heap)
      else this.#writeParts(writer, firstLeaf, leafCount, pair, heap)
      return
    }
    if (kind === 'group') {
      writer.writeBits(pair.rows[pair.at + lane], 1)
      if (pair.rows[pair.at + lane] === 0) return
    }
    this.#writeMembers(writer, inner, pair, heap)
  }

  /** Reads a member whose bit is set. If the value is unchanged, the input is invalid and the reader has failed. */
  #readMember(reader: BitReader, member: Member, pair: RowPair, heap: ValueStore): void {
    const { kind, firstLeaf, leafCount, lane, laneCount, inner } = member
    const { rows, at } = pair
    if (kind === 'flag') {
      rows[at + lane] ^= 1
      return
    }
    if (kind === 'plain') {
      if (leafCount === 1) this.#readLeaf(reader, firstLeaf, pair, heap)
      else this.#readParts(reader, firstLeaf, leafCount, pair, heap)
    } else {
      if (kind === 'group') rows[at + lane] = reader.readBits(1)
      if (kind === 'masked' || rows[at + lane] !== 0) {
        this.#readMembers(reader, inner, pair, heap)
      } else {
        // The values of an absent group are reset: when it returns, it starts with initial values.
        for (let gone = lane + 1; gone < lane + laneCount; gone++) rows[at + gone] = this.#schema.initialRow[gone]
      }
    }
    if (!differs(member, pair)) reader.fail()
  }

  /**
   * Writes a vector or struct, of which mostly not all leaves change. The 0 bits of unchanged leaves are written
   * together with the next leaf that changed: one write less each.
   */
  #writeParts(writer: BitWriter, firstLeaf: number, leafCount: number, pair: RowPair, heap: ValueStore): void {
    const plan = this.#plan
    const { rows, at, baseRows, baseAt } = pair
    let lead = 1
    for (let leaf = firstLeaf; leaf < firstLeaf + leafCount; leaf++) {
      const slot = leaf << SHIFT
      const lane = plan[slot + LANE]
      const isDifference = plan[slot] === DIFFERENCE
      if (isDifference ? rows[at + lane] === baseRows[baseAt + lane] : !differs(this.#schema.leaves[leaf], pair)) {
        if (++lead <= LEAD_BITS_MAX) continue
        writer.writeBits(0, LEAD_BITS_MAX)
      } else if (isDifference) {
        const folded = foldDifference(rows[at + lane], baseRows[baseAt + lane], plan[slot + MAX])
        writeDifference(writer, (folded - 1) | 0, plan[slot + WIDTH], lead)
      } else {
        writer.writeBits(1, lead)
        this.#writeLeaf(writer, leaf, pair, heap)
      }
      lead = 1
    }
    writer.writeBits(0, lead - 1)
  }

  #readParts(reader: BitReader, firstLeaf: number, leafCount: number, pair: RowPair, heap: ValueStore): void {
    for (let leaf = firstLeaf; leaf < firstLeaf + leafCount; leaf++) {
      if (reader.readBits(1) === 0) continue
      this.#readLeaf(reader, leaf, pair, heap)
      if (!differs(this.#schema.leaves[leaf], pair)) reader.fail()
    }
  }

  /** Writes a leaf that differs. */
  #writeLeaf(writer: BitWriter, leaf: number, pair: RowPair, heap: ValueStore): void {
    const plan = this.#plan
    const slot = leaf << SHIFT
    const { rows, at, baseRows, baseAt } = pair
    const lane = plan[slot + LANE]
    if (plan[slot] === DIFFERENCE) {
      const folded = foldDifference(rows[at + lane], baseRows[baseAt + lane], plan[slot + MAX])
      // The value differs, so differences start at 1.
      writeDifference(writer, (folded - 1) | 0, plan[slot + WIDTH])
    } else if (plan[slot] === ROTATION) {
      this.#writeRotation(writer, leaf, pair)
    } else {
      writeLeaves(writer, this.#schema, leaf, leaf + 1, rows, at, heap)
    }
  }

  #readLeaf(reader: BitReader, leaf: number, pair: RowPair, heap: ValueStore): void {
    const plan = this.#plan
    const slot = leaf << SHIFT
    const { rows, at, baseRows, baseAt } = pair
    const lane = plan[slot + LANE]
    if (plan[slot] === DIFFERENCE) {
      const folded = readDifference(reader, plan[slot + WIDTH])
      if (folded >>> 0 > plan[slot + TOP] >>> 0) reader.fail()
      const value = unfoldDifference((folded + 1) | 0, baseRows[baseAt + lane], plan[slot + MAX])
      // Where numbers count modulo 2^32 the sum may exceed the maximum.
      if (value >>> 0 > plan[slot + MAX] >>> 0) reader.fail()
      rows[at + lane] = (value << plan[slot + SIGN]) >> plan[slot + SIGN]
    } else if (plan[slot] === ROTATION) {
      this.#readRotation(reader, leaf, pair)
    } else {
      readLeaves(reader, this.#schema, leaf, leaf + 1, rows, at, heap)
    }
  }

  #writeRotation(writer: BitWriter, leaf: number, { rows, at, baseRows, baseAt }: RowPair): void {
    const { width, lane } = this.#schema.leaves[leaf]
    const max = (1 << width) - 1
    const isOther = rows[at + lane] !== baseRows[baseAt + lane]
    if (isOther) writer.writeBits(0b100 | rows[at + lane], 3)
    else writer.writeBits(0, 1)
    for (let code = lane + 1; code < lane + 4; code++) {
      if (isOther) writer.writeBits(rows[at + code], width)
      else writeDifference(writer, foldDifference(rows[at + code], baseRows[baseAt + code], max), width)
    }
  }

  #readRotation(reader: BitReader, leaf: number, { rows, at, baseRows, baseAt }: RowPair): void {
    const { width, lane } = this.#schema.leaves[leaf]
    const max = (1 << width) - 1
    const isOther = reader.readBits(1) === 1
    if (isOther) rows[at + lane] = reader.readBits(2)
    if (isOther && rows[at + lane] === baseRows[baseAt + lane]) reader.fail()
    for (let code = lane + 1; code < lane + 4; code++) {
      const bits = isOther ? reader.readBits(width) : readDifference(reader, width)
      if (bits > max) reader.fail()
      rows[at + code] = isOther ? bits : unfoldDifference(bits, baseRows[baseAt + code], max)
    }
    if (this.#grids[leaf]?.isRow(rows, at + lane) !== true) reader.fail()
  }
}

function differs({ lane, laneCount }: Member | Leaf, { rows, at, baseRows, baseAt }: RowPair): boolean {
  for (let each = lane; each < lane + laneCount; each++) if (rows[at + each] !== baseRows[baseAt + each]) return true
  return false
}
