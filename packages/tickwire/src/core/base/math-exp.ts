/**
 * exp, log, log2 and pow from exact operations alone.
 *
 * Arguments are split by their bits into a power of two and a number near 1; a short polynomial does the rest. pow
 * needs its logarithm good to 65 bits, because a large exponent multiplies the error. The logarithm is carried as a
 * pair, with `Math.fround` truncating doubles so that the products of the first parts are exact.
 *
 * Errors and special values: docs/spec/numbers.md. NaN and infinity are computed and not read from the globals: a
 * function that returns the global makes V8 box its other results too, 16 bytes a call.
 */

import { nearestPowerOfTwo, scaleByPowerOfTwo } from './math-bits.ts'

/** Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number: doubles of that size are whole. */
const ROUNDER = 6755399441055744

// ln 2 in 32 bits, so that its product with an exponent is exact, and the rest.
const LN2 = 0.6931471803691238
const LN2_REST = 1.9082149292705877e-10
const INVERSE_LN2 = 1.4426950408889634
// 1 / ln 2 in 24 bits, and the rest.
const INVERSE_LN2_24 = 1.4426950216293335
const INVERSE_LN2_REST = 1.9259629911266175e-8
const TWO_THIRDS = 0.6666666666666666
const TWO_THIRDS_24 = 0.6666666269302368
const TWO_THIRDS_REST = 3.9736429850260414e-8

/** Beyond 2^64 a power is 0, 1 or infinite: the logarithm of the nearest neighbour of 1 is 2^-53. */
const EXPONENT_MAX = 18446744073709551616

// r (e^r + 1) / (e^r - 1) = 2 + r^2 (E1 + ...): minimax on |r| <= ln 2 / 2, error 2^-63.3.
const E1 = 0.16666666666666555
const E2 = -0.002777777777669617
const E3 = 6.613756250019755e-5
const E4 = -1.653383700414728e-6
const E5 = 4.136040521445924e-8

// log((1 + s) / (1 - s)) = 2 s + s^3 (L1 + ...): minimax on |s| <= 3 - sqrt 8, error 2^-59.5.
const L1 = 0.6666666666666734
const L2 = 0.39999999999416525
const L3 = 0.2857142874207134
const L4 = 0.22222198599269877
const L5 = 0.18183563210253537
const L6 = 0.15314074362550076
const L7 = 0.14795749789476262

// The same as 2/3 s (3 + s^2 + s^4 (P1 + ...)), error 2^-66.3.
const P1 = 0.6000000000000338
const P2 = 0.4285714285514934
const P3 = 0.3333333377989544
const P4 = 0.27272676549334973
const P5 = 0.23080136071047405
const P6 = 0.1988522468241596
const P7 = 0.19794512595822134

/** @hot e to the power x. */
export function exp(x: number): number {
  if (x !== x) return x
  return expOfSum(x, 0)
}

/** e^(head + tail), |tail| far below |head|. */
function expOfSum(head: number, tail: number): number {
  if (head > 710) return head * 1e308
  if (head < -746) return 0
  const k = (head * INVERSE_LN2 + ROUNDER - ROUNDER) | 0
  const near = head - k * LN2
  const rest = k * LN2_REST - tail
  const r = near - rest
  const z = r * r
  const c = r - z * (E1 + z * (E2 + z * (E3 + z * (E4 + z * E5))))
  const power = 1 - (rest - (r * c) / (2 - c) - near)
  return scaleByPowerOfTwo(power, k)
}

/** @hot The natural logarithm. -Infinity at 0, NaN below. */
export function log(x: number): number {
  if (!(x > 0 && x < Infinity)) return +outsideLog(x)
  const k = nearestPowerOfTwo(x)
  const f = scaleByPowerOfTwo(x, -k) - 1
  const half = 0.5 * f * f
  const s = f / (2 + f)
  return k * LN2 - (half - (s * (half + logRest(s * s)) + k * LN2_REST) - f)
}

/** @hot The logarithm to base 2, exact for powers of two. -Infinity at 0, NaN below. */
export function log2(x: number): number {
  if (!(x > 0 && x < Infinity)) return +outsideLog(x)
  const k = nearestPowerOfTwo(x)
  const f = scaleByPowerOfTwo(x, -k) - 1
  const half = 0.5 * f * f
  const s = f / (2 + f)
  const head = Math.fround(f - half)
  const tail = f - head - half + s * (half + logRest(s * s))
  const whole = head * INVERSE_LN2_24
  const rest = (tail + head) * INVERSE_LN2_REST + tail * INVERSE_LN2_24
  const sum = k + whole
  return sum + (rest + (k - sum + whole))
}

/** -Infinity at 0, NaN below; infinity and NaN are returned as they are. */
function outsideLog(x: number): number {
  if (x === 0) return -1 / (x * x)
  return x < 0 ? (x - x) / (x - x) : x
}

function logRest(z: number): number {
  return z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * L7))))))
}

/** @hot x to the power y, with the special values of ECMA-262 (so 1 to an infinite or NaN power is NaN). */
export function pow(x: number, y: number): number {
  if (y === 0) return 1
  if (x !== x || y !== y) return x + y
  const size = Math.abs(x)
  if (y === Infinity || y === -Infinity) {
    if (size === 1) return y - y
    return size > 1 === y > 0 ? Math.abs(y) : 0
  }
  if (x < 0 && Math.floor(y) !== y && size !== Infinity) return (x - x) / (x - x)
  let power: number
  if (size !== 0 && size !== Infinity) power = powOfPositive(size, y)
  else power = (size === 0) === y > 0 ? 0 : size === 0 ? 1 / size : size
  const isOdd = Math.abs(y) % 2 === 1
  return isOdd && (x < 0 || (x === 0 && 1 / x < 0)) ? -power : power
}

/** x^y = e^(y log x), the product carried as head + tail too. For finite x > 0 and y. */
function powOfPositive(x: number, y: number): number {
  if (Math.abs(y) > EXPONENT_MAX) return x === 1 ? 1 : x > 1 === y > 0 ? Math.abs(y) * 1e300 : 0
  pair[0] = x
  logOfPair()
  const y1 = Math.fround(y)
  return expOfSum(y1 * pair[0], (y - y1) * pair[0] + y * pair[1])
}

/** Input and output of `logOfPair`: a double passed to a function that is too large to inline is boxed. */
const pair = new Float64Array(2)

/** pair = log(pair[0]) to 65 bits: 24, and the rest. Names that end in 1 have 24 bits; products of two are exact. */
function logOfPair(): void {
  const x = pair[0]
  const k = nearestPowerOfTwo(x)
  const m = scaleByPowerOfTwo(x, -k)

  // s = (m - 1) / (m + 1) = s1 + s2
  const sum1 = Math.fround(m + 1)
  const s = (m - 1) / (m + 1)
  const s1 = Math.fround(s)
  const s2 = (m - 1 - s1 * sum1 - s1 * (m - (sum1 - 1))) / (m + 1)

  // t = 3 + s^2 + s^4 (P1 + ...) = t1 + t2
  const z = s * s
  const series = z * z * (P1 + z * (P2 + z * (P3 + z * (P4 + z * (P5 + z * (P6 + z * P7))))))
  const t1 = Math.fround(3 + s1 * s1 + series)
  const t2 = series + s2 * (s1 + s) - (t1 - 3 - s1 * s1)

  // p = s t = p1 + p2, and log m = 2/3 p
  const rest = s2 * t1 + t2 * s
  const p1 = Math.fround(s1 * t1 + rest)
  const p2 = rest - (p1 - s1 * t1)
  const head = TWO_THIRDS_24 * p1
  const tail = TWO_THIRDS_REST * p1 + p2 * TWO_THIRDS + k * LN2_REST

  const binary = k * LN2
  const log1 = Math.fround(binary + (head + tail))
  pair[0] = log1
  pair[1] = tail - (log1 - binary - head)
}
