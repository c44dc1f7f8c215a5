/**
 * One 64-bit hash over everything in base that must be the same bits on every engine: the exact functions, vectors and
 * rotations, fixed point, the generators and the hash itself, each over thousands of seeded arguments.
 *
 * It runs in Node and, bundled, in a browser; two engines agree if and only if the digests do.
 */

import * as fixedMath from '../../packages/tickwire/src/core/base/fixed-point-math.ts'
import { fromNumber, toNumber } from '../../packages/tickwire/src/core/base/fixed-point-edge.ts'
import * as fixed from '../../packages/tickwire/src/core/base/fixed-point.ts'
import { hashBytes, hashCombine, hashHex, hashWords } from '../../packages/tickwire/src/core/base/hash.ts'
import { HashStream } from '../../packages/tickwire/src/core/base/hash-stream.ts'
import { KeyedPrng } from '../../packages/tickwire/src/core/base/keyed-prng.ts'
import * as exact from '../../packages/tickwire/src/core/base/math.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import * as quaternion from '../../packages/tickwire/src/core/base/quaternion.ts'
import * as vector from '../../packages/tickwire/src/core/base/vector.ts'

/** How often each function is called, in each region of its arguments. */
const COUNT = 5000

/** The parts of the digest, so that a difference between two engines shows its part. */
export const PARTS: Readonly<Record<string, (into: HashStream) => void>> = {
  'functions of one number': hashUnary,
  'functions of two numbers': hashBinary,
  'vectors and rotations': hashRotations,
  'fixed point': hashFixedPoint,
  generators: hashGenerators,
  hashes: hashHashes,
}

/** The digest of one part, 16 hex digits. */
export function partDigest(part: string): string {
  const out = new Uint32Array(2)
  const stream = new HashStream()
  PARTS[part]?.(stream)
  stream.finish(out, 0)
  return hashHex(out, 0)
}

/** The digest of all parts, 16 hex digits. */
export function numbersDigest(): string {
  const out = new Uint32Array(2)
  const stream = new HashStream()
  for (const hashPart of Object.values(PARTS)) hashPart(stream)
  stream.finish(out, 0)
  return hashHex(out, 0)
}

/** Arguments as games have them, near 1, and of any size a double can be. */
function argumentsFrom(prng: Prng): (() => number)[] {
  const view = new DataView(new ArrayBuffer(8))
  return [
    () => prng.nextFloat() * 20 - 10,
    () => prng.nextFloat() * 2 - 1,
    () => 1 + (prng.nextFloat() - 0.5) / (1 + prng.nextInt(0, 1_000_000)),
    () => (prng.nextFloat() - 0.5) * 4_000_000,
    () => {
      view.setUint32(0, prng.nextU32())
      view.setUint32(4, prng.nextU32())
      return view.getFloat64(0)
    },
  ]
}

const SPECIAL = [0, -0, 1, -1, 0.5, Infinity, -Infinity, NaN, Number.MAX_VALUE, Number.MIN_VALUE, -Number.MIN_VALUE]

function hashUnary(into: HashStream): void {
  const prng = new Prng(1)
  const { sin, cos, tan, asin, acos, atan, exp, log, log2, cbrt } = exact
  for (const apply of [sin, cos, tan, asin, acos, atan, exp, log, log2, cbrt]) {
    for (const x of SPECIAL) into.double(apply(x))
    for (const argument of argumentsFrom(prng)) {
      for (let i = 0; i < COUNT; i++) into.double(apply(argument()))
    }
  }
}

function hashBinary(into: HashStream): void {
  const prng = new Prng(2)
  const { atan2, pow, hypot } = exact
  for (const apply of [atan2, pow, hypot]) {
    for (const x of SPECIAL) for (const y of SPECIAL) into.double(apply(x, y))
    for (const argument of argumentsFrom(prng)) {
      for (let i = 0; i < COUNT; i++) into.double(apply(Math.abs(argument()), argument()))
    }
  }
}

function hashRotations(into: HashStream): void {
  const prng = new Prng(3)
  const point = { x: 1, y: 2, z: 3 }
  const axis = { x: 0, y: 0, z: 0 }
  const turn = { x: 0, y: 0, z: 0, w: 1 }
  const sum = { x: 0, y: 0, z: 0, w: 1 }
  for (let i = 0; i < COUNT; i++) {
    vector.normalize({ x: prng.nextGaussian(), y: prng.nextGaussian(), z: prng.nextGaussian() }, axis)
    quaternion.fromAxisAngle(axis, prng.nextFloat() * 6, turn)
    quaternion.slerp(sum, turn, prng.nextFloat(), sum)
    quaternion.multiply(turn, sum, turn)
    quaternion.nlerp(turn, sum, prng.nextFloat(), turn)
    quaternion.rotate(turn, point, point)
    vector.cross(point, axis, axis)
    vector.addScaled(point, axis, 0.125, point)
    vector.normalize(point, point)
    into.double(point.x).double(point.y).double(point.z)
    into.double(sum.x).double(sum.y).double(sum.z).double(sum.w).double(vector.length(axis))
  }
}

function hashFixedPoint(into: HashStream): void {
  const prng = new Prng(4)
  const [a, b, out] = [fixed.q32(), fixed.q32(), fixed.q32()]
  const binary = [fixed.add, fixed.subtract, fixed.multiply, fixed.divide, fixedMath.atan2]
  const unary = [fixed.negate, fixedMath.sqrt, fixedMath.sin, fixedMath.cos, fixedMath.exp, fixedMath.log]
  const take = (): unknown => into.word(out[0]!).word(out[1]!)
  for (let i = 0; i < COUNT; i++) {
    const shift = prng.nextInt(0, 31)
    a.set([prng.nextU32(), prng.nextU32() >> shift])
    b.set([prng.nextU32(), prng.nextU32() >> (31 - shift)])
    for (const apply of binary) {
      apply(a, b, out)
      take()
    }
    for (const apply of unary) {
      apply(a, out)
      take()
    }
    fromNumber(toNumber(a) * prng.nextFloat(), out)
    take()
  }
}

function hashGenerators(into: HashStream): void {
  const streaming = new Prng(2 ** 40 + 5)
  const keyed = new KeyedPrng(2 ** 40 + 5)
  for (let i = 0; i < COUNT; i++) {
    into.word(streaming.nextU32()).double(streaming.nextFloat()).double(streaming.nextGaussian())
    into.word(streaming.nextInt(-1000, 1000 + i))
    keyed.at(i * 4097, i % 24)
    into.word(keyed.nextU32()).double(keyed.nextFloat()).double(keyed.nextGaussian()).word(keyed.nextInt(0, i))
  }
}

function hashHashes(into: HashStream): void {
  const prng = new Prng(6)
  const bytes = new Uint8Array(300)
  const words = new Int32Array(75)
  const out = new Uint32Array(4)
  for (let i = 0; i < COUNT; i++) {
    bytes[prng.nextInt(0, 299)] = prng.nextU32()
    words[prng.nextInt(0, 74)] = prng.nextU32()
    hashBytes(bytes, i % 7, i % 290, i, out, 0)
    hashWords(words, i % 3, i % 70, i, out, 2)
    hashCombine(out, 0, out[2]!, out[3]!)
    into.word(out[0]!).word(out[1]!)
  }
}
