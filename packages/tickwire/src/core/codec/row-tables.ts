/**
 * Which table speaks in which context: what a coder knows beside the schema. Built-in, or from priors.
 *
 * Tables differ by the age of the baseline, in classes: 0 (the initial row), 1, 2-3, 4-7, 8-11, 12-15, 16 and more ticks. One
 * table for all ages costs up to a third more bits.
 *
 * Within an age, the context of a token is how sure the prediction was (0..7), how large the residual of the item
 * before was (0..7; of a vector's first component, how fast the whole vector moved) and how much happens to the row (0..3: row-contexts.ts), which only priors tell apart; the context of a mask is which items of its chunk changed from the older row to the baseline, folded
 * into 62 activities; 62 and 63 stand for no older row, at rest and moving.
 */

import type { CodeBank } from './code-bank.ts'
import type { Habits } from './row-predictor.ts'

/** Contexts of one item's tokens, and of one chunk's mask, as shifts. */
export const TOKEN_CONTEXTS_SHIFT = 8
export const MASK_CONTEXTS_SHIFT = 6
/** Activities of a chunk while there is an older row; after them come rest and motion without one. */
export const ACTIVITIES_MAX = 62
export const MASK_AT_REST = 62
export const MASK_MOVING = 63
/** Places of the weights of one item, as a shift: one for each class of motion. */
export const WEIGHTS_SHIFT = 3
/** A weight that keeps everything. */
export const WEIGHT_MAX = 32
/** Places of the bends of one item, as a shift: one for each class of motion and sign. */
export const BENDS_SHIFT = 4
/** The sharpest bend, either way: 32 steps per tick and tick. */
export const BEND_MAX = 512

/** Classes of baseline age. */
export const AGE_CLASSES = 7

/** The class of an age. @hot */
export function ageClass(age: number): number {
  if (age < 2) return age
  return age < 4 ? 2 : age < 8 ? 3 : age < 12 ? 4 : age < 16 ? 5 : 6
}

/** Masks that have a symbol of their own, by symbol; the symbol after the last says that the mask follows bit by bit. */
export interface MaskCode {
  readonly table: number
  readonly masks: Uint16Array
  /** By mask: its symbol; `masks.length` where it has none. */
  readonly symbols: Uint16Array
}

/** Everything for one class of age. */
export interface AgeTables extends Habits {
  /** By item and context: the table of its tokens. */
  readonly tokens: Uint16Array | Uint32Array
  /** By item: the table of which component a rotation drops, when it is not the predicted one, counted on from that. */
  readonly dropped: Uint16Array | Uint32Array
  /** By chunk, then by what changed from the older row to the baseline: the activity. */
  readonly activities: readonly Uint8Array[]
  /** By chunk and context. */
  readonly masks: readonly MaskCode[]
}

/** The tables of one entity. Tables of an age are made when first asked for. */
export interface RowTables {
  /** Which tables these are: 0 = built in. Both sides must use the same. */
  readonly version: number
  readonly bank: CodeBank
  at(ageClass: number): AgeTables
}
