/**
 * Conversions of q32.32 from and to numbers, bigints and text. Not for hot loops, except `fromNumber` and `toNumber`,
 * which allocate nothing.
 */

import { assert } from './assert.ts'
import { q32, type Q32 } from './fixed-point.ts'

const TWO_31 = 2147483648
const TWO_32 = 4294967296
const TWO_MINUS_32 = 2.3283064365386963e-10

/** @hot The nearest step to x, halves up; the nearest end of the range for values outside it, 0 for NaN. */
export function fromNumber(x: number, out: Q32): void {
  const steps = Math.round(x * TWO_32)
  const high = Math.floor(steps / TWO_32)
  if (high >= TWO_31 || high < -TWO_31) {
    out[0] = x < 0 ? 0 : -1
    out[1] = x < 0 ? -TWO_31 : TWO_31 - 1
  } else {
    out[0] = steps - high * TWO_32
    out[1] = high
  }
}

/** @hot The nearest double: exact while the whole part is below 2^21. */
export function toNumber(a: Q32): number {
  return (a[1] * TWO_32 + (a[0] >>> 0)) * TWO_MINUS_32
}

/** The value with this number of steps of 2^-32. Bits above 64 are cut off. */
export function fromBigInt(steps: bigint): Q32 {
  return q32(Number(BigInt.asIntN(32, steps)), Number(BigInt.asIntN(32, steps >> 32n)))
}

/** The value as a number of steps of 2^-32. */
export function toBigInt(a: Q32): bigint {
  return (BigInt(a[1]) << 32n) | BigInt(a[0] >>> 0)
}

/** Ten digits are enough to distinguish two adjacent values: half a step is 1.16e-10. */
const DIGITS = 10
const TEN_TO_DIGITS = 10_000_000_000n

/** The shortest decimal that `parse` converts back to the same value. */
export function format(a: Q32): string {
  const steps = toBigInt(a)
  const size = steps < 0n ? -steps : steps
  const sign = steps < 0n ? '-' : ''
  for (let digits = 0; digits < DIGITS; digits++) {
    const text = sign + decimal(size, digits)
    if (stepsOf(text) === steps) return text
  }
  return sign + decimal(size, DIGITS)
}

function decimal(steps: bigint, digits: number): string {
  const tenToDigits = BigInt(`1${'0'.repeat(digits)}`)
  const scaled = (2n * steps * tenToDigits + (1n << 32n)) >> 33n
  const text = scaled.toString().padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** The nearest value to a decimal such as `-12.5`, halves up. Throws on other text and outside the range. */
export function parse(text: string): Q32 {
  const steps = stepsOf(text)
  assert(steps !== undefined, `not a decimal with at most ${DIGITS} digits on either side of the point: ${text}`)
  assert(BigInt.asIntN(64, steps) === steps, `outside the range of q32.32: ${text}`)
  return fromBigInt(steps)
}

function stepsOf(text: string): bigint | undefined {
  const match = /^(-?)(\d{1,10})(?:\.(\d{1,10}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign, whole, fraction = ''] = match
  const size = BigInt(whole + fraction.padEnd(DIGITS, '0'))
  const scaled = (sign === '-' ? -size : size) << 33n
  return floorDivide(scaled + TEN_TO_DIGITS, 2n * TEN_TO_DIGITS)
}

function floorDivide(a: bigint, b: bigint): bigint {
  return a < 0n ? (a - b + 1n) / b : a / b
}
