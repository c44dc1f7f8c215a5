/**
 * Live cells to quantised rows and back: what a game computes with, and what it may be known by.
 *
 * Quantising clamps: a field never leaves its declared bounds, whatever `step` wrote. Not a number becomes 0 (or
 * what of the bounds is nearest to it). Dequantising a row and quantising again gives the row back, for every field
 * kind, in every engine; predicted state stands on that.
 */

import { dequantizeFloat, dequantizeQuat, quantizeFloat, quantizeQuat } from '../bits/quantize.ts'
import type { Layout } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'

const bytes = new DataView(new ArrayBuffer(8))

/** Quantises the object at `cells[at]` into the row at `rows[rowAt]`. @hot */
export function quantizeCells(layout: Layout, cells: Float64Array, at: number, rows: Int32Array, rowAt: number): void {
  const { leaves } = layout
  for (let index = 0; index < leaves.length; index++) {
    const leaf = leaves[index]
    const cell = at + leaf.cell
    const lane = rowAt + leaf.lane
    const value = cells[cell]
    switch (leaf.kind) {
      case LEAF.fixed:
        rows[lane] = quantizeFloat(leaf.quant, value)
        break
      case LEAF.bits:
        rows[lane] = clampWhole(value, leaf.min, leaf.min + leaf.max) - leaf.min
        break
      case LEAF.angle:
        rows[lane] = quantizeAngle(leaf.max + 1, value)
        break
      case LEAF.word:
        rows[lane] = quantizeWord(leaf, value)
        break
      case LEAF.varint:
        rows[lane] = clampWhole(value, -0x8000_0000, 0x7fff_ffff)
        break
      case LEAF.ref:
        rows[lane] = clampWhole(value, 0, 0xffff_ffff)
        break
      case LEAF.heap:
        rows[lane] = value
        break
      case LEAF.long:
      case LEAF.longWord:
      case LEAF.longBits:
        rows[lane] = value
        rows[lane + 1] = cells[cell + 1]
        break
      case LEAF.float:
        bytes.setFloat32(0, settle(Math.fround(value), leaf.isFinite, FLOAT_MAX), true)
        rows[lane] = value === value || leaf.isFinite ? bytes.getInt32(0, true) : FLOAT_NAN
        break
      case LEAF.double:
        bytes.setFloat64(0, settle(value, leaf.isFinite, Number.MAX_VALUE), true)
        rows[lane] = value === value || leaf.isFinite ? bytes.getInt32(0, true) : 0
        rows[lane + 1] = value === value || leaf.isFinite ? bytes.getInt32(4, true) : DOUBLE_NAN_HIGH
        break
      case LEAF.quat:
        quantizeQuat(leaf.width, value, cells[cell + 1], cells[cell + 2], cells[cell + 3], rows, lane)
        break
    }
  }
}

/** Turns the row at `rows[rowAt]` back into cells: the one value that stands for all that quantise to it. @hot */
export function dequantizeRow(layout: Layout, rows: Int32Array, rowAt: number, cells: Float64Array, at: number): void {
  const { leaves } = layout
  for (let index = 0; index < leaves.length; index++) {
    const leaf = leaves[index]
    const cell = at + leaf.cell
    const lane = rowAt + leaf.lane
    switch (leaf.kind) {
      case LEAF.fixed:
        cells[cell] = dequantizeFloat(leaf.quant, rows[lane] >>> 0)
        break
      case LEAF.bits:
        cells[cell] = leaf.min + (rows[lane] >>> 0)
        break
      case LEAF.angle:
        cells[cell] = dequantizeAngle(leaf.max + 1, rows[lane])
        break
      case LEAF.word:
        cells[cell] = leaf.isSigned ? rows[lane] : rows[lane] >>> 0
        break
      case LEAF.varint:
      case LEAF.heap:
        cells[cell] = rows[lane]
        break
      case LEAF.ref:
        cells[cell] = rows[lane] >>> 0
        break
      case LEAF.long:
      case LEAF.longWord:
      case LEAF.longBits:
        cells[cell] = rows[lane]
        cells[cell + 1] = rows[lane + 1]
        break
      case LEAF.float:
        bytes.setInt32(0, rows[lane], true)
        cells[cell] = bytes.getFloat32(0, true)
        break
      case LEAF.double:
        bytes.setInt32(0, rows[lane], true)
        bytes.setInt32(4, rows[lane + 1], true)
        cells[cell] = bytes.getFloat64(0, true)
        break
      case LEAF.quat:
        dequantizeQuat(leaf.width, rows, lane, cells, cell)
        break
    }
  }
}

const FLOAT_MAX = 3.4028234663852886e38
/** Engines may store any of many patterns for NaN; these are the ones on the wire. */
const FLOAT_NAN = 0x7fc0_0000
const DOUBLE_NAN_HIGH = 0x7ff8_0000
const TURN = 2 * Math.PI

/** The step of the turn nearest to an angle, 0..steps-1. */
function quantizeAngle(steps: number, radians: number): number {
  const step = Math.round(radians * (steps / TURN))
  return Number.isFinite(step) ? step - Math.floor(step / steps) * steps : 0
}

/** In [-pi, pi), as atan2 gives it. */
function dequantizeAngle(steps: number, step: number): number {
  return (step >= steps / 2 ? step - steps : step) * (TURN / steps)
}

function quantizeWord(leaf: Leaf, value: number): number {
  const span = leaf.width === 16 ? 0x1_0000 : 0x1_0000_0000
  return leaf.isSigned ? clampWhole(value, -span / 2, span / 2 - 1) : clampWhole(value, 0, span - 1)
}

/** Nearest whole number within the bounds; not a number counts as 0. */
function clampWhole(value: number, min: number, max: number): number {
  const whole = Math.round(value === value ? value : 0)
  return whole > min ? (whole < max ? whole : max) : min
}

/** A finite field takes the largest finite number for infinity and 0 for what is no number. */
function settle(value: number, mustBeFinite: boolean, largest: number): number {
  if (value !== value) return 0
  if (!mustBeFinite) return value
  return value > largest ? largest : value < -largest ? -largest : value
}
