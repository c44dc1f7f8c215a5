/**
 * Vectors of two, three and four compressed floats, x first, without padding: each component by its own quantum, or
 * all by one. Readers fill a vector the caller owns.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readCompressedFloat, writeCompressedFloat } from './compressed-float.ts'
import type { FloatQuant } from './quantize.ts'

/** The numbers of a vector of `Count` components. */
export type Vector<Count extends 2 | 3 | 4> = Components<Count, number>

/** One quantum for all components, or one each. */
export type VectorQuant<Count extends 2 | 3 | 4> = FloatQuant | Readonly<Components<Count, FloatQuant>>

type Components<Count extends 2 | 3 | 4, T> =
  Count extends 2 ? { x: T; y: T } : Count extends 3 ? { x: T; y: T; z: T } : { x: T; y: T; z: T; w: T }

/** Writes x, y. @hot */
export function writeVector2(writer: BitWriter, value: Readonly<Vector<2>>, quant: VectorQuant<2>): void {
  writeCompressedFloat(writer, value.x, 'bits' in quant ? quant : quant.x)
  writeCompressedFloat(writer, value.y, 'bits' in quant ? quant : quant.y)
}

/** Reads x, y into `out`. @hot */
export function readVector2(reader: BitReader, out: Vector<2>, quant: VectorQuant<2>): void {
  out.x = readCompressedFloat(reader, 'bits' in quant ? quant : quant.x)
  out.y = readCompressedFloat(reader, 'bits' in quant ? quant : quant.y)
}

/** Writes x, y, z. @hot */
export function writeVector3(writer: BitWriter, value: Readonly<Vector<3>>, quant: VectorQuant<3>): void {
  writeVector2(writer, value, quant)
  writeCompressedFloat(writer, value.z, 'bits' in quant ? quant : quant.z)
}

/** Reads x, y, z into `out`. @hot */
export function readVector3(reader: BitReader, out: Vector<3>, quant: VectorQuant<3>): void {
  readVector2(reader, out, quant)
  out.z = readCompressedFloat(reader, 'bits' in quant ? quant : quant.z)
}

/** Writes x, y, z, w. For rotations see `quaternion.ts`. @hot */
export function writeVector4(writer: BitWriter, value: Readonly<Vector<4>>, quant: VectorQuant<4>): void {
  writeVector3(writer, value, quant)
  writeCompressedFloat(writer, value.w, 'bits' in quant ? quant : quant.w)
}

/** Reads x, y, z, w into `out`. @hot */
export function readVector4(reader: BitReader, out: Vector<4>, quant: VectorQuant<4>): void {
  readVector3(reader, out, quant)
  out.w = readCompressedFloat(reader, 'bits' in quant ? quant : quant.w)
}
