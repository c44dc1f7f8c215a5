/**
 * IEEE floats and doubles, low byte first, at the cursor, aligned or not.
 *
 * Two families. `writeFloat`/`readFloat` carry finite numbers only: the writer takes NaN for 0 and clamps what is too
 * large, the reader refuses NaN and infinities, for one NaN in a position spoils every sum it meets. The `Any` family
 * carries them all, with one spelling of NaN (0x7fc00000, 0x7ff80000_00000000): readers refuse the others, which
 * would smuggle bits past every comparison.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readU32, readU64Pair, writeU32, writeU64Pair } from './word.ts'

const FLOAT_MAX = 3.4028234663852886e38
const FLOAT_NAN = 0x7fc0_0000
const DOUBLE_NAN_HI = 0x7ff8_0000

const float: Float32Array = new Float32Array(1)
const floatWord: Int32Array = new Int32Array(float.buffer)
const double: Float64Array = new Float64Array(1)
const doubleWords: Int32Array = new Int32Array(double.buffer)
double[0] = 1
/** Which half of a double's memory is the low one: hosts differ, the wire does not. */
const LO: number = doubleWords[0] === 0 ? 0 : 1
const HI: number = 1 - LO
const pair: Int32Array = new Int32Array(2)

/** Writes 32 bits: NaN as 0, too large as the largest finite. @hot */
export function writeFloat(writer: BitWriter, value: number): void {
  writeFloatAny(writer, value > FLOAT_MAX ? FLOAT_MAX : value < -FLOAT_MAX ? -FLOAT_MAX : value === value ? value : 0)
}

/** Reads a finite float. @hot */
export function readFloat(reader: BitReader): number {
  const value = readFloatAny(reader)
  if (value - value === 0) return value
  reader.fail()
  return 0
}

/** Writes 32 bits, NaN and infinities included. @hot */
export function writeFloatAny(writer: BitWriter, value: number): void {
  float[0] = value
  writeU32(writer, value === value ? floatWord[0] : FLOAT_NAN)
}

/** Reads any float. @hot */
export function readFloatAny(reader: BitReader): number {
  const word = readU32(reader)
  floatWord[0] = word
  const value = float[0]
  if (value === value || word === FLOAT_NAN) return value
  reader.fail()
  return 0
}

/** Writes 64 bits: NaN as 0, infinities as the largest finite. @hot */
export function writeDouble(writer: BitWriter, value: number): void {
  const most = Number.MAX_VALUE
  writeDoubleAny(writer, value > most ? most : value < -most ? -most : value === value ? value : 0)
}

/** Reads a finite double. @hot */
export function readDouble(reader: BitReader): number {
  const value = readDoubleAny(reader)
  if (value - value === 0) return value
  reader.fail()
  return 0
}

/** Writes 64 bits, NaN and infinities included. @hot */
export function writeDoubleAny(writer: BitWriter, value: number): void {
  double[0] = value
  if (value === value) writeU64Pair(writer, doubleWords[LO], doubleWords[HI])
  else writeU64Pair(writer, 0, DOUBLE_NAN_HI)
}

/** Reads any double. @hot */
export function readDoubleAny(reader: BitReader): number {
  readU64Pair(reader, pair, 0)
  doubleWords[LO] = pair[0]
  doubleWords[HI] = pair[1]
  const value = double[0]
  if (value === value || (pair[0] === 0 && pair[1] === DOUBLE_NAN_HI)) return value
  reader.fail()
  return 0
}
