/**
 * Rotations as smallest three: the index of the dropped component, then the codes of the others, from `quantize.ts`.
 *
 * ```
 * 2 bits  | bits  | bits  | bits          10 bits a component: 32 in all
 * dropped |   three codes in x, y, z, w order
 * ```
 *
 * Readers refuse every row but the canonical one, so a rotation has one encoding.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { dequantizeQuat, isCanonicalQuat, quantizeQuatAt } from './quantize.ts'
import type { Vector } from './vector.ts'

/** Default bits per component: 32 bits a rotation, at most 0.28 degrees off. */
export const QUATERNION_BITS = 10

const row: Int32Array = new Int32Array(4)
const unit: Float64Array = new Float64Array(4)

/** Writes the rotation nearest to `value`, which need not have unit length. @hot */
export function writeQuaternion(writer: BitWriter, value: Readonly<Vector<4>>, bits: number = QUATERNION_BITS): void {
  // Through a typed array: doubles passed to a call are allocated when the engine does not inline it.
  unit[0] = value.x
  unit[1] = value.y
  unit[2] = value.z
  unit[3] = value.w
  quantizeQuatAt(bits, unit, 0, row, 0)
  writer.writeBits(row[0], 2)
  writer.writeBits(row[1], bits)
  writer.writeBits(row[2], bits)
  writer.writeBits(row[3], bits)
}

/** Reads a rotation of unit length into `out`; identity once failed. @hot */
export function readQuaternion(reader: BitReader, out: Vector<4>, bits: number = QUATERNION_BITS): void {
  row[0] = reader.readBits(2)
  row[1] = reader.readBits(bits)
  row[2] = reader.readBits(bits)
  row[3] = reader.readBits(bits)
  if (reader.failed || !isCanonicalQuat(bits, row[0], row[1], row[2], row[3])) {
    reader.fail()
    out.x = out.y = out.z = 0
    out.w = 1
    return
  }
  dequantizeQuat(bits, row, 0, unit, 0)
  out.x = unit[0]
  out.y = unit[1]
  out.z = unit[2]
  out.w = unit[3]
}
