/**
 * Vectors of two, three and four compressed floats, x first, without padding: each component with its own quantisation,
 * or all with the same. Readers fill a vector that the caller owns.
 *
 * No double is passed through a call here except by `dequantizeFloat`, which is small enough to be inlined anywhere. A
 * double that is passed through a call is allocated when the engine does not inline the call.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readStep } from './compressed-float.ts'
import { dequantizeFloat, quantizeFloatAt, type FloatQuant } from './quantize.ts'

/** The numbers of a vector of `Count` components. */
export type Vector<Count extends 2 | 3 | 4> = Components<Count, number>

/** One quantisation for all components, or one for each. */
export type VectorQuant<Count extends 2 | 3 | 4> = FloatQuant | Readonly<Components<Count, FloatQuant>>

type Components<Count extends 2 | 3 | 4, T> =
  Count extends 2 ? { x: T; y: T } : Count extends 3 ? { x: T; y: T; z: T } : { x: T; y: T; z: T; w: T }

/** Writes x, y. @hot */
export function writeVector2(writer: BitWriter, value: Readonly<Vector<2>>, quant: VectorQuant<2>): void {
  cell[0] = value.x
  writeCell(writer, 'bits' in quant ? quant : quant.x)
  cell[0] = value.y
  writeCell(writer, 'bits' in quant ? quant : quant.y)
}

/** Reads x, y into `out`. @hot */
export function readVector2(reader: BitReader, out: Vector<2>, quant: VectorQuant<2>): void {
  const ofX = 'bits' in quant ? quant : quant.x
  const ofY = 'bits' in quant ? quant : quant.y
  out.x = dequantizeFloat(ofX, readStep(reader, ofX))
  out.y = dequantizeFloat(ofY, readStep(reader, ofY))
}

/** Writes x, y, z. @hot */
export function writeVector3(writer: BitWriter, value: Readonly<Vector<3>>, quant: VectorQuant<3>): void {
  writeVector2(writer, value, quant)
  cell[0] = value.z
  writeCell(writer, 'bits' in quant ? quant : quant.z)
}

/** Reads x, y, z into `out`. @hot */
export function readVector3(reader: BitReader, out: Vector<3>, quant: VectorQuant<3>): void {
  const ofZ = 'bits' in quant ? quant : quant.z
  readVector2(reader, out, quant)
  out.z = dequantizeFloat(ofZ, readStep(reader, ofZ))
}

/** Writes x, y, z, w. For rotations see `quaternion.ts`. @hot */
export function writeVector4(writer: BitWriter, value: Readonly<Vector<4>>, quant: VectorQuant<4>): void {
  writeVector3(writer, value, quant)
  cell[0] = value.w
  writeCell(writer, 'bits' in quant ? quant : quant.w)
}

/** Reads x, y, z, w into `out`. @hot */
export function readVector4(reader: BitReader, out: Vector<4>, quant: VectorQuant<4>): void {
  const ofW = 'bits' in quant ? quant : quant.w
  readVector3(reader, out, quant)
  out.w = dequantizeFloat(ofW, readStep(reader, ofW))
}

const cell: Float64Array = new Float64Array(1)

function writeCell(writer: BitWriter, quant: FloatQuant): void {
  writer.writeBits(quantizeFloatAt(quant, cell, 0), quant.bits)
}
