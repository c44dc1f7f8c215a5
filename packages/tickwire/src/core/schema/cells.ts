/**
 * Live cells to quantised rows and back: the values that a game computes with, and the values that are sent and
 * compared.
 *
 * Quantising clamps: a field never leaves its declared bounds, whatever `step` wrote. NaN becomes 0 (or the nearest
 * value in bounds). Dequantising a row and quantising again gives the same row, for every field kind, in every engine;
 * predicted state relies on that.
 *
 * An absent group has the lanes of a new object, whatever its cells contain: when it returns, it starts with initial
 * values.
 *
 * Numbers in steps are quantised as in `bits/quantize.ts`, inlined here for speed; a test checks that both are equal.
 */

import { dequantizeQuat, quantizeQuat } from '../bits/quantize.ts'
import type { Layout } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'
import * as table from './leaf-table.ts'
import type { Schema } from './schema.ts'

// Constants of this module, for speed: see leaf-table.ts.
const { CODE_SHIFT, CODE_CELL, CODE_LANE, CODE_MAX, NUMBER_SHIFT, NUMBER_STEP, NUMBER_MOST, NUMBER_SCALE } = table
const {
  fixed: FIXED,
  angle: ANGLE,
  word: WORD,
  varint: VARINT,
  ref: REF,
  long: LONG,
  longWord: LONG_WORD,
  longBits: LONG_BITS,
  float: FLOAT,
  double: DOUBLE,
  quat: QUAT,
  heap: HEAP,
} = LEAF

/** Quantises the object at `cells[at]` into the row at `rows[rowAt]`. @hot */
export function quantizeCells(schema: Schema, cells: Float64Array, at: number, rows: Int32Array, rowAt: number): void {
  quantizeLeaves(schema, cells, at, rows, rowAt)
  const { groups, initialRow } = schema
  for (let index = 0; index < groups.length; index++) {
    const { lane, laneCount } = groups[index]
    if (rows[rowAt + lane] !== 0) continue
    for (let inner = lane + 1; inner < lane + laneCount; inner++) rows[rowAt + inner] = initialRow[inner]
  }
}

/** The same as `quantizeCells`, for data without groups: items of lists, and the cells of a new object itself. @hot */
export function quantizeLeaves(layout: Layout, cells: Float64Array, at: number, rows: Int32Array, rowAt: number): void {
  const { count, codes, numbers } = layout.table
  for (let index = 0; index < count; index++) {
    const code = index << CODE_SHIFT
    const number = index << NUMBER_SHIFT
    const kind = codes[code]
    const value = cells[at + codes[code + CODE_CELL]]
    const lane = rowAt + codes[code + CODE_LANE]
    if (kind <= FIXED) {
      const step = Math.round(((value === value ? value : 0) - numbers[number]) / numbers[number + NUMBER_STEP])
      const most = numbers[number + NUMBER_MOST]
      rows[lane] = step > 0 ? (step < most ? step : most) : 0
    } else if (kind === ANGLE) {
      // The number of steps is a power of two, so removing whole turns is exact for every finite angle.
      const step = Math.round(value * numbers[number + NUMBER_SCALE])
      const steps = numbers[number + NUMBER_MOST] + 1
      rows[lane] = step - step === 0 ? step - Math.floor(step / steps) * steps : 0
    } else {
      quantizeRare(layout.leaves[index], cells, at + codes[code + CODE_CELL], rows, lane)
    }
  }
}

/** Turns the row at `rows[rowAt]` back into cells: the one value that represents all that quantise to it. @hot */
export function dequantizeRow(layout: Layout, rows: Int32Array, rowAt: number, cells: Float64Array, at: number): void {
  const { count, codes, numbers } = layout.table
  for (let index = 0; index < count; index++) {
    const code = index << CODE_SHIFT
    const number = index << NUMBER_SHIFT
    const kind = codes[code]
    const cell = at + codes[code + CODE_CELL]
    const lane = rowAt + codes[code + CODE_LANE]
    if (kind <= FIXED) {
      cells[cell] = numbers[number] + (rows[lane] >>> 0) * numbers[number + NUMBER_STEP]
    } else if (kind === ANGLE) {
      // In [-pi, pi), as atan2 returns it: the upper half of the turn is negative.
      const most = codes[code + CODE_MAX]
      const step = rows[lane]
      cells[cell] = (step > most >>> 1 ? step - most - 1 : step) * numbers[number + NUMBER_STEP]
    } else {
      dequantizeRare(layout.leaves[index], rows, lane, cells, cell)
    }
  }
}

const FLOAT_MAX = 3.4028234663852886e38
/** Engines may store any of many patterns for NaN; these are the ones on the wire. */
const FLOAT_NAN = 0x7fc0_0000
const DOUBLE_NAN_HIGH = 0x7ff8_0000

const bytes = new DataView(new ArrayBuffer(8))

/** The kinds that are not worth a table entry. */
function quantizeRare(leaf: Leaf, cells: Float64Array, cell: number, rows: Int32Array, lane: number): void {
  const value = cells[cell]
  switch (leaf.kind) {
    case WORD:
      rows[lane] = quantizeWord(leaf, value)
      break
    case VARINT:
      rows[lane] = clampWhole(value, -0x8000_0000, 0x7fff_ffff)
      break
    case REF:
      rows[lane] = clampWhole(value, 0, 0xffff_ffff)
      break
    case HEAP:
      rows[lane] = value
      break
    case LONG:
    case LONG_WORD:
      rows[lane] = value
      rows[lane + 1] = cells[cell + 1]
      break
    case LONG_BITS: {
      const low = value >>> 0
      const high = cells[cell + 1] >>> 0
      const isAbove = high > leaf.maxHigh || (high === leaf.maxHigh && low > leaf.max)
      rows[lane] = isAbove ? leaf.max : low
      rows[lane + 1] = isAbove ? leaf.maxHigh : high
      break
    }
    case FLOAT:
      bytes.setFloat32(0, settle(value, leaf.isFinite, FLOAT_MAX), true)
      rows[lane] = value === value || leaf.isFinite ? bytes.getInt32(0, true) : FLOAT_NAN
      break
    case DOUBLE:
      bytes.setFloat64(0, settle(value, leaf.isFinite, Number.MAX_VALUE), true)
      rows[lane] = value === value || leaf.isFinite ? bytes.getInt32(0, true) : 0
      rows[lane + 1] = value === value || leaf.isFinite ? bytes.getInt32(4, true) : DOUBLE_NAN_HIGH
      break
    case QUAT:
      quantizeQuat(leaf.width, value, cells[cell + 1], cells[cell + 2], cells[cell + 3], rows, lane)
      break
  }
}

function dequantizeRare(leaf: Leaf, rows: Int32Array, lane: number, cells: Float64Array, cell: number): void {
  switch (leaf.kind) {
    case WORD:
      cells[cell] = leaf.isSigned ? rows[lane] : rows[lane] >>> 0
      break
    case VARINT:
    case HEAP:
      cells[cell] = rows[lane]
      break
    case REF:
      cells[cell] = rows[lane] >>> 0
      break
    case LONG:
    case LONG_WORD:
    case LONG_BITS:
      cells[cell] = rows[lane]
      cells[cell + 1] = rows[lane + 1]
      break
    case FLOAT:
      bytes.setInt32(0, rows[lane], true)
      cells[cell] = bytes.getFloat32(0, true)
      break
    case DOUBLE:
      bytes.setInt32(0, rows[lane], true)
      bytes.setInt32(4, rows[lane + 1], true)
      cells[cell] = bytes.getFloat64(0, true)
      break
    case QUAT:
      dequantizeQuat(leaf.width, rows, lane, cells, cell)
      break
  }
}

function quantizeWord(leaf: Leaf, value: number): number {
  const span = leaf.width === 16 ? 0x1_0000 : 0x1_0000_0000
  return leaf.isSigned ? clampWhole(value, -span / 2, span / 2 - 1) : clampWhole(value, 0, span - 1)
}

/** The nearest whole number within the bounds; NaN counts as 0. */
function clampWhole(value: number, min: number, max: number): number {
  const whole = Math.round(value === value ? value : 0)
  return whole > min ? (whole < max ? whole : max) : min
}

/** A finite field takes the largest finite number for infinity and 0 for NaN. */
function settle(value: number, mustBeFinite: boolean, largest: number): number {
  if (value !== value) return 0
  if (!mustBeFinite) return value
  return value > largest ? largest : value < -largest ? -largest : value
}
