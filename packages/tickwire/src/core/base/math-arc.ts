/**
 * atan2, atan, asin and acos from exact operations alone. All four compute the angle of a point.
 *
 * The point is mirrored into the eighth of the plane where 0 <= y <= x. There the angle is that of the nearest of five
 * known slopes (0, 1/4, 1/2, 3/4, 1) plus that of a slope of at most 1/8, for which a short polynomial is enough.
 *
 * Errors and special values: docs/spec/numbers.md. NaN and infinity are computed and not read from the globals: a
 * function that returns the global makes V8 box its other results too, 16 bytes a call.
 */

// atan t = t + t^3 (T1 + ...): minimax on |t| <= 1/8, error 2^-58.8.
const T1 = -0.3333333333333257
const T2 = 0.19999999999048657
const T3 = -0.1428571389051915
const T4 = 0.11111035588692424
const T5 = -0.09083599651029028
const T6 = 0.0734265021768278

/** atan(i / 4), and the remainder that a double could not hold. */
const KNOWN = Float64Array.of(0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844, 0.7853981633974483)
const KNOWN_REST = Float64Array.of(
  0, 1.0698755618734451e-17, 2.2698777452961687e-17, 1.5834785051444286e-17, 3.061616997868383e-17,
)

const PI = 3.141592653589793
const PI_REST = 1.2246467991473532e-16
const HALF_PI = 1.5707963267948966
const HALF_PI_REST = 6.123233995736766e-17

/** 2^1000 and 2^-900: beyond them sums overflow or products lose bits, and the point is scaled first. */
const HUGE = 1.0715086071862673e301
const TINY = 1.1830521861667747e-271
const SCALE_DOWN = 1.1102230246251565e-16
const SCALE_UP = 1.6069380442589903e60

/** @hot The angle of the point (x, y), from -pi to pi; y = -0 counts as just below the axis. */
export function atan2(y: number, x: number): number {
  if (x !== x || y !== y) return x + y
  const angle = angleOf(Math.abs(y), Math.abs(x), x < 0 || (x === 0 && 1 / x < 0))
  return y < 0 || (y === 0 && 1 / y < 0) ? -angle : angle
}

/** @hot The angle whose tangent is x, from -pi/2 to pi/2. */
export function atan(x: number): number {
  if (x === 0 || x !== x) return x
  const angle = angleOf(Math.abs(x), 1, false)
  return x < 0 ? -angle : angle
}

/** @hot The angle whose sine is x, from -pi/2 to pi/2. NaN outside -1 .. 1. */
export function asin(x: number): number {
  if (x === 0) return x
  if (!(Math.abs(x) <= 1)) return (x - x) / (x - x)
  const angle = angleOf(Math.abs(x), otherSide(x), false)
  return x < 0 ? -angle : angle
}

/** @hot The angle whose cosine is x, from 0 to pi. NaN outside -1 .. 1. */
export function acos(x: number): number {
  if (!(Math.abs(x) <= 1)) return (x - x) / (x - x)
  return angleOf(otherSide(x), Math.abs(x), x < 0)
}

/** sqrt(1 - x^2). From a half on 1 - x is exact and the product keeps what 1 - x * x would lose; below, the reverse. */
function otherSide(x: number): number {
  const size = Math.abs(x)
  return Math.sqrt(size < 0.5 ? 1 - size * size : (1 - size) * (1 + size))
}

/** The angle of (x, y) or, if `isLeft`, of (-x, y), for x and y that are not negative. */
function angleOf(y: number, x: number, isLeft: boolean): number {
  const isSteep = y > x
  const angle = angleBelow(isSteep ? x : y, isSteep ? y : x)
  if (isSteep) return isLeft ? HALF_PI + (angle + HALF_PI_REST) : HALF_PI - (angle - HALF_PI_REST)
  return isLeft ? PI - (angle - PI_REST) : angle
}

/** The angle of (long, short), 0 <= short <= long. */
function angleBelow(short: number, long: number): number {
  let y = short
  let x = long
  if (x > HUGE || x < TINY) {
    if (x === 0) return 0
    if (x === Infinity) return y === Infinity ? KNOWN[4] : 0
    const scale = x > HUGE ? SCALE_DOWN : SCALE_UP
    x *= scale
    y *= scale
  }
  const slope = y / x
  // Rounded to the nearest quarter; whole numbers this small are exact as int32.
  const i = (slope * 4 + 0.5) | 0
  const known = i * 0.25
  const t = i === 0 ? slope : (y - known * x) / (x + known * y)
  const z = t * t
  const bend = t * (z * (T1 + z * (T2 + z * (T3 + z * (T4 + z * (T5 + z * T6))))))
  return KNOWN[i] + (t + (bend + KNOWN_REST[i]))
}
