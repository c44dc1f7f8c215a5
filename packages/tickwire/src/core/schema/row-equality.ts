/**
 * Whether two rows are the same to prediction. A field may differ by one step where a step is a rounding: two peers
 * that compute the same number to within less than a step may still round it differently. Everything else must be
 * equal.
 *
 * Bit-exact equality, which deltas and hashes use, is a comparison of lanes and needs no function.
 */

import { dequantizeQuat } from '../bits/quantize.ts'
import type { Layout } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'

/** Whether two rows are equal, apart from noise below a step. @hot */
export function isClose(
  layout: Layout, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number,
): boolean {
  const { laneCount, leaves } = layout
  // Most predictions are right to the bit.
  let lane = 0
  while (lane < laneCount && rows[at + lane] === otherRows[otherAt + lane]) lane++
  if (lane === laneCount) return true
  for (let index = 0; index < leaves.length; index++) {
    if (!isLeafClose(leaves[index], rows, at, otherRows, otherAt)) return false
  }
  return true
}

/** The first leaf by which two rows differ to prediction; undefined if none does. */
export function firstDifference(
  layout: Layout, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number,
): Leaf | undefined {
  return layout.leaves.find((leaf) => !isLeafClose(leaf, rows, at, otherRows, otherAt))
}

/** Whether one leaf of two rows is the same to prediction. @hot */
export function isLeafClose(leaf: Leaf, rows: Int32Array, at: number, otherRows: Int32Array, otherAt: number): boolean {
  const a = at + leaf.lane
  const b = otherAt + leaf.lane
  let isEqual = true
  for (let lane = 0; lane < leaf.laneCount; lane++) if (rows[a + lane] !== otherRows[b + lane]) isEqual = false
  if (isEqual || leaf.tolerance === 0) return isEqual
  if (leaf.kind === LEAF.quat) return isRotationClose(leaf, rows, a, otherRows, b)
  const apart = Math.abs((rows[a] >>> 0) - (otherRows[b] >>> 0))
  // Across the wrap, the last step and the first are neighbours.
  return apart <= leaf.tolerance || (leaf.kind === LEAF.angle && leaf.max + 1 - apart <= leaf.tolerance)
}

/**
 * With the same component dropped two codes may differ by two: one step of noise, and one from normalising to unit
 * length. With different components dropped the codes have nothing in common, because the two largest components are
 * nearly equal and a rounding chose between them. Then the rotations themselves are compared, where q and -q are the
 * same.
 */
function isRotationClose(leaf: Leaf, rows: Int32Array, a: number, otherRows: Int32Array, b: number): boolean {
  if (rows[a] === otherRows[b]) {
    for (let lane = 1; lane <= 3; lane++)
      if (Math.abs(rows[a + lane] - otherRows[b + lane]) > 2 * leaf.tolerance) return false
    return true
  }
  dequantizeQuat(leaf.width, rows, a, rotations, 0)
  dequantizeQuat(leaf.width, otherRows, b, rotations, 4)
  let dot = 0
  for (let axis = 0; axis < 4; axis++) dot += rotations[axis] * rotations[4 + axis]
  const sign = dot < 0 ? -1 : 1
  // A rebuilt component may differ by the sum of the steps of the other three.
  const apartMax = (4 * leaf.tolerance * Math.SQRT1_2) / ((1 << (leaf.width - 1)) - 1)
  for (let axis = 0; axis < 4; axis++)
    if (Math.abs(rotations[axis] - sign * rotations[4 + axis]) > apartMax) return false
  return true
}

const rotations = new Float64Array(8)
