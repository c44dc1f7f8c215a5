/**
 * Every operation of the bits layer as data: how the engine writes and reads it, in both authoring forms. Every
 * operation listed here is compared with its twin in `bits-reference.ts`, fuzzed, and put into vectors. Values to try
 * are in `bits-cases.ts`.
 */

import type { BitBuffer } from '../../packages/tickwire/src/core/bits/bit-buffer.ts'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import * as blob from '../../packages/tickwire/src/core/bits/blob.ts'
import * as byte from '../../packages/tickwire/src/core/bits/byte.ts'
import * as compressed from '../../packages/tickwire/src/core/bits/compressed-float.ts'
import * as float from '../../packages/tickwire/src/core/bits/float.ts'
import { floatQuant, type FloatQuant } from '../../packages/tickwire/src/core/bits/quantize.ts'
import * as quaternion from '../../packages/tickwire/src/core/bits/quaternion.ts'
import * as rangedInt from '../../packages/tickwire/src/core/bits/ranged-int.ts'
import * as rangedLong from '../../packages/tickwire/src/core/bits/ranged-long.ts'
import * as text from '../../packages/tickwire/src/core/bits/text.ts'
import * as varint from '../../packages/tickwire/src/core/bits/varint.ts'
import * as vector from '../../packages/tickwire/src/core/bits/vector.ts'
import * as wide from '../../packages/tickwire/src/core/bits/wide-bits.ts'
import * as word from '../../packages/tickwire/src/core/bits/word.ts'
import type { Quant, TWINS } from './bits-reference.ts'

export type OperationName = keyof typeof TWINS
export type ValueOf<Name extends OperationName> = ReturnType<(typeof TWINS)[Name]['decode']>
export type ArgsOf<Name extends OperationName> =
  (typeof TWINS)[Name]['encode'] extends (value: never, ...args: infer Args) => string ? Args : never

/**
 * One operation as the engine does it, for loops that treat all alike: a value goes only to the operation it came from.
 */
export interface Operation {
  readonly name: OperationName
  write(writer: BitWriter, value: unknown, ...args: unknown[]): void
  read(reader: BitReader, ...args: unknown[]): unknown
  /** The same through a `BitBuffer`; null where it has no such method. */
  readonly both: ((buffer: BitBuffer, value: unknown, ...args: unknown[]) => unknown) | null
}

const pair = new Int32Array(2)
const low = (value: bigint): number => Number(BigInt.asIntN(32, value))
const high = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n))
const joined = (): bigint => BigInt.asUintN(64, (BigInt(pair[1]!) << 32n) | BigInt(pair[0]! >>> 0))
const plan = ({ min, max, precision }: Quant): FloatQuant => floatQuant(min, max, precision)

/** All of them. */
export const OPERATIONS: readonly Operation[] = [
  operation(
    'bits',
    (w, v, width) => w.writeBits(v, width),
    (r, width) => r.readBits(width),
    (b, v, width) => b.bits(v, width),
  ),
  operation(
    'wideBits',
    (w, v, width) => wide.writeBitsPair(w, low(v), high(v), width),
    (r, width) => {
      wide.readBitsPair(r, width, pair, 0)
      return joined()
    },
    null,
  ),
  operation('bool', byte.writeBool, byte.readBool, (b, v) => b.bool(v)),
  operation('byte', byte.writeByte, byte.readByte, (b, v) => b.byte(v)),
  operation('u16', word.writeU16, word.readU16, (b, v) => b.u16(v)),
  operation('u32', word.writeU32, word.readU32, (b, v) => b.u32(v)),
  operation(
    'u64',
    (w, v) => word.writeU64Pair(w, low(v), high(v)),
    (r) => {
      word.readU64Pair(r, pair, 0)
      return joined()
    },
    null,
  ),
  operation('varint', varint.writeVarint, varint.readVarint, (b, v) => b.varint(v)),
  operation('int', varint.writeInt, varint.readInt, (b, v) => b.int(v)),
  operation('long', varint.writeLong, varint.readLong, (b, v) => b.long(v)),
  operation('rangedInt', rangedInt.writeRangedInt, rangedInt.readRangedInt, (b, v, min, max) =>
    b.rangedInt(v, min, max),
  ),
  operation(
    'rangedLong',
    (w, v, min, max) => rangedLong.writeRangedLong(w, v, rangedLong.longRange(min, max)),
    (r, min, max) => rangedLong.readRangedLong(r, rangedLong.longRange(min, max)),
    (b, v, min, max) => b.rangedLong(v, min, max),
  ),
  operation('enum', rangedInt.writeEnum, rangedInt.readEnum, (b, v, count) => b.enum(v, count)),
  operation('float', float.writeFloat, float.readFloat, (b, v) => b.float(v)),
  operation('floatAny', float.writeFloatAny, float.readFloatAny, (b, v) => b.floatAny(v)),
  operation('double', float.writeDouble, float.readDouble, (b, v) => b.double(v)),
  operation('doubleAny', float.writeDoubleAny, float.readDoubleAny, (b, v) => b.doubleAny(v)),
  operation('compressedFloat', (w, v, quant) => compressed.writeCompressedFloat(w, v, plan(quant)),
    (r, quant) => compressed.readCompressedFloat(r, plan(quant)), (b, v, quant) => b.compressedFloat(v, plan(quant))),
  operation('vector3', (w, v, x, y, z) => vector.writeVector3(w, v, { x: plan(x), y: plan(y), z: plan(z) }),
    (r, x, y, z) => {
      const out = { x: 0, y: 0, z: 0 }
      vector.readVector3(r, out, { x: plan(x), y: plan(y), z: plan(z) })
      return out
    },
    (b, v, x, y, z) => b.vector3({ ...v }, { x: plan(x), y: plan(y), z: plan(z) })),
  operation('quaternion', quaternion.writeQuaternion,
    (r, bits) => { const out = { x: 0, y: 0, z: 0, w: 0 }; quaternion.readQuaternion(r, out, bits); return out },
    (b, v, bits) => b.quaternion({ ...v }, bits)),
  operation('string', text.writeString, text.readString, (b, v, max) => b.string(v, max)),
  operation('fixedString', text.writeFixedString, text.readFixedString, (b, v, bytes) => b.fixedString(v, bytes)),
  operation('bytes', blob.writeBytes, blob.readBytes, (b, v, max) => b.bytes(v, max)),
]

/** Checks the types of an operation against its twin, and erases them. */
function operation<Name extends OperationName>(
  name: Name,
  write: (writer: BitWriter, value: ValueOf<Name>, ...args: ArgsOf<Name>) => void,
  read: (reader: BitReader, ...args: ArgsOf<Name>) => ValueOf<Name>,
  both: ((buffer: BitBuffer, value: ValueOf<Name>, ...args: ArgsOf<Name>) => ValueOf<Name>) | null,
): Operation {
  return { name, write, read, both } as unknown as Operation
}
