/**
 * Roots and curves in q32.32.
 *
 * The square root is integer arithmetic. The others use the exact functions of base/math.ts on doubles. Those give the
 * same bits on every engine and their error is a millionth of a step, so the result is the nearest step except in one
 * case in a hundred thousand (FIX6), at the speed of floating point.
 */

import { fromNumber, toNumber } from './fixed-point-edge.ts'
import type { Q32 } from './fixed-point.ts'
import * as exact from './math.ts'
import { multiplyHigh } from './math-words.ts'

const TWO_32 = 4294967296
const TWO_MINUS_32 = 2.3283064365386963e-10
const INVERSE_TURN = 0.15915494309189535
/** Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number: doubles of that size are whole. */
const ROUNDER = 6755399441055744

// 2 pi in pieces of 24 bits: their products with a number of turns (29 bits) are exact.
const TURN_1 = 6.283185005187988
const TURN_2 = 3.0199157663446385e-7
const TURN_3 = 2.156121011983106e-14
const TURN_4 = 1.3128014171494002e-21

/** @hot out = sqrt(a) to the nearest step; 0 for values below 0. */
export function sqrt(a: Q32, out: Q32): void {
  const high = a[1]
  if (high < 0) {
    out[0] = out[1] = 0
    return
  }
  // In steps: the root of a * 2^32, at most 2^47.5. The double is right to one step.
  let root = Math.floor(Math.sqrt((high * TWO_32 + (a[0] >>> 0)) * TWO_32))
  let rest = restOfSquare(a[0], root)
  while (rest < 0) {
    root -= 1
    rest += 2 * root + 1
  }
  while (rest > 2 * root) {
    rest -= 2 * root + 1
    root += 1
  }
  if (rest > root) root += 1
  out[1] = Math.floor(root / TWO_32)
  out[0] = root % TWO_32
}

/** value * 2^32 - root^2, which is small: only its low 64 bits are computed, so the value's high word is not needed. */
function restOfSquare(valueLow: number, root: number): number {
  const rootHigh = Math.floor(root / TWO_32)
  const rootLow = root % TWO_32 | 0
  const low = Math.imul(rootLow, rootLow) >>> 0
  const high = multiplyHigh(rootLow, rootLow) + 2 * Math.imul(rootLow, rootHigh)
  return ((valueLow - high) | 0) * TWO_32 - low
}

/** @hot out = the sine of an angle in radians. */
export function sin(a: Q32, out: Q32): void {
  fromNumber(exact.sin(withinOneTurn(a)), out)
}

/** @hot out = the cosine of an angle in radians. */
export function cos(a: Q32, out: Q32): void {
  fromNumber(exact.cos(withinOneTurn(a)), out)
}

/** @hot out = the angle of the point (x, y), from -pi to pi; 0 for the origin. */
export function atan2(y: Q32, x: Q32, out: Q32): void {
  fromNumber(exact.atan2(toNumber(y), toNumber(x)), out)
}

/** @hot out = e to the power a; the largest value when too large. */
export function exp(a: Q32, out: Q32): void {
  fromNumber(exact.exp(toNumber(a)), out)
}

/** @hot out = the natural logarithm of a; the lowest value for values that are not above 0. */
export function log(a: Q32, out: Q32): void {
  const x = toNumber(a)
  fromNumber(x > 0 ? exact.log(x) : -Infinity, out)
}

/** The angle modulo one turn, as a double within 2^-51: large angles have more bits than a double. */
function withinOneTurn(a: Q32): number {
  const whole = a[1]
  const fraction = (a[0] >>> 0) * TWO_MINUS_32
  const turns = (whole + fraction) * INVERSE_TURN + ROUNDER - ROUNDER
  return whole - turns * TURN_1 + fraction - turns * TURN_2 - turns * TURN_3 - turns * TURN_4
}
