/**
 * Every operation of the bits layer as data: how the engine writes and reads it, in both authoring forms, and what
 * values to try. What is listed here is held equal to its twin in `bits-reference.ts`, fuzzed, and put into vectors.
 */

import fc from 'fast-check'
import { BitBuffer } from '../../packages/tickwire/src/core/bits/bit-buffer.ts'
import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import * as blob from '../../packages/tickwire/src/core/bits/blob.ts'
import * as byte from '../../packages/tickwire/src/core/bits/byte.ts'
import * as compressed from '../../packages/tickwire/src/core/bits/compressed-float.ts'
import * as float from '../../packages/tickwire/src/core/bits/float.ts'
import { floatQuant } from '../../packages/tickwire/src/core/bits/quantize.ts'
import * as quaternion from '../../packages/tickwire/src/core/bits/quaternion.ts'
import * as rangedInt from '../../packages/tickwire/src/core/bits/ranged-int.ts'
import * as rangedLong from '../../packages/tickwire/src/core/bits/ranged-long.ts'
import * as text from '../../packages/tickwire/src/core/bits/text.ts'
import * as varint from '../../packages/tickwire/src/core/bits/varint.ts'
import * as vector from '../../packages/tickwire/src/core/bits/vector.ts'
import * as wide from '../../packages/tickwire/src/core/bits/wide-bits.ts'
import * as word from '../../packages/tickwire/src/core/bits/word.ts'
import type { Quant, TWINS } from './bits-reference.ts'

type TwinOf<Name extends keyof typeof TWINS> = (typeof TWINS)[Name]
type ValueOf<Name extends keyof typeof TWINS> = ReturnType<TwinOf<Name>['decode']>
type ArgsOf<Name extends keyof typeof TWINS> =
  TwinOf<Name>['encode'] extends (value: never, ...args: infer Args) => string ? Args : never

/** One operation as the engine does it. */
interface TypedOperation<Name extends keyof typeof TWINS> {
  readonly name: Name
  write(writer: BitWriter, value: ValueOf<Name>, ...args: ArgsOf<Name>): void
  read(reader: BitReader, ...args: ArgsOf<Name>): ValueOf<Name>
  /** The same through a `BitBuffer`; null where it has no such method. */
  readonly both: ((buffer: BitBuffer, value: ValueOf<Name>, ...args: ArgsOf<Name>) => ValueOf<Name>) | null
  /** Arguments, and values that survive a round trip exactly. */
  readonly cases: fc.Arbitrary<readonly [value: ValueOf<Name>, ...args: ArgsOf<Name>]>
}

/** The same for loops that treat all operations alike: a value goes only where it came from. */
export interface Operation {
  readonly name: keyof typeof TWINS
  write(writer: BitWriter, value: unknown, ...args: unknown[]): void
  read(reader: BitReader, ...args: unknown[]): unknown
  readonly both: ((buffer: BitBuffer, value: unknown, ...args: unknown[]) => unknown) | null
  readonly cases: fc.Arbitrary<readonly [value: unknown, ...args: unknown[]]>
}

const pair = new Int32Array(2)
const low = (value: bigint): number => Number(BigInt.asIntN(32, value))
const high = (value: bigint): number => Number(BigInt.asIntN(32, value >> 32n))
const joined = (): bigint => BigInt.asUintN(64, (BigInt(pair[1]!) << 32n) | BigInt(pair[0]! >>> 0))
const plan = ({ min, max, precision }: Quant): ReturnType<typeof floatQuant> => floatQuant(min, max, precision)

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true })
const wellFormed = fc.string({ unit: 'binary', maxLength: 40 })
const mixed = <T>(...arbitraries: fc.Arbitrary<T>[]): fc.Arbitrary<T> => fc.oneof(...arbitraries)
/** Numbers of every size, small ones as likely as large. */
const shrunk = (bits: number): fc.Arbitrary<bigint> =>
  fc.tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), fc.nat(bits)).map(([value, shift]) => value >> BigInt(shift))
const int64 = fc.tuple(shrunk(63), fc.boolean()).map(([value, isNegative]) => (isNegative ? -value - 1n : value))

const QUANTS: readonly Quant[] = [
  { min: -4096, max: 4096, precision: 0.001 }, { min: -256, max: 256, precision: 0.01 }, { min: 0, max: 640, precision: 0.1 },
  { min: 0, max: 1024, precision: 1 }, { min: -1, max: 1, precision: 0.3 }, { min: 100, max: 101, precision: 2 ** -31 },
]
const quant = fc.constantFrom(...QUANTS)
const onStep = (of: Quant): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: plan(of).stepsMax }).map((step) => of.min + step * of.precision)

/** All of them. */
export const OPERATIONS: readonly Operation[] = [
  operation('bits', (w, v, width) => w.writeBits(v, width), (r, width) => r.readBits(width), (b, v, width) => b.bits(v, width),
    fc.integer({ min: 0, max: 32 }).chain((width) => fc.tuple(fc.integer({ min: 0, max: 2 ** width - 1 }), fc.constant(width)))),
  operation('wideBits', (w, v, width) => wide.writeBitsPair(w, low(v), high(v), width),
    (r, width) => { wide.readBitsPair(r, width, pair, 0); return joined() }, null,
    fc.integer({ min: 0, max: 64 }).chain((width) => fc.tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }), fc.constant(width)))),
  operation('bool', byte.writeBool, byte.readBool, (b, v) => b.bool(v), fc.tuple(fc.boolean())),
  operation('byte', byte.writeByte, byte.readByte, (b, v) => b.byte(v), fc.tuple(fc.nat(255))),
  operation('u16', word.writeU16, word.readU16, (b, v) => b.u16(v), fc.tuple(fc.nat(65535))),
  operation('u32', word.writeU32, word.readU32, (b, v) => b.u32(v), fc.tuple(uint32)),
  operation('u64', (w, v) => word.writeU64Pair(w, low(v), high(v)),
    (r) => { word.readU64Pair(r, pair, 0); return joined() }, null, fc.tuple(uint64)),
  operation('varint', varint.writeVarint, varint.readVarint, (b, v) => b.varint(v), fc.tuple(shrunk(53).map(Number))),
  operation('int', varint.writeInt, varint.readInt, (b, v) => b.int(v), fc.tuple(mixed(int32, fc.integer({ min: -300, max: 300 })))),
  operation('long', varint.writeLong, varint.readLong, (b, v) => b.long(v), fc.tuple(int64)),
  operation('rangedInt', rangedInt.writeRangedInt, rangedInt.readRangedInt, (b, v, min, max) => b.rangedInt(v, min, max),
    fc.tuple(int32, shrunk(32).map(Number)).chain(([min, span]) =>
      fc.tuple(fc.integer({ min, max: min + span }), fc.constant(min), fc.constant(min + span)))),
  operation('rangedLong', (w, v, min, max) => rangedLong.writeRangedLong(w, v, rangedLong.longRange(min, max)),
    (r, min, max) => rangedLong.readRangedLong(r, rangedLong.longRange(min, max)), (b, v, min, max) => b.rangedLong(v, min, max),
    fc.tuple(int64, int64).chain(([a, b]) => {
      const [min, max] = a < b ? [a, b] : [b, a]
      return fc.tuple(fc.bigInt({ min, max }), fc.constant(min), fc.constant(max))
    })),
  operation('enum', rangedInt.writeEnum, rangedInt.readEnum, (b, v, count) => b.enum(v, count),
    fc.integer({ min: 1, max: 300 }).chain((count) => fc.tuple(fc.nat(count - 1), fc.constant(count)))),
  operation('float', float.writeFloat, float.readFloat, (b, v) => b.float(v), fc.tuple(float32)),
  operation('floatAny', float.writeFloatAny, float.readFloatAny, (b, v) => b.floatAny(v), fc.tuple(fc.float())),
  operation('double', float.writeDouble, float.readDouble, (b, v) => b.double(v),
    fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }))),
  operation('doubleAny', float.writeDoubleAny, float.readDoubleAny, (b, v) => b.doubleAny(v), fc.tuple(fc.double())),
  operation('compressedFloat', (w, v, q) => compressed.writeCompressedFloat(w, v, plan(q)),
    (r, q) => compressed.readCompressedFloat(r, plan(q)), (b, v, q) => b.compressedFloat(v, plan(q)),
    quant.chain((q) => fc.tuple(onStep(q), fc.constant(q)))),
  operation('vector3', (w, v, x, y, z) => vector.writeVector3(w, v, { x: plan(x), y: plan(y), z: plan(z) }),
    (r, x, y, z) => {
      const out = { x: 0, y: 0, z: 0 }
      vector.readVector3(r, out, { x: plan(x), y: plan(y), z: plan(z) })
      return out
    },
    (b, v, x, y, z) => b.vector3({ ...v }, { x: plan(x), y: plan(y), z: plan(z) }),
    fc.tuple(quant, quant, quant).chain(([x, y, z]) =>
      fc.tuple(fc.record({ x: onStep(x), y: onStep(y), z: onStep(z) }), fc.constant(x), fc.constant(y), fc.constant(z)))),
  operation('quaternion', quaternion.writeQuaternion,
    (r, bits) => { const out = { x: 0, y: 0, z: 0, w: 0 }; quaternion.readQuaternion(r, out, bits); return out },
    (b, v, bits) => b.quaternion({ ...v }, bits),
    fc.constantFrom(3, 5, 10, 15, 20).chain((bits) => fc.tuple(rotation(), fc.constant(bits)))),
  operation('string', text.writeString, text.readString, (b, v, max) => b.string(v, max), fc.tuple(wellFormed, fc.constant(200))),
  operation('fixedString', text.writeFixedString, text.readFixedString, (b, v, bytes) => b.fixedString(v, bytes),
    fc.tuple(wellFormed, fc.constantFrom(161, 256, 257, 300))),
  operation('bytes', blob.writeBytes, blob.readBytes, (b, v, max) => b.bytes(v, max),
    fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.constant(200))),
]

/** Rotations, among them the special ones: axes, ties, tiny and large lengths. */
export function rotation(): fc.Arbitrary<{ x: number; y: number; z: number; w: number }> {
  const component = mixed(fc.double({ min: -1, max: 1, noNaN: true }), fc.constantFrom(0, 1, -1, 0.5, -0.5, Math.SQRT1_2, -Math.SQRT1_2))
  return fc.tuple(component, component, component, component, fc.constantFrom(1, 1, 1e-3, 1e300, 1e-300))
    .filter(([x, y, z, w]) => Math.max(Math.abs(x), Math.abs(y), Math.abs(z), Math.abs(w)) > 1e-3)
    .map(([x, y, z, w, scale]) => ({ x: x * scale, y: y * scale, z: z * scale, w: w * scale }))
}

/** Each operation's own types are checked against its twin here, and end here. */
function operation<Name extends keyof typeof TWINS>(
  name: Name, write: TypedOperation<Name>['write'], read: TypedOperation<Name>['read'], both: TypedOperation<Name>['both'],
  cases: TypedOperation<Name>['cases'],
): Operation {
  return { name, write, read, both, cases } as unknown as Operation
}
