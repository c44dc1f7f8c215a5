/**
 * How one object's row becomes bits against rows that the receiver surely holds: the contract of snapshot codecs.
 *
 * A delta is a self-delimiting string of bits that depends on its arguments and on nothing else: not on other objects,
 * not on packets, not on the receiver. So it is encoded once and copied to everyone who shares the baseline and the
 * field set.
 *
 * A coder knows neither packets nor who may see what: `set` is an index of `Layout.masks`.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import type { CompileRows } from './row-code.ts'
import type { RowPlan } from './row-plan.ts'

/** Who a delta is for: an index of `Layout.masks`. 0 everyone, 1 the team, 2 the owner. */
export type FieldSet = 0 | 1 | 2

/** The rows that a delta is made from or read over. One is kept and filled again for every object. */
export class RowPair {
  /** The row itself: written from, or read to. */
  rows: Int32Array = NO_ROWS
  at: number = 0
  /** The newest row both sides hold; of an object that the receiver never held, the initial row. */
  baseRows: Int32Array = NO_ROWS
  baseAt: number = 0
  /** Ticks from the baseline to the row; 0 when the baseline is the initial row. */
  age: number = 0
  /** The row before the baseline, where both sides hold it too; -1 where they do not. */
  olderRows: Int32Array = NO_ROWS
  olderAt: number = -1
  /** Ticks from that row to the baseline: more than 1 in games that do not tell every tick. */
  olderTicks: number = 1
}

const NO_ROWS = new Int32Array(0)

/** Codes the rows of one entity. */
export interface RowCoder {
  /** It looks at the row before the baseline: then every delta says, in one bit, whether both sides hold it. */
  readonly usesOlder?: boolean
  /** How it predicts, if it does. */
  readonly model?: { readonly plan: RowPlan }
  /** Writes what turns the baseline into the row; false if, in this field set, that is nothing. */
  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean
  /**
   * Reads the row. Lanes outside the field set are the baseline's. On nonsense the reader has failed and the row is
   * worthless; nothing is thrown.
   */
  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void
  /**
   * Writes as `write` does, and adds to each leaf the bits in which that leaf alone was spoken of. False, and nothing is added,
   * where the delta does not come apart like that. For profilers; coders whose fields can be left out one by one need none.
   */
  account?(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore, leafBits: Float64Array): boolean
  /** Has code made for its entity, where that is faster. What is written stays the same, bit by bit. */
  compile?(compile: CompileRows): void
}

/** Makes the coder of an entity. Velocities are per second, rows per tick: whoever predicts needs the rate. */
export type MakeRowCoder = (schema: Schema, ticksPerSecond: number) => RowCoder
