/**
 * IEEE floats and doubles, low byte first, at the cursor, aligned or not.
 *
 * Two families. `writeFloat`/`readFloat` carry finite numbers only: the writer replaces NaN by 0 and clamps values that
 * are too large. The reader refuses NaN and infinities, because one NaN in a position spoils every sum it enters. The
 * `Any` family carries all values, with one encoding of NaN (0x7fc00000, 0x7ff80000_00000000). Readers refuse other
 * encodings, which could carry hidden bits past every comparison.
 *
 * A double that is passed through a call which the engine does not inline is allocated. So the functions that take or
 * return a double are small enough to be inlined, and the work behind them is on words, through typed arrays of this
 * file.
 */

import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readU32Into, readU64Pair, writeU32, writeU64Pair } from './word.ts'

/** All ones in the exponent: infinity, or NaN if any bit below is set. */
const FLOAT_SPECIAL = 0x7f80_0000
const FLOAT_NAN = 0x7fc0_0000
const DOUBLE_SPECIAL_HI = 0x7ff0_0000
const DOUBLE_NAN_HI = 0x7ff8_0000

const float: Float32Array = new Float32Array(1)
const floatWord: Int32Array = new Int32Array(float.buffer)
const double: Float64Array = new Float64Array(1)
const doubleWords: Int32Array = new Int32Array(double.buffer)
double[0] = 1
/** Which half of a double's memory is the low one: it depends on the machine; the wire format does not. */
const LO: number = doubleWords[0] === 0 ? 0 : 1
const HI: number = 1 - LO
const pair: Int32Array = new Int32Array(2)

/** Writes 32 bits: NaN as 0, too large values as the largest finite one. @hot */
export function writeFloat(writer: BitWriter, value: number): void {
  float[0] = value
  storeFloat(writer, false)
}

/** Reads a finite float. @hot */
export function readFloat(reader: BitReader): number {
  loadFloat(reader, false)
  return float[0]
}

/** Writes 32 bits, NaN and infinities included. @hot */
export function writeFloatAny(writer: BitWriter, value: number): void {
  float[0] = value
  storeFloat(writer, true)
}

/** Reads any float. @hot */
export function readFloatAny(reader: BitReader): number {
  loadFloat(reader, true)
  return float[0]
}

/** Writes 64 bits: NaN as 0, infinities as the largest finite value. @hot */
export function writeDouble(writer: BitWriter, value: number): void {
  double[0] = value
  storeDouble(writer, false)
}

/** Reads a finite double. @hot */
export function readDouble(reader: BitReader): number {
  loadDouble(reader, false)
  return double[0]
}

/** Writes 64 bits, NaN and infinities included. @hot */
export function writeDoubleAny(writer: BitWriter, value: number): void {
  double[0] = value
  storeDouble(writer, true)
}

/** Reads any double. @hot */
export function readDoubleAny(reader: BitReader): number {
  loadDouble(reader, true)
  return double[0]
}

function storeFloat(writer: BitWriter, isAny: boolean): void {
  const word = floatWord[0]
  if ((word & FLOAT_SPECIAL) !== FLOAT_SPECIAL) writeU32(writer, word)
  else if ((word & ~FLOAT_SPECIAL) << 1 !== 0) writeU32(writer, isAny ? FLOAT_NAN : 0)
  else writeU32(writer, isAny ? word : word - 1)
}

function loadFloat(reader: BitReader, isAny: boolean): void {
  readU32Into(reader, floatWord, 0)
  const word = floatWord[0]
  const isSpecial = (word & FLOAT_SPECIAL) === FLOAT_SPECIAL
  const isKnown = isAny && ((word & ~FLOAT_SPECIAL) << 1 === 0 || word === FLOAT_NAN)
  if (isSpecial && !isKnown) reader.fail()
  if (reader.failed) floatWord[0] = 0
}

function storeDouble(writer: BitWriter, isAny: boolean): void {
  const lo = doubleWords[LO]
  const hi = doubleWords[HI]
  if ((hi & DOUBLE_SPECIAL_HI) !== DOUBLE_SPECIAL_HI) writeU64Pair(writer, lo, hi)
  else if ((hi & ~DOUBLE_SPECIAL_HI) << 1 !== 0 || lo !== 0) writeU64Pair(writer, 0, isAny ? DOUBLE_NAN_HI : 0)
  else writeU64Pair(writer, isAny ? lo : -1, isAny ? hi : hi - 1)
}

function loadDouble(reader: BitReader, isAny: boolean): void {
  readU64Pair(reader, pair, 0)
  const lo = pair[0]
  const hi = pair[1]
  const isSpecial = (hi & DOUBLE_SPECIAL_HI) === DOUBLE_SPECIAL_HI
  const isKnown = isAny && lo === 0 && ((hi & ~DOUBLE_SPECIAL_HI) << 1 === 0 || hi === DOUBLE_NAN_HI)
  if (isSpecial && !isKnown) reader.fail()
  doubleWords[LO] = reader.failed ? 0 : lo
  doubleWords[HI] = reader.failed ? 0 : hi
}
