/**
 * Real numbers as whole steps between two bounds: the lossy part of every compressed field.
 *
 * A float in [min, max] at `precision` becomes the nearest step, 0..stepsMax. The number of bits is ceil(log2((max -
 * min) / precision)), which cannot hold the top step when the ratio is a power of two (0..1024 at 1 is 1025 values in
 * 10 bits): the top is then clamped, and `clampsTop` is true, so that a lint can warn.
 *
 * A rotation is a unit quaternion; q and -q are the same rotation. The component of largest magnitude is dropped (made
 * positive first, and rebuilt from unit length), the other three lie within ±1/sqrt 2 and become whole numbers of
 * steps k in -H..H, H = 2^(bits-1) - 1, written as k + H. An odd number of levels makes 0 exact, so identity and all
 * quarter turns about an axis are exact; code 2^bits - 1 is unused.
 *
 * Invariant: quantising what was dequantised gives the same steps, for every step and every canonical row, in every
 * JavaScript engine: only + - * / sqrt and rounding are used.
 *
 * It does not write bits.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { BIT_FIELD_BITS_MAX, QUAT_BITS_MAX, QUAT_BITS_MIN } from '../base/limits.ts'

/** The quantisation of a float. Created by `floatQuant`. */
export interface FloatQuant {
  /** The lowest value. */
  readonly min: number
  /** The highest value. */
  readonly max: number
  /** Size of one step, in the unit of the value. */
  readonly precision: number
  /** Bits of one step number on the wire. */
  readonly bits: number
  /** The highest step. */
  readonly stepsMax: number
  /** The last whole step of the range does not fit `bits`, so `max` itself decodes one step lower. */
  readonly clampsTop: boolean
}

/** Computes the quantisation of [min, max] at `precision`; `path` names the field in errors. */
export function floatQuant(min: number, max: number, precision: number, path: string = 'floatQuant'): FloatQuant {
  if (!Number.isFinite(min) || !Number.isFinite(max) || !(max > min) || !Number.isFinite(max - min)) {
    throw new ConfigError(
      path,
      `empty or infinite range (expected finite bounds with min < max, got ${min}..${max})`,
      'give finite bounds with min < max.',
    )
  }
  if (!Number.isFinite(precision) || !(precision > 0)) {
    throw new ConfigError(
      path,
      `invalid precision (expected a positive number, got ${precision})`,
      'give the size of one step, in the unit of the value, such as 0.001.',
    )
  }
  const ratio = wholeIfClose((max - min) / precision)
  if (ratio <= 1) {
    throw new ConfigError(
      path,
      `only one value fits (range ${min}..${max}, precision ${precision})`,
      'give a precision smaller than the range.',
    )
  }
  let bits = 1
  let capacity = 2
  while (capacity < ratio && bits <= BIT_FIELD_BITS_MAX) {
    capacity *= 2
    bits++
  }
  if (bits > BIT_FIELD_BITS_MAX) {
    throw new ConfigError(
      path,
      `too many bits (${min}..${max} at precision ${precision} needs more than ${BIT_FIELD_BITS_MAX})`,
      'use a coarser precision, a smaller range, or a double.',
    )
  }
  if (precision < Math.max(Math.abs(min), Math.abs(max)) * PRECISION_RELATIVE_MIN) {
    throw new ConfigError(
      path,
      `precision ${precision} is finer than a double has at ${min}..${max}`,
      'use a coarser precision, or move the range nearer to 0.',
    )
  }
  const whole = Math.floor(ratio)
  const stepsMax = Math.min(whole, capacity - 1)
  return { min, max, precision, bits, stepsMax, clampsTop: whole > stepsMax }
}

const given: Float64Array = new Float64Array(4)

/** The nearest step, 0..stepsMax; values outside the range are clamped, NaN counts as 0. @hot */
export function quantizeFloat(quant: FloatQuant, value: number): number {
  given[0] = value
  return quantizeFloatAt(quant, given, 0)
}

/**
 * The same for a value in a typed array. A double passed to a function that the engine does not inline is allocated; an
 * element of a typed array is not. @hot
 */
export function quantizeFloatAt(quant: FloatQuant, cells: Float64Array, at: number): number {
  const value = cells[at]
  const step = Math.round(((value === value ? value : 0) - quant.min) / quant.precision)
  return step > 0 ? (step < quant.stepsMax ? step : quant.stepsMax) : 0
}

/** The value of `step`. @hot */
export function dequantizeFloat(quant: FloatQuant, step: number): number {
  return quant.min + step * quant.precision
}

/**
 * Steps smaller than this fraction of the largest bound are lost in a double's own rounding: min + step * precision has
 * an error of up to 2^-52 of it, and a quarter of a step must remain.
 */
const PRECISION_RELATIVE_MIN = 2 ** -49

/** Decimal steps are not binary fractions: 0.3 / 0.1 is 2.9999999999999996 and means 3. */
function wholeIfClose(ratio: number): number {
  const whole = Math.round(ratio)
  return Math.abs(ratio - whole) <= ratio * 2 ** -44 ? whole : ratio
}

/**
 * Quantises the rotation (x, y, z, w), of any length: `out[at]` gets the index 0..3 of the dropped component, `out[at +
 * 1..3]` the codes of the others in x, y, z, w order. Input that is not a rotation (zero, NaN, infinite) gives the
 * identity.
 *
 * Every result is canonical: see `isCanonicalQuat`. @hot
 */
export function quantizeQuat(
  bits: number, x: number, y: number, z: number, w: number, out: Int32Array, at: number,
): void {
  given[0] = x
  given[1] = y
  given[2] = z
  given[3] = w
  quantizeQuatAt(bits, given, 0, out, at)
}

/** The same for a rotation in a typed array, which never allocates. @hot */
export function quantizeQuatAt(bits: number, cells: Float64Array, cellsAt: number, out: Int32Array, at: number): void {
  assert(bits >= QUAT_BITS_MIN && bits <= QUAT_BITS_MAX, 'bits per quaternion component are in range')
  const half = (1 << (bits - 1)) - 1
  let largest = 0
  for (let index = 1; index < 4; index++) {
    if (Math.abs(cells[cellsAt + index]) > Math.abs(cells[cellsAt + largest])) largest = index
  }
  // Dividing by the largest first avoids overflow and underflow of the squares, and makes the dropped one positive.
  const dropped = cells[cellsAt + largest]
  const a = cells[cellsAt + (largest === 0 ? 1 : 0)] / dropped
  const b = cells[cellsAt + (largest <= 1 ? 2 : 1)] / dropped
  const c = cells[cellsAt + (largest <= 2 ? 3 : 2)] / dropped
  const scale = (half * Math.SQRT2) / Math.sqrt(1 + a * a + b * b + c * c)
  // Zero, NaN and infinity in any component lead to a scale that is not positive or a component that is not finite.
  if (!Number.isFinite(dropped) || !(scale > 0)) settle(half, 3, 0, 0, 0, out, at)
  else settle(half, largest, Math.round(a * scale) | 0, Math.round(b * scale) | 0, Math.round(c * scale) | 0, out, at)
}

/** Rebuilds the rotation of a canonical row as four doubles of unit length at `out[outAt..]`. @hot */
export function dequantizeQuat(bits: number, lanes: Int32Array, at: number, out: Float64Array, outAt: number): void {
  const half = (1 << (bits - 1)) - 1
  const largest = lanes[at]
  const a = lanes[at + 1] - half
  const b = lanes[at + 2] - half
  const c = lanes[at + 3] - half
  const unit = 2 * half * half
  const square = unit - a * a - b * b - c * c
  const step = Math.SQRT1_2 / half
  const dropped = Math.sqrt(square > 0 ? square / unit : 0)
  out[outAt] = largest === 0 ? dropped : a * step
  out[outAt + 1] = largest === 1 ? dropped : (largest === 0 ? a : b) * step
  out[outAt + 2] = largest === 2 ? dropped : (largest <= 1 ? b : c) * step
  out[outAt + 3] = largest === 3 ? dropped : c * step
}

/**
 * Whether a row is the canonical encoding of its rotation: codes in range, and the dropped component, as implied by
 * unit length, no smaller than any other; of equal ones the first in x, y, z, w order is dropped. Exact integer
 * arithmetic.
 */
export function isCanonicalQuat(bits: number, largest: number, a: number, b: number, c: number): boolean {
  const half = (1 << (bits - 1)) - 1
  if (!(largest >= 0 && largest <= 3 && a >= 0 && b >= 0 && c >= 0)) return false
  if (a > 2 * half || b > 2 * half || c > 2 * half) return false
  const aa = (a - half) * (a - half)
  const bb = (b - half) * (b - half)
  const cc = (c - half) * (c - half)
  const square = 2 * half * half - aa - bb - cc
  // Components before the dropped one must be strictly smaller.
  return (
    square >= aa + (largest > 0 ? 1 : 0) && square >= bb + (largest > 1 ? 1 : 0) && square >= cc + (largest > 2 ? 1 : 0)
  )
}

/**
 * Rounding can leave a component equal to or above the implied dropped one. If an earlier component is equal, it is
 * dropped instead, which is exact. If one is above, the greatest is lowered by a step; each step raises the implied
 * one, so the loop terminates.
 */
function settle(
  half: number, dropped: number, ka: number, kb: number, kc: number, out: Int32Array, at: number,
): void {
  let largest = dropped
  let a = ka
  let b = kb
  let c = kc
  for (;;) {
    const square = 2 * half * half - a * a - b * b - c * c
    const aa = a * a
    const bb = b * b
    const cc = c * c
    const most = Math.max(aa, bb, cc)
    if (most > square) {
      if (aa === most) a -= Math.sign(a)
      else if (bb === most) b -= Math.sign(b)
      else c -= Math.sign(c)
      continue
    }
    if (most < square) break
    // A tie: the dropped component is the root of `most`, a whole number like the others.
    const first = aa === most ? 0 : bb === most ? 1 : 2
    if (first >= largest) break
    const sign = (first === 0 ? a : first === 1 ? b : c) < 0 ? -1 : 1
    const x = largest === 0 ? Math.sqrt(most) : a
    const y = largest === 1 ? Math.sqrt(most) : largest === 0 ? a : b
    const z = largest === 2 ? Math.sqrt(most) : largest <= 1 ? b : c
    const w = largest === 3 ? Math.sqrt(most) : c
    a = sign * (first === 0 ? y : x)
    b = sign * (first <= 1 ? z : y)
    c = sign * (first <= 2 ? w : z)
    largest = first
  }
  out[at] = largest
  out[at + 1] = a + half
  out[at + 2] = b + half
  out[at + 3] = c + half
}
