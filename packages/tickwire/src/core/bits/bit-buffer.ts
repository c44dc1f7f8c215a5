/**
 * One object over a writer or a reader, so that one function serialises both ways.
 *
 * ```ts
 * function serialize(buffer: BitBuffer, shot: Shot): void {
 *   shot.charge = buffer.rangedInt(shot.charge, 0, 1023)
 *   shot.piercing = buffer.bool(shot.piercing)
 *   buffer.vector3(shot.origin, ORIGIN)
 * }
 * ```
 *
 * When writing, each method writes its value and returns it unchanged. When reading, it ignores its value and returns
 * the value that was read. The bits are those of the free functions (`writeRangedInt`, `readRangedInt`, …): this file
 * adds none.
 *
 * The two directions cannot diverge, because they are the same line of code. The price is one branch for each field.
 */

import { assert } from '../base/assert.ts'
import type { BitReader } from './bit-reader.ts'
import type { BitWriter } from './bit-writer.ts'
import { readBytes, writeBytes } from './blob.ts'
import { readBool, readByte, writeBool, writeByte } from './byte.ts'
import { readCompressedFloat, writeCompressedFloat } from './compressed-float.ts'
import {
  readDouble, readDoubleAny, readFloat, readFloatAny, writeDouble, writeDoubleAny, writeFloat, writeFloatAny,
} from './float.ts'
import type { FloatQuant } from './quantize.ts'
import { readQuaternion, writeQuaternion } from './quaternion.ts'
import { readEnum, readRangedInt, writeEnum, writeRangedInt } from './ranged-int.ts'
import { longRange, readRangedLong, writeRangedLong } from './ranged-long.ts'
import { readFixedString, readString, writeFixedString, writeString } from './text.ts'
import { readInt, readLong, readVarint, writeInt, writeLong, writeVarint } from './varint.ts'
import {
  readVector2, readVector3, readVector4, writeVector2, writeVector3, writeVector4, type Vector, type VectorQuant,
} from './vector.ts'
import { readU16, readU32, writeU16, writeU32 } from './word.ts'

/** A cursor of either direction with all typed helpers. */
export class BitBuffer {
  #writer: BitWriter | null
  #reader: BitReader | null

  constructor() {
    this.#writer = null
    this.#reader = null
  }

  /** Writes to `writer` from now on. Returns itself. */
  overWriter(writer: BitWriter): this {
    this.#writer = writer
    this.#reader = null
    return this
  }

  /** Reads from `reader` from now on. Returns itself. */
  overReader(reader: BitReader): this {
    this.#writer = null
    this.#reader = reader
    return this
  }

  /** Whether values are written, and not read. */
  get isWriting(): boolean {
    return this.#writer !== null
  }

  /** The cursor's sticky failure: past the end or, when reading, invalid bits. */
  get failed(): boolean {
    return this.#writer !== null ? this.#writer.failed : this.#in().failed
  }

  /**
   * When reading, marks the bits as invalid: for the caller's own checks. When writing, an invalid value is a caller's
   * bug.
   */
  refuse(): void {
    assert(this.#writer === null, 'a value can be refused only while reading')
    this.#in().fail()
  }

  /** One bit. */
  bool(value: boolean): boolean {
    if (this.#writer === null) return readBool(this.#in())
    writeBool(this.#writer, value)
    return value
  }

  /** 0..255 in 8 bits. */
  byte(value: number): number {
    if (this.#writer === null) return readByte(this.#in())
    writeByte(this.#writer, value)
    return value
  }

  /** 0..65,535, low byte first. */
  u16(value: number): number {
    if (this.#writer === null) return readU16(this.#in())
    writeU16(this.#writer, value)
    return value
  }

  /** 0..2^32-1, low byte first. */
  u32(value: number): number {
    if (this.#writer === null) return readU32(this.#in())
    writeU32(this.#writer, value)
    return value
  }

  /** A safe integer, 0..2^53-1, in 1..8 bytes. */
  varint(value: number): number {
    if (this.#writer === null) return readVarint(this.#in())
    writeVarint(this.#writer, value)
    return value
  }

  /** An int32, zig-zag, in 1..5 bytes. */
  int(value: number): number {
    if (this.#writer === null) return readInt(this.#in())
    writeInt(this.#writer, value)
    return value
  }

  /** A whole number from min to max. */
  rangedInt(value: number, min: number, max: number): number {
    if (this.#writer === null) return readRangedInt(this.#in(), min, max)
    writeRangedInt(this.#writer, value, min, max)
    return value
  }

  /** An int64, zig-zag, in 1..9 bytes. */
  long(value: bigint): bigint {
    if (this.#writer === null) return readLong(this.#in())
    writeLong(this.#writer, value)
    return value
  }

  /** A 64-bit whole number from min to max. */
  rangedLong(value: bigint, min: bigint, max: bigint): bigint {
    const range = longRange(min, max)
    if (this.#writer === null) return readRangedLong(this.#in(), range)
    writeRangedLong(this.#writer, value, range)
    return value
  }

  /** A choice 0..count-1. */
  enum(index: number, count: number): number {
    if (this.#writer === null) return readEnum(this.#in(), count)
    writeEnum(this.#writer, index, count)
    return index
  }

  /** A finite float, 32 bits. */
  float(value: number): number {
    if (this.#writer === null) return readFloat(this.#in())
    writeFloat(this.#writer, value)
    return value
  }

  /** Any float, NaN and infinities included, 32 bits. */
  floatAny(value: number): number {
    if (this.#writer === null) return readFloatAny(this.#in())
    writeFloatAny(this.#writer, value)
    return value
  }

  /** A finite double, 64 bits. */
  double(value: number): number {
    if (this.#writer === null) return readDouble(this.#in())
    writeDouble(this.#writer, value)
    return value
  }

  /** Any double, NaN and infinities included, 64 bits. */
  doubleAny(value: number): number {
    if (this.#writer === null) return readDoubleAny(this.#in())
    writeDoubleAny(this.#writer, value)
    return value
  }

  /** A quantised float. */
  compressedFloat(value: number, quant: FloatQuant): number {
    if (this.#writer === null) return readCompressedFloat(this.#in(), quant)
    writeCompressedFloat(this.#writer, value, quant)
    return value
  }

  /** Two quantised floats; reading fills `value`. */
  vector2(value: Vector<2>, quant: VectorQuant<2>): Vector<2> {
    if (this.#writer === null) readVector2(this.#in(), value, quant)
    else writeVector2(this.#writer, value, quant)
    return value
  }

  /** Three quantised floats; reading fills `value`. */
  vector3(value: Vector<3>, quant: VectorQuant<3>): Vector<3> {
    if (this.#writer === null) readVector3(this.#in(), value, quant)
    else writeVector3(this.#writer, value, quant)
    return value
  }

  /** Four quantised floats; reading fills `value`. */
  vector4(value: Vector<4>, quant: VectorQuant<4>): Vector<4> {
    if (this.#writer === null) readVector4(this.#in(), value, quant)
    else writeVector4(this.#writer, value, quant)
    return value
  }

  /** A rotation, smallest three; reading fills `value`. */
  quaternion(value: Vector<4>, bits?: number): Vector<4> {
    if (this.#writer === null) readQuaternion(this.#in(), value, bits)
    else writeQuaternion(this.#writer, value, bits)
    return value
  }

  /** Text, prefixed by its size. */
  string(value: string, maxBytes?: number): string {
    if (this.#writer === null) return readString(this.#in(), maxBytes)
    writeString(this.#writer, value, maxBytes)
    return value
  }

  /** Text in exactly `bytes` bytes. */
  fixedString(value: string, bytes: number): string {
    if (this.#writer === null) return readFixedString(this.#in(), bytes)
    writeFixedString(this.#writer, value, bytes)
    return value
  }

  /** Raw bytes, prefixed by their count; reading returns a new array. */
  bytes(value: Uint8Array, maxBytes?: number): Uint8Array {
    if (this.#writer === null) return readBytes(this.#in(), maxBytes)
    writeBytes(this.#writer, value, maxBytes)
    return value
  }

  /** A bit field of 0..32 bits. */
  bits(value: number, width: number): number {
    if (this.#writer === null) return this.#in().readBits(width)
    this.#writer.writeBits(value, width)
    return value
  }

  #in(): BitReader {
    assert(this.#reader !== null, 'a bit buffer stands over a writer or a reader')
    return this.#reader
  }
}
