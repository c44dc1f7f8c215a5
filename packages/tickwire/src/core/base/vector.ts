/**
 * Vectors over plain numbers: `{ x, y, z }` of any kind, a field of an object as well as a literal.
 *
 * Functions write to an out-parameter, which may be one of the arguments, and allocate nothing. They use only exact
 * operations in a fixed order, so results have the same bits everywhere.
 */

import { hypot } from './math.ts'

/** Three numbers. */
export interface Xyz {
  /** The first number. */
  x: number
  /** The second number. */
  y: number
  /** The third number. */
  z: number
}

/** @hot out = a + b */
export function add(a: Readonly<Xyz>, b: Readonly<Xyz>, out: Xyz): void {
  set(a.x + b.x, a.y + b.y, a.z + b.z, out)
}

/** @hot out = a - b */
export function subtract(a: Readonly<Xyz>, b: Readonly<Xyz>, out: Xyz): void {
  set(a.x - b.x, a.y - b.y, a.z - b.z, out)
}

/** @hot out = a + b * by: a step along a velocity. */
export function addScaled(a: Readonly<Xyz>, b: Readonly<Xyz>, by: number, out: Xyz): void {
  set(a.x + b.x * by, a.y + b.y * by, a.z + b.z * by, out)
}

/** @hot out = a * by */
export function scale(a: Readonly<Xyz>, by: number, out: Xyz): void {
  set(a.x * by, a.y * by, a.z * by, out)
}

/** @hot The dot product: the product of the lengths and the cosine of the angle between. */
export function dot(a: Readonly<Xyz>, b: Readonly<Xyz>): number {
  return a.x * b.x + a.y * b.y + a.z * b.z
}

/** @hot out = a x b, the cross product, perpendicular to both. */
export function cross(a: Readonly<Xyz>, b: Readonly<Xyz>, out: Xyz): void {
  set(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, out)
}

/** @hot The length. */
export function length(a: Readonly<Xyz>): number {
  return hypot(a.x, a.y, a.z)
}

/** @hot The distance between two points. */
export function distance(a: Readonly<Xyz>, b: Readonly<Xyz>): number {
  return hypot(a.x - b.x, a.y - b.y, a.z - b.z)
}

/** @hot out = a scaled to length 1; the zero vector has no direction and stays zero. */
export function normalize(a: Readonly<Xyz>, out: Xyz): void {
  const size = length(a) || 1
  set(a.x / size, a.y / size, a.z / size, out)
}

/** @hot out = the point a fraction t of the way from a to b: exactly a at 0, and at 1 within rounding of b. */
export function lerp(a: Readonly<Xyz>, b: Readonly<Xyz>, t: number, out: Xyz): void {
  set(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t, out)
}

function set(x: number, y: number, z: number, out: Xyz): void {
  out.x = x
  out.y = y
  out.z = z
}
