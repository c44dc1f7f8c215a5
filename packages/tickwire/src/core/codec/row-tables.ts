/**
 * Which table is used in which context: what a coder knows beside the schema. Built-in, or from priors.
 *
 * Tables differ by the age of the baseline, in classes: 0 (the initial row), 1, 2-3, 4-7, 8-11, 12-15, 16 and more
 * ticks. One table for all ages costs up to a third more bits.
 *
 * Within an age class, the context of a token has three parts: how certain the prediction is (0..7); the size of the
 * residual of the item before (0..7; for a vector's first component, how fast the whole vector moved); and how much
 * happens to the row (0..3: row-contexts.ts), which only priors distinguish. The context of a mask is which items of
 * its chunk changed from the older row to the baseline, folded into 62 activities; 62 and 63 mean no older row, at rest
 * and moving.
 */

import type { CodeBank } from './code-bank.ts'
import type { Habits } from './row-predictor.ts'

/** The number of contexts of one item's tokens, and of one chunk's mask, as shifts. */
export const TOKEN_CONTEXTS_SHIFT = 8
export const MASK_CONTEXTS_SHIFT = 6
/** The number of activities of a chunk with an older row; the two contexts without one follow. */
export const ACTIVITIES_MAX = 62
export const MASK_AT_REST = 62
export const MASK_MOVING = 63
/** The number of weights of one item, as a shift: one for each motion class. */
export const WEIGHTS_SHIFT = 3
/** The weight that continues a motion in full. */
export const WEIGHT_MAX = 32
/** The number of bends of one item, as a shift: one for each motion class and sign. */
export const BENDS_SHIFT = 4
/** The largest bend, in either direction: 32 steps per tick and tick. */
export const BEND_MAX = 512

/** The number of classes of baseline age. */
export const AGE_CLASSES = 7

/** The class of an age. @hot */
export function ageClass(age: number): number {
  if (age < 2) return age
  return age < 4 ? 2 : age < 8 ? 3 : age < 12 ? 4 : age < 16 ? 5 : 6
}

/** The masks that have a symbol, indexed by symbol; the symbol after the last says that the mask follows bit by bit. */
export interface MaskCode {
  readonly table: number
  readonly masks: Uint16Array
  /** Indexed by mask: its symbol; `masks.length` where it has none. */
  readonly symbols: Uint16Array
}

/** The tables of one age class. */
export interface AgeTables extends Habits {
  /** Indexed by item << TOKEN_CONTEXTS_SHIFT | context: the table of its tokens. */
  readonly tokens: Uint16Array | Uint32Array
  /**
   * Indexed by item: the table of the dropped component of a rotation, when it is not the predicted one, counted from
   * that one.
   */
  readonly dropped: Uint16Array | Uint32Array
  /** Indexed by chunk, then by the items that changed from the older row to the baseline: the activity. */
  readonly activities: readonly Uint8Array[]
  /** Indexed by chunk << MASK_CONTEXTS_SHIFT | context. */
  readonly masks: readonly MaskCode[]
}

/** The tables of one entity. Tables of an age class are made on first use. */
export interface RowTables {
  /** The version of these tables: 0 = built in. Both sides must use the same. */
  readonly version: number
  readonly bank: CodeBank
  at(ageClass: number): AgeTables
}
