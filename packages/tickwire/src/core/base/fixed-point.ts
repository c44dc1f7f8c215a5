/**
 * Fixed point q32.32: 32 bits before the point, 32 after it, for games that want no floating point in their state.
 *
 *   value[0]   low word: the fraction, in units of 2^-32                          one step is 2.3e-10
 *   value[1]   high word: the whole part, rounded down, two's complement          from -2^31 to 2^31 - 2^-32
 *
 * A value is two int32 words in an Int32Array; functions write to an out-parameter, which may be one of the arguments.
 * Nothing here allocates or uses BigInt; fixed-point-edge.ts converts, fixed-point-math.ts has the roots and curves.
 *
 * Invariant: every result is computed from the bits by integer arithmetic alone. Sums, differences and products wrap
 * around as in two's complement. Quotients, which can exceed the range, saturate at its ends. Products and quotients
 * are rounded to the nearest value, halves up.
 */

import { multiplyHigh } from './math-words.ts'

/** A q32.32 number: low word, high word. */
export type Q32 = Int32Array

const TWO_32 = 4294967296
const TWO_31 = 2147483648
/** Between 2^63 and 2^64, far enough from both that a rounded quotient cannot be on the wrong side. */
const SURELY_TOO_LARGE = 13000000000000000000

/** A new value: zero, or the words given. Allocates, so make values once. */
export function q32(low: number = 0, high: number = 0): Q32 {
  return Int32Array.of(low, high)
}

/** @hot out = a + b, wrapping. */
export function add(a: Q32, b: Q32, out: Q32): void {
  const low = (a[0] >>> 0) + (b[0] >>> 0)
  out[1] = a[1] + b[1] + (low >= TWO_32 ? 1 : 0)
  out[0] = low
}

/** @hot out = a - b, wrapping. */
export function subtract(a: Q32, b: Q32, out: Q32): void {
  const low = (a[0] >>> 0) - (b[0] >>> 0)
  out[1] = a[1] - b[1] - (low < 0 ? 1 : 0)
  out[0] = low
}

/** @hot Below 0 if a < b, 0 if equal, above 0 if a > b. */
export function compare(a: Q32, b: Q32): number {
  return a[1] === b[1] ? (a[0] >>> 0) - (b[0] >>> 0) : a[1] - b[1]
}

/** @hot out = a * b to the nearest step, halves up, wrapping: the middle 64 bits of the 128-bit product. */
export function multiply(a: Q32, b: Q32, out: Q32): void {
  const aLow = a[0]
  const aHigh = a[1]
  const bLow = b[0]
  const bHigh = b[1]
  const half = Math.imul(aLow, bLow) >>> 31
  const low =
    (multiplyHigh(aLow, bLow) >>> 0) + (Math.imul(aHigh, bLow) >>> 0) + (Math.imul(aLow, bHigh) >>> 0) + half
  // multiplyHigh treats a negative high word as 2^32 larger, which adds the other's low word once too often.
  const high1 = multiplyHigh(aHigh, bLow) - (aHigh < 0 ? bLow : 0)
  const high2 = multiplyHigh(aLow, bHigh) - (bHigh < 0 ? aLow : 0)
  out[0] = low
  out[1] = Math.imul(aHigh, bHigh) + high1 + high2 + Math.floor(low / TWO_32)
}

/** |numerator| and |denominator| as unsigned words, the quotient and the remainder of `divide`. */
const top = new Int32Array(2)
const bottom = new Int32Array(2)
const quotient = new Int32Array(2)
const rest = new Int32Array(2)

/** @hot out = a / b to the nearest step, halves up; the nearest end of the range when too large, 0 for 0 / 0. */
export function divide(a: Q32, b: Q32, out: Q32): void {
  const isNegative = (a[1] ^ b[1]) < 0
  magnitude(a, top)
  magnitude(b, bottom)
  const size = unsigned(bottom)
  // The first guess is good to 51 bits, and so small an error leaves a remainder that 64 bits hold.
  const guess = (unsigned(top) * TWO_32) / size
  if (!(guess < SURELY_TOO_LARGE)) return saturate(isNegative, a, out)
  put(guess, quotient)
  rest[0] = 0
  rest[1] = top[0]
  takeProduct(quotient, bottom, rest)
  // The second correction leaves a rest of at most half a denominator, the third the remainder of rounding down.
  correct(Math.round(signed(rest) / size))
  if (rest[1] < 0) correct(-1)
  // Twice the rest less the denominator: not below zero means at least half a step is missing.
  add(rest, rest, top)
  subtract(top, bottom, top)
  const isHalf = top[0] === 0 && top[1] === 0
  if (top[1] >= 0 && !(isNegative && isHalf)) correct(1)
  if (quotient[1] < 0) return saturate(isNegative, a, out)
  if (isNegative) negate(quotient, out)
  else out.set(quotient)
}

/** @hot out = -a, wrapping: the lowest value is its own negative. */
export function negate(a: Q32, out: Q32): void {
  const low = a[0]
  out[0] = -low
  out[1] = ~a[1] + (low === 0 ? 1 : 0)
}

function magnitude(a: Q32, out: Q32): void {
  if (a[1] < 0) negate(a, out)
  else out.set(a)
}

/** The nearest double to the words as an unsigned, or signed, whole number. */
function unsigned(a: Q32): number {
  return (a[1] >>> 0) * TWO_32 + (a[0] >>> 0)
}
function signed(a: Q32): number {
  return a[1] * TWO_32 + (a[0] >>> 0)
}

/** The nearest whole number as words. */
function put(size: number, out: Q32): void {
  const whole = Math.round(size)
  out[1] = Math.floor(whole / TWO_32)
  out[0] = whole % TWO_32
}

/** from -= a * b, all 64 bits, wrapping. */
function takeProduct(a: Q32, b: Q32, from: Q32): void {
  const low = (from[0] >>> 0) - (Math.imul(a[0], b[0]) >>> 0)
  const high = multiplyHigh(a[0], b[0]) + Math.imul(a[1], b[0]) + Math.imul(a[0], b[1])
  from[1] = from[1] - high - (low < 0 ? 1 : 0)
  from[0] = low
}

const step = new Int32Array(2)

/** quotient += by, rest -= by * bottom. `by` is small. */
function correct(by: number): void {
  step[0] = by
  step[1] = by < 0 ? -1 : 0
  add(quotient, step, quotient)
  takeProduct(step, bottom, rest)
}

function saturate(isNegative: boolean, numerator: Q32, out: Q32): void {
  const isZero = numerator[0] === 0 && numerator[1] === 0
  out[0] = isZero || isNegative ? 0 : -1
  out[1] = isZero ? 0 : isNegative ? -TWO_31 : TWO_31 - 1
}
