/**
 * Predicts rotations: repeats the last turn, or integrates the angular velocity, and compares in the basis of the
 * component that is really dropped.
 *
 * Only + - * / and square roots of doubles, which every engine rounds alike (IEEE 754, no fused steps): both sides
 * predict the same codes.
 */

import { dequantizeQuat, isCanonicalQuat } from '../bits/quantize.ts'
import type { Layout } from '../schema/layout.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'

/** How the lanes of a rotation (the dropped component, three codes) represent it. */
export interface RotationGrid {
  /** The rotation of lanes as four doubles of unit length. */
  toUnit(lanes: Int32Array, at: number, out: Float64Array, outAt: number): void
  /** The three codes that approximate a rotation when `dropped` is the component to drop. */
  toCodes(unit: Float64Array, unitAt: number, dropped: number, out: Int32Array, outAt: number): void
  /** Whether lanes are a valid rotation of a row. */
  isRow(lanes: Int32Array, at: number): boolean
}

/** The grid of `quat(bits)`. */
export class SchemaGrid implements RotationGrid {
  readonly #bits: number
  readonly #half: number

  constructor(bits: number) {
    this.#bits = bits
    this.#half = (1 << (bits - 1)) - 1
  }

  toUnit(lanes: Int32Array, at: number, out: Float64Array, outAt: number): void {
    dequantizeQuat(this.#bits, lanes, at, out, outAt)
  }

  /** @hot */
  toCodes(unit: Float64Array, unitAt: number, dropped: number, out: Int32Array, outAt: number): void {
    const half = this.#half
    const scale = unit[unitAt + dropped] < 0 ? -half * Math.SQRT2 : half * Math.SQRT2
    let next = outAt
    for (let axis = 0; axis < 4; axis++) {
      if (axis === dropped) continue
      const steps = Math.round(unit[unitAt + axis] * scale)
      out[next++] = half + (steps > half ? half : steps < -half ? -half : steps)
    }
  }

  isRow(lanes: Int32Array, at: number): boolean {
    return isCanonicalQuat(this.#bits, lanes[at], lanes[at + 1], lanes[at + 2], lanes[at + 3])
  }
}

/** Makes the grid of a leaf. */
export type MakeGrid = (leaf: Leaf) => RotationGrid

/** The grid of the leaf's own kind. */
export const schemaGrid: MakeGrid = (leaf) => new SchemaGrid(leaf.width)

/** Indexed by leaf: the grid of a rotation, undefined for other leaves. */
export function gridsOf({ leaves }: Layout, makeGrid: MakeGrid): readonly (RotationGrid | undefined)[] {
  return leaves.map((leaf) => (leaf.kind === LEAF.quat ? makeGrid(leaf) : undefined))
}

/** Cells of the work below: the baseline's rotation, the older one's, a rotor, and the prediction. */
export const CELLS = { base: 0, older: 4, rotor: 8, predicted: 12, size: 16 } as const

/**
 * Sets the rotor to the turn from `older` to `base`, `times` over. It scales the tangent, which for small turns is the
 * angle. @hot
 */
export function repeatTurn(cells: Float64Array, times: number): void {
  const { base, older, rotor } = CELLS
  const ox = cells[older]
  const oy = cells[older + 1]
  const oz = cells[older + 2]
  const ow = cells[older + 3]
  const bx = cells[base]
  const by = cells[base + 1]
  const bz = cells[base + 2]
  const bw = cells[base + 3]
  // base * conjugate of older
  const w = bw * ow + bx * ox + by * oy + bz * oz
  const scale = w === 0 ? 0 : times / w
  cells[rotor] = (bx * ow - bw * ox + bz * oy - by * oz) * scale
  cells[rotor + 1] = (by * ow - bw * oy + bx * oz - bz * ox) * scale
  cells[rotor + 2] = (bz * ow - bw * oz + by * ox - bx * oy) * scale
}

/** Turns the baseline by the rotor (1, x, y, z) into `predicted`; returns the component of largest magnitude. @hot */
export function applyTurn(cells: Float64Array): number {
  const { base, rotor, predicted } = CELLS
  const rx = cells[rotor]
  const ry = cells[rotor + 1]
  const rz = cells[rotor + 2]
  const bx = cells[base]
  const by = cells[base + 1]
  const bz = cells[base + 2]
  const bw = cells[base + 3]
  const length = Math.sqrt(1 + rx * rx + ry * ry + rz * rz)
  cells[predicted] = (bx + rx * bw + ry * bz - rz * by) / length
  cells[predicted + 1] = (by + ry * bw + rz * bx - rx * bz) / length
  cells[predicted + 2] = (bz + rz * bw + rx * by - ry * bx) / length
  cells[predicted + 3] = (bw - rx * bx - ry * by - rz * bz) / length
  let largest = 0
  for (let axis = 1; axis < 4; axis++) {
    if (Math.abs(cells[predicted + axis]) > Math.abs(cells[predicted + largest])) largest = axis
  }
  return largest
}
