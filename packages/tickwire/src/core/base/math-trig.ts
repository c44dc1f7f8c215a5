/**
 * sin, cos and tan from additions and multiplications alone, so that every engine gets the same bits.
 *
 * The angle is reduced to -pi/4 .. pi/4 by subtracting the nearest multiple of pi/2, in three pieces of 33 bits (whose
 * products with the multiple are exact), and kept as head + tail. There two short polynomials do the rest. Angles
 * beyond a million turns use an exact but slow reduction with BigInt (about a microsecond), which is not meant for hot
 * loops.
 *
 * Invariant: the result is a function of the argument's bits only. Errors and special values: docs/spec/numbers.md.
 */

import { highHalf, lowHalf, scaleByPowerOfTwo } from './math-bits.ts'

const QUARTER_PI = 0.7853981633974483
const TWO_OVER_PI = 0.6366197723675814

/** Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number: doubles of that size are whole. */
const ROUNDER = 6755399441055744

// pi/2 = A1 + A2 + A3 + A3_REST, the first three of 33 bits each; A2_REST = A3 + A3_REST.
const A1 = 1.5707963267341256
const A2 = 6.077100506303966e-11
const A2_REST = 2.0222662487959506e-21
const A3 = 2.0222662487111665e-21
const A3_REST = 8.4784276603689e-32

/** Up to 2^20 quarter turns the products n * A1 .. n * A3 are exact. */
const MEDIUM_MAX = 1_647_099

/** Below this the second piece of pi/2 leaves too few good bits, and the third is subtracted too. */
const NEAR_ZERO = 3.6e-12

// sin x = x + x^3 (S1 + ...), cos x = 1 - x^2/2 + x^4 (C1 + ...): minimax on |x| <= pi/4, errors 2^-57.9 and 2^-63.9.
const S1 = -0.1666666666666663
const S2 = 0.00833333333332184
const S3 = -0.00019841269829358528
const S4 = 2.7557313538514234e-6
const S5 = -2.5050734389257543e-8
const S6 = 1.5895433289345187e-10
const C1 = 0.041666666666666595
const C2 = -0.0013888888888873342
const C3 = 2.480158728900208e-5
const C4 = -2.755731421703886e-7
const C5 = 2.087570539602921e-9
const C6 = -1.1358749239936787e-11

/** The reduced angle of the last `reduce`: head, and the remainder that the head could not hold. */
const reduced = new Float64Array(2)

/** @hot The sine of an angle in radians. */
export function sin(x: number): number {
  const quarter = reduce(x)
  const near = (quarter & 1) === 0 ? sinNear(reduced[0], reduced[1]) : cosNear(reduced[0], reduced[1])
  return (quarter & 2) === 0 ? near : -near
}

/** @hot The cosine of an angle in radians. */
export function cos(x: number): number {
  const quarter = reduce(x)
  const near = (quarter & 1) === 0 ? cosNear(reduced[0], reduced[1]) : sinNear(reduced[0], reduced[1])
  return ((quarter + 1) & 2) === 0 ? near : -near
}

/** @hot The tangent of an angle in radians. */
export function tan(x: number): number {
  const quarter = reduce(x)
  const near = sinNear(reduced[0], reduced[1])
  const far = cosNear(reduced[0], reduced[1])
  return (quarter & 1) === 0 ? near / far : -far / near
}

/** The sine of head + tail, |head| <= pi/4. Keeps -0. */
function sinNear(head: number, tail: number): number {
  const z = head * head
  const cube = z * head
  const rest = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))
  return head - (z * (0.5 * tail - cube * rest) - tail - cube * S1)
}

/** The cosine of head + tail, |head| <= pi/4. */
function cosNear(head: number, tail: number): number {
  const z = head * head
  const half = 0.5 * z
  const near = 1 - half
  const rest = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
  // 1 - near - half is what the subtraction above rounded away.
  return near + (1 - near - half + (z * rest - head * tail))
}

/** Stores x - n pi/2 in `reduced` and returns n, of which only the last two bits matter. */
function reduce(x: number): number {
  if (Math.abs(x) <= QUARTER_PI) {
    reduced[0] = x
    reduced[1] = 0
    return 0
  }
  if (!(Math.abs(x) <= MEDIUM_MAX)) return reduceHuge(x)
  const n = x * TWO_OVER_PI + ROUNDER - ROUNDER
  let before = x - n * A1
  let step = n * A2
  let after = before - step
  let tail = n * A2_REST - (before - after - step)
  let head = after - tail
  if (Math.abs(head) < NEAR_ZERO) {
    before = after
    step = n * A3
    after = before - step
    tail = n * A3_REST - (before - after - step)
    head = after - tail
  }
  reduced[0] = head
  reduced[1] = after - head - tail
  return n | 0
}

/** 2/pi * 2^1216: enough bits that the largest double still leaves 190 good ones after the point. */
const TWO_OVER_PI_1216 = BigInt(
  '0x' +
    'a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424d' +
    'd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639' +
    '835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f46' +
    '3f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab',
)

/** pi/2 * 2^200. */
const HALF_PI_200 = 0x1921fb54442d18469898cc51701b839a252049c1114cf98e804n

/** The same as `reduce`, for any finite angle, with BigInt. */
function reduceHuge(x: number): number {
  if (x - x !== 0) {
    reduced[0] = reduced[1] = NaN
    return 0
  }
  const high = highHalf(x)
  const exponent = ((high >>> 20) & 0x7ff) - 1075
  const mantissa = (BigInt((high & 0xfffff) | 0x100000) << 32n) | BigInt(lowHalf(x) >>> 0)
  const shift = BigInt(1216 - exponent)
  const turns = (high < 0 ? -mantissa : mantissa) * TWO_OVER_PI_1216
  const n = (turns + (1n << (shift - 1n))) >> shift
  const rest = ((turns - (n << shift)) * HALF_PI_200) >> shift
  const head = Number(rest)
  reduced[0] = scaleByPowerOfTwo(head, -200)
  reduced[1] = scaleByPowerOfTwo(Number(rest - BigInt(head)), -200)
  return Number(n & 3n)
}
