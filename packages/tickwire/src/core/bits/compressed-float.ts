/** Floats quantised by a `FloatQuant`: `quant.bits` bits, most significant first. */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { dequantizeFloat, quantizeFloat, type FloatQuant } from './quantize.ts'

/** Writes the nearest step; values outside the range are clamped, NaN counts as 0. @hot */
export function writeCompressedFloat(writer: BitWriter, value: number, quant: FloatQuant): void {
  writer.writeBits(quantizeFloat(quant, value), quant.bits)
}

/** Reads a step and returns its value; refuses steps above the range. `min` once failed. @hot */
export function readCompressedFloat(reader: BitReader, quant: FloatQuant): number {
  return dequantizeFloat(quant, readStep(reader, quant))
}

/** Reads a step, 0..stepsMax; 0 once failed. @hot */
export function readStep(reader: BitReader, quant: FloatQuant): number {
  const step = reader.readBits(quant.bits)
  if (step <= quant.stepsMax) return step
  reader.fail()
  return 0
}
