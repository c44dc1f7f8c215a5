/**
 * Encodes one object's row against rows that the receiver is known to have: the contract of snapshot codecs.
 *
 * A delta is a self-delimiting string of bits that depends only on its arguments: not on other objects, not on packets,
 * not on the receiver. So it is encoded once and copied to every client with the same baseline and field set.
 *
 * A coder knows neither packets nor visibility: `set` is an index into `Layout.masks`.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import type { CompileRows } from './row-code.ts'
import type { RowPlan } from './row-plan.ts'

/** The field set of a delta: an index into `Layout.masks`. 0 everyone, 1 the team, 2 the owner. */
export type FieldSet = 0 | 1 | 2

/** The rows that a delta is made from or read with. One instance is reused for every object. */
export class RowPair {
  /** The row itself: written from, or read to. */
  rows: Int32Array = NO_ROWS
  at: number = 0
  /** The newest row that both sides have; for an object that the receiver never had, the initial row. */
  baseRows: Int32Array = NO_ROWS
  baseAt: number = 0
  /** Ticks from the baseline to the row; 0 when the baseline is the initial row. */
  age: number = 0
  /** The row before the baseline, if both sides have it too; else -1. */
  olderRows: Int32Array = NO_ROWS
  olderAt: number = -1
  /** Ticks from that row to the baseline: more than 1 in games that do not send every tick. */
  olderTicks: number = 1
}

const NO_ROWS = new Int32Array(0)

/** Encodes the rows of one entity. */
export interface RowCoder {
  /** It uses the row before the baseline: then every delta has one bit that says whether both sides have it. */
  readonly usesOlder?: boolean
  /** Its prediction model, if it has one. */
  readonly model?: { readonly plan: RowPlan }
  /** Writes the difference between the baseline and the row; returns false if there is none in this field set. */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
  /**
   * Reads the row. Lanes outside the field set are the baseline's. On invalid input the reader has failed and the row
   * is unusable; nothing is thrown.
   */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void
  /**
   * Writes as `write` does, and adds to each leaf the bits that describe only that leaf. Returns false, and adds
   * nothing, if the delta cannot be split like that. For profilers; coders whose fields can be left out one by one need
   * none.
   */
  account?(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore, leafBits: Float64Array): boolean
  /** Generates code for its entity, where that is faster. The output stays the same, bit by bit. */
  compile?(compile: CompileRows): void
}

/** Makes the coder of an entity. Velocities are per second, rows per tick: prediction needs the rate. */
export type MakeRowCoder = (schema: Schema, ticksPerSecond: number) => RowCoder
