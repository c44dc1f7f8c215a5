/** Test inputs for each operation of the bits layer: arguments, and values that survive a round trip exactly. */

import fc from 'fast-check'
import { floatQuant } from '../../packages/tickwire/src/core/bits/quantize.ts'
import type { ArgsOf, OperationName, ValueOf } from './bits-operations.ts'
import type { Quant, Quaternion } from './bits-reference.ts'

/** A value, then the arguments. */
export type Case = readonly [value: unknown, ...args: unknown[]]

type Cases = { readonly [Name in OperationName]: fc.Arbitrary<readonly [value: ValueOf<Name>, ...args: ArgsOf<Name>]> }

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const wellFormed = fc.string({ unit: 'binary', maxLength: 40 })

/** Numbers of every size, small ones as likely as large. */
const ofAnySize = (bits: number): fc.Arbitrary<bigint> =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), fc.nat(bits))
    .map(([value, shift]) => value >> BigInt(shift))
const int64 = fc.tuple(ofAnySize(63), fc.boolean()).map(([value, isNegative]) => (isNegative ? -value - 1n : value))

const quant = fc.constantFrom<Quant>(
  { min: -4096, max: 4096, precision: 0.001 },
  { min: -256, max: 256, precision: 0.01 },
  { min: 0, max: 640, precision: 0.1 },
  { min: 0, max: 1024, precision: 1 },
  { min: -1, max: 1, precision: 0.3 },
  { min: 100, max: 101, precision: 2 ** -31 },
)
const onStep = ({ min, max, precision }: Quant): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: floatQuant(min, max, precision).stepsMax }).map((step) => min + step * precision)

const CASES: Cases = {
  bits: fc
    .integer({ min: 0, max: 32 })
    .chain((width) => fc.tuple(fc.integer({ min: 0, max: 2 ** width - 1 }), fc.constant(width))),
  wideBits: fc
    .integer({ min: 0, max: 64 })
    .chain((width) => fc.tuple(fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }), fc.constant(width))),
  bool: fc.tuple(fc.boolean()),
  byte: fc.tuple(fc.nat(255)),
  u16: fc.tuple(fc.nat(65535)),
  u32: fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  u64: fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  varint: fc.tuple(ofAnySize(53).map(Number)),
  int: fc.tuple(fc.oneof(int32, fc.integer({ min: -300, max: 300 }))),
  long: fc.tuple(int64),
  rangedInt: fc.tuple(int32, ofAnySize(32).map(Number))
    .chain(([min, span]) => fc.tuple(fc.integer({ min, max: min + span }), fc.constant(min), fc.constant(min + span))),
  rangedLong: fc.tuple(int64, int64).chain(([a, b]) => {
    const [min, max] = a < b ? [a, b] : [b, a]
    return fc.tuple(fc.bigInt({ min, max }), fc.constant(min), fc.constant(max))
  }),
  enum: fc.integer({ min: 1, max: 300 }).chain((count) => fc.tuple(fc.nat(count - 1), fc.constant(count))),
  float: fc.tuple(fc.float({ noNaN: true, noDefaultInfinity: true })),
  floatAny: fc.tuple(fc.float()),
  double: fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true })),
  doubleAny: fc.tuple(fc.double()),
  compressedFloat: quant.chain((one) => fc.tuple(onStep(one), fc.constant(one))),
  vector3: fc.tuple(quant, quant, quant).chain(([x, y, z]) =>
    fc.tuple(fc.record({ x: onStep(x), y: onStep(y), z: onStep(z) }), fc.constant(x), fc.constant(y), fc.constant(z))),
  quaternion: fc.tuple(rotation(), fc.constantFrom(3, 5, 10, 15, 20)),
  string: fc.tuple(wellFormed, fc.constant(200)),
  fixedString: fc.tuple(wellFormed, fc.constantFrom(161, 256, 257, 300)),
  bytes: fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.constant(200)),
}

/** Cases of one operation. */
export function casesOf(name: OperationName): fc.Arbitrary<Case> {
  return CASES[name] as fc.Arbitrary<Case>
}

/**
 * Rotations, among them the special ones: axes, ties, tiny and large lengths. The nearest step survives a round trip.
 */
function rotation(): fc.Arbitrary<Quaternion> {
  const special = fc.constantFrom(0, 1, -1, 0.5, -0.5, Math.SQRT1_2, -Math.SQRT1_2)
  const component = fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), special)
  return fc.tuple(component, component, component, component, fc.constantFrom(1, 1, 1e-3, 1e300, 1e-300))
    .filter(([x, y, z, w]) => Math.max(Math.abs(x), Math.abs(y), Math.abs(z), Math.abs(w)) > 1e-3)
    .map(([x, y, z, w, scale]) => ({ x: x * scale, y: y * scale, z: z * scale, w: w * scale }))
}
