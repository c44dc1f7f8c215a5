/**
 * A double taken apart: its two 32-bit halves, and exact scaling by powers of two.
 *
 *   high half   s eeeeeeeeeee mmmmmmmmmmmmmmmmmmmm      sign, exponent + 1023, top 20 bits of the fraction
 *   low half    mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm        the other 32 bits
 *
 * Which half lies first in memory is asked of the machine once, so the byte order never shows. The bits of a NaN are
 * the engine's own affair: nobody here looks at them, callers settle NaN before.
 */

const cell = new Float64Array(1)
const halves = new Int32Array(cell.buffer)

cell[0] = 1
const HIGH = halves[1] === 0 ? 0 : 1
const LOW = 1 - HIGH

/** @hot Sign, exponent and top 20 bits of the fraction. */
export function highHalf(x: number): number {
  cell[0] = x
  return halves[HIGH]
}

/** @hot The low 32 bits of the fraction. */
export function lowHalf(x: number): number {
  cell[0] = x
  return halves[LOW]
}

/** @hot The same number with another sign, exponent and top of the fraction. */
export function withHighHalf(x: number, high: number): number {
  cell[0] = x
  halves[HIGH] = high
  return cell[0]
}

/** @hot Exactly 2^k, for k from -1022 to 1023. */
export function powerOfTwo(k: number): number {
  halves[HIGH] = (k + 1023) << 20
  halves[LOW] = 0
  return cell[0]
}

/** @hot x * 2^k with one rounding at most, for x near 1 and any k from -1100 to 1100: overflow and underflow are IEEE's own. */
export function scaleByPowerOfTwo(x: number, k: number): number {
  if (k > 1023) return x * powerOfTwo(1023) * powerOfTwo(k - 1023)
  // First to a place where the product is exact, then down: the only rounding is the last one.
  if (k < -1022) return x * powerOfTwo(k + 600) * powerOfTwo(-600)
  return x * powerOfTwo(k)
}
