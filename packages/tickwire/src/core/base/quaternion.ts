/**
 * Rotations as unit quaternions `{ x, y, z, w }`. (0, 0, 0, 1) is no rotation.
 *
 * Functions write to an out-parameter, which may be one of the arguments, and allocate nothing. They use the exact
 * functions, so results have the same bits everywhere. Inputs are assumed to have unit length and are not checked. Each
 * product drifts by one rounding, so `normalize` the result of long chains.
 */

import { cos, sin } from './math.ts'
import type { Xyz } from './vector.ts'

/** Four numbers. */
export interface Xyzw extends Xyz {
  /** The fourth number: of a rotation, the cosine of half its angle. */
  w: number
}

/**
 * sin(t h) / sin(h) = t (1 + b1 (1 + b2 (1 + ...))) with b_i = (t^2 / (i (2 i + 1)) - i / (2 i + 1)) (cos h - 1): a
 * series in the cosine, so that slerp needs no angle. 16 terms are good to 1e-14 for h up to an eighth of a turn.
 */
const TERMS = 16
const SQUARE_PARTS = Float64Array.from({ length: TERMS }, (_, i) => 1 / ((i + 1) * (2 * i + 3)))
const CONSTANT_PARTS = Float64Array.from({ length: TERMS }, (_, i) => (i + 1) / (2 * i + 3))

/** @hot out = the rotation by an angle in radians around a unit axis, counter-clockwise when the axis points at you. */
export function fromAxisAngle(axis: Readonly<Xyz>, angle: number, out: Xyzw): void {
  const s = sin(angle / 2)
  set(axis.x * s, axis.y * s, axis.z * s, cos(angle / 2), out)
}

/** @hot out = first b, then a. */
export function multiply(a: Readonly<Xyzw>, b: Readonly<Xyzw>, out: Xyzw): void {
  set(
    a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
    a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
    a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    out,
  )
}

/** @hot out = the rotation that undoes a. */
export function conjugate(a: Readonly<Xyzw>, out: Xyzw): void {
  set(-a.x, -a.y, -a.z, a.w, out)
}

/** @hot out = a of length 1; no rotation if a is zero. */
export function normalize(a: Readonly<Xyzw>, out: Xyzw): void {
  const size = Math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w)
  if (size > 0) set(a.x / size, a.y / size, a.z / size, a.w / size, out)
  else set(0, 0, 0, 1, out)
}

/** @hot out = v rotated by q. */
export function rotate(q: Readonly<Xyzw>, v: Readonly<Xyz>, out: Xyz): void {
  const x = v.x
  const y = v.y
  const z = v.z
  const tx = 2 * (q.y * z - q.z * y)
  const ty = 2 * (q.z * x - q.x * z)
  const tz = 2 * (q.x * y - q.y * x)
  out.x = x + q.w * tx + (q.y * tz - q.z * ty)
  out.y = y + q.w * ty + (q.z * tx - q.x * tz)
  out.z = z + q.w * tz + (q.x * ty - q.y * tx)
}

/**
 * @hot out = a fraction t of the way from a to b at constant speed, the short way round. For large turns.
 *
 * The midpoint is a sum. From there it is at most an eighth of a turn to either end, as the series requires.
 */
export function slerp(a: Readonly<Xyzw>, b: Readonly<Xyzw>, t: number, out: Xyzw): void {
  const cosine = dot(a, b)
  const sign = cosine < 0 ? -1 : 1
  const toMiddle = 1 / Math.sqrt(2 + 2 * Math.abs(cosine))
  // The cosine of half the way, less 1: (1 + |cosine|) / 2 is its square.
  const drop = (1 + Math.abs(cosine)) * toMiddle - 1
  const isFirstHalf = t < 0.5
  const share = isFirstHalf ? 2 * t : 2 - 2 * t
  const rest = 1 - share
  // Both series in one loop: the processor computes them in parallel.
  let ofMiddle = 1
  let ofEnd = 1
  for (let i = TERMS - 1; i >= 0; i--) {
    ofMiddle = 1 + (SQUARE_PARTS[i] * (share * share) - CONSTANT_PARTS[i]) * drop * ofMiddle
    ofEnd = 1 + (SQUARE_PARTS[i] * (rest * rest) - CONSTANT_PARTS[i]) * drop * ofEnd
  }
  const both = share * ofMiddle * toMiddle
  const near = both + rest * ofEnd
  mix(a, b, isFirstHalf ? near : both, sign * (isFirstHalf ? both : near), out)
}

/** @hot The same way at nearly constant speed, for half the cost. For the small turns between two snapshots. */
export function nlerp(a: Readonly<Xyzw>, b: Readonly<Xyzw>, t: number, out: Xyzw): void {
  mix(a, b, 1 - t, dot(a, b) < 0 ? -t : t, out)
  normalize(out, out)
}

function dot(a: Readonly<Xyzw>, b: Readonly<Xyzw>): number {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
}

function mix(a: Readonly<Xyzw>, b: Readonly<Xyzw>, partA: number, partB: number, out: Xyzw): void {
  set(
    a.x * partA + b.x * partB, a.y * partA + b.y * partB, a.z * partA + b.z * partB, a.w * partA + b.w * partB, out,
  )
}

function set(x: number, y: number, z: number, w: number, out: Xyzw): void {
  out.x = x
  out.y = y
  out.z = z
  out.w = w
}
