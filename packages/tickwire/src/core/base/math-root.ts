/**
 * hypot and cbrt from exact operations alone. `Math.sqrt` is exact by ECMA-262 and needs no twin here.
 *
 * Errors and special values: docs/spec/numbers.md.
 */

import { highHalf, powerOfTwo, scaleByPowerOfTwo } from './math-bits.ts'

/** 2^500 and 2^-450: beyond them squares overflow or lose bits, and the sides are scaled first. */
const HUGE = 3.273390607896142e150
const TINY = 3.4399574466453925e-136
const SCALE_DOWN = 2.409919865102884e-181
const SCALE_UP = 4.149515568880993e180

const MIN_NORMAL = 2.2250738585072014e-308
const TWO_54 = 18014398509481984

// The cube root on 1 .. 8 to 7.5 bits: minimax.
const R0 = 0.6816837998650601
const R1 = 0.36452828636090884
const R2 = -0.04331016422136674
const R3 = 0.0023132240459294326

/** @hot The length of (x, y) or (x, y, z), without overflow or underflow on the way. Infinite if any side is. */
export function hypot(x: number, y: number, z: number = 0): number {
  const size = Math.max(Math.abs(x), Math.abs(y), Math.abs(z))
  if (size < HUGE && size > TINY) return Math.sqrt(x * x + y * y + z * z)
  return hypotScaled(x, y, z, size)
}

function hypotScaled(x: number, y: number, z: number, size: number): number {
  if (Math.abs(x) === Infinity || Math.abs(y) === Infinity || Math.abs(z) === Infinity) return Infinity
  if (size === 0 || size !== size) return size
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
  const isSubnormal = size < MIN_NORMAL
  const normal = isSubnormal ? size * TWO_54 : size
  // x = m * 8^thirds, m in 1 .. 8. The shift by 54 is 18 thirds.
  const exponent = (highHalf(normal) >>> 20) - 1023
  const thirds = Math.floor(exponent / 3)
  const m = scaleByPowerOfTwo(normal, -3 * thirds)
  const root = cubeRootNear(m) * powerOfTwo(isSubnormal ? thirds - 18 : thirds)
  return x < 0 ? -root : root
}

/** The cube root of m in 1 .. 8: a guess of 7 bits, then twice Halley's step, which triples the good bits. */
function cubeRootNear(m: number): number {
  let root = R0 + m * (R1 + m * (R2 + m * R3))
  const cube = root * root * root
  root = Math.fround((root * (cube + 2 * m)) / (2 * cube + m))
  // The root has 24 bits now, so its square is exact.
  const ratio = m / (root * root)
  return root + (root * (ratio - root)) / (root + root + ratio)
}
