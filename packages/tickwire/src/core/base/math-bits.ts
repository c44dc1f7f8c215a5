/**
 * Access to the bits of a double: its two 32-bit halves, and exact scaling by powers of two.
 *
 *   high half   s eeeeeeeeeee mmmmmmmmmmmmmmmmmmmm      sign, exponent + 1023, top 20 bits of the fraction
 *   low half    mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm        the other 32 bits
 *
 * The order of the halves in memory is tested once, so the machine's byte order never shows. The bits of a NaN depend
 * on the engine: no function here reads them, and callers handle NaN first.
 */

const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

double[0] = 1
const HIGH = halves[1] === 0 ? 0 : 1
const LOW = 1 - HIGH

/** @hot Sign, exponent and top 20 bits of the fraction. */
export function highHalf(x: number): number {
  double[0] = x
  return halves[HIGH]
}

/** @hot The low 32 bits of the fraction. */
export function lowHalf(x: number): number {
  double[0] = x
  return halves[LOW]
}

/**
 * 2^-600 .. 2^600. A table, because assembling a double from its halves stalls the processor (a wide read after two
 * narrow writes): log took 34 ns that way and takes 13 ns this way.
 */
const REACH = 600
const POWERS = new Float64Array(2 * REACH + 1)
POWERS[REACH] = 1
for (let k = 1; k <= REACH; k++) {
  POWERS[REACH + k] = POWERS[REACH + k - 1] * 2
  POWERS[REACH - k] = POWERS[REACH - k + 1] * 0.5
}

/**
 * @hot x * 2^k for whole k within 1200, rounded at most once if x or the result is near 1: two steps of half the way,
 * so that no step overflows or loses bits before the last.
 */
export function scaleByPowerOfTwo(x: number, k: number): number {
  const half = k >> 1
  return x * POWERS[REACH + half] * POWERS[REACH + k - half]
}

const MIN_NORMAL = 2.2250738585072014e-308
const TWO_54 = 18014398509481984

/** @hot The whole k for which x = m * 2^k with m in sqrt(1/2) .. sqrt(2). For finite x > 0. */
export function nearestPowerOfTwo(x: number): number {
  // Adding carries into the exponent exactly where the fraction reaches sqrt 2.
  if (x < MIN_NORMAL) return ((highHalf(x * TWO_54) + 0x95f62) >> 20) - 1023 - 54
  return ((highHalf(x) + 0x95f62) >> 20) - 1023
}
