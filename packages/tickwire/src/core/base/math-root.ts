/**
 * hypot and cbrt from exact operations alone. `Math.sqrt` is exact by ECMA-262 and needs no replacement here.
 *
 * Errors and special values: docs/spec/numbers.md.
 */

import { nearestPowerOfTwo, scaleByPowerOfTwo } from './math-bits.ts'

/** 2^500 and 2^-450: beyond them squares overflow or lose bits, and the sides are scaled first. */
const HUGE = 3.273390607896142e150
const TINY = 3.4399574466453925e-136
const SCALE_DOWN = 2.409919865102884e-181
const SCALE_UP = 4.149515568880993e180

// One over the cube root, on 0.7 .. 5.7, to 7 bits: minimax.
const R0 = 1.5015222884011128
const R1 = -0.6997702946887437
const R2 = 0.24357097638463227
const R3 = -0.04122547081503909
const R4 = 0.0026274127745438756

// (1 - h)^(-1/3) = 1 + H1 h + H2 h^2 + H3 h^3 + ...
const H1 = 0.3333333333333333
const H2 = 0.2222222222222222
const H3 = 0.1728395061728395

/** @hot The length of (x, y) or (x, y, z), without overflow or underflow on the way. Infinite if any side is. */
export function hypot(x: number, y: number, z: number = 0): number {
  const size = Math.max(Math.abs(x), Math.abs(y), Math.abs(z))
  if ((size < HUGE && size > TINY) || size === 0) return Math.sqrt(x * x + y * y + z * z)
  return +hypotScaled(x, y, z, size)
}

function hypotScaled(x: number, y: number, z: number, size: number): number {
  if (Math.abs(x) === Infinity || Math.abs(y) === Infinity || Math.abs(z) === Infinity) return Infinity
  if (size !== size) return size
  const scale = size >= HUGE ? SCALE_DOWN : SCALE_UP
  const a = x * scale
  const b = y * scale
  const c = z * scale
  return Math.sqrt(a * a + b * b + c * c) / scale
}

/** @hot The cube root, of negative numbers too. Exact for cubes of whole numbers. */
export function cbrt(x: number): number {
  if (x === 0 || x - x !== 0) return x
  const size = Math.abs(x)
  // x = m * 8^thirds with m in 0.7 .. 5.7
  const thirds = Math.floor(nearestPowerOfTwo(size) / 3)
  const m = scaleByPowerOfTwo(size, -3 * thirds)

  // A guess of 1 / root, good to 7 bits. Its error h corrects it to 24 bits, without a division.
  const guess = R0 + m * (R1 + m * (R2 + m * (R3 + m * R4)))
  const h = 1 - m * guess * guess * guess
  const inverse = guess + guess * (h * (H1 + h * (H2 + h * H3)))

  // The root cut to 24 bits has an exact square; a Newton step with its next term corrects the rest.
  const root = Math.fround(m * inverse * inverse)
  const step = (m / (root * root) - root) * H1
  const settled = scaleByPowerOfTwo(root + (step - step * step * inverse), thirds)
  return x < 0 ? -settled : settled
}
