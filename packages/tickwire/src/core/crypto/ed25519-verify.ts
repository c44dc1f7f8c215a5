/**
 * Verification of Ed25519 signatures (RFC 8032, section 5.1.7): the half of Ed25519 that uses no secret.
 *
 * ```
 * signature   R 32 │ S 32, little-endian
 * good when   S < L, A is a point, neither A nor R is weak, and [S]B - [SHA-512(R, A, message)]A is encoded as R
 * ```
 *
 * A point is weak when its order divides eight, or when its encoding is not canonical. Libraries differ about weak
 * points (OpenSSL accepts them, sodium does not), so every provider calls `isWeakPoint` first, and all refuse the same
 * signatures.
 *
 * A page verifies at most three signatures of an honest server and never signs. Noble's Ed25519 would add 11 KB to a
 * page, this file adds one. All of its inputs are public, so it need not run in constant time. Tests compare it with
 * the other libraries.
 *
 * Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z on -x² + y² = 1 + dx²y².
 *
 * This file does not sign and must never be extended to sign: multiplication by a secret needs a constant-time ladder.
 */

import { sha512 } from '@noble/hashes/sha2.js'
import { concat } from './label.ts'
import type { VerifyingKey } from './provider.ts'

type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint]

const P = 2n ** 255n - 19n
/** The order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const D = /* @__PURE__ */ mod(-121665n * invert(121666n))
const NEUTRAL: Point = [0n, 1n, 1n, 0n]
/** y is 4/5, and x is even. */
const BASE: Point = /* @__PURE__ */ pointAt(mod(4n * invert(5n)), 0n) ?? NEUTRAL

/**
 * The y coordinates of the eight points whose order divides eight: 0, 1, -1, and two that are negatives of each other.
 */
const Y8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n
const WEAK_HEIGHTS: readonly bigint[] = [0n, 1n, P - 1n, Y8, P - Y8]

/** Whether 32 bytes encode a point of small order, or are not the canonical encoding of a y coordinate. */
export function isWeakPoint(bytes: Uint8Array): boolean {
  const y = heightOf(toNumber(bytes))
  return y >= P || WEAK_HEIGHTS.includes(y)
}

/** A public key that is verified by this file. */
export function importVerifyingKey(publicKey: Uint8Array): VerifyingKey {
  const key = Uint8Array.from(publicKey)
  return { publicKey: key, verify: (message, signature) => verifyEd25519(key, message, signature) }
}

/** Never throws, whatever the bytes. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const r = signature.subarray(0, 32)
  const s = toNumber(signature.subarray(32))
  const key = decode(publicKey)
  if (s >= L || key === undefined || isWeakPoint(publicKey) || isWeakPoint(r)) return false
  const challenge = toNumber(sha512(concat(r, publicKey, message))) % L
  const [x, y, z] = times(s, BASE, challenge, negate(key))
  const inverse = invert(z)
  const written = mod(y * inverse) | ((mod(x * inverse) & 1n) << 255n)
  return written === toNumber(r)
}

/** The point that 32 bytes encode, if the encoding is canonical. */
function decode(bytes: Uint8Array): Point | undefined {
  const number = toNumber(bytes)
  const y = heightOf(number)
  return y < P ? pointAt(y, number >> 255n) : undefined
}

/** The point with this y coordinate whose x has the lowest bit `sign`; undefined when the curve has none. */
function pointAt(y: bigint, sign: bigint): Point | undefined {
  const square = mod((y * y - 1n) * invert(D * y * y + 1n))
  let x = power(square, (P + 3n) / 8n)
  if (mod(x * x - square) !== 0n) x = mod(x * power(2n, (P - 1n) / 4n))
  if (mod(x * x - square) !== 0n || (x === 0n && sign === 1n)) return undefined
  if ((x & 1n) !== sign) x = P - x
  return [x, y, 1n, mod(x * y)]
}

/** Computes a times `one` plus b times `other`. */
function times(a: bigint, one: Point, b: bigint, other: Point): Point {
  const both = add(one, other)
  let sum = NEUTRAL
  for (let bit = 252n; bit >= 0n; bit--) {
    sum = add(sum, sum)
    const [isOne, isOther] = [(a >> bit) & 1n, (b >> bit) & 1n]
    if (isOne !== 0n || isOther !== 0n) sum = add(sum, isOther === 0n ? one : isOne === 0n ? other : both)
  }
  return sum
}

/** The sum of two points, which may be equal: the formula has no exceptions on this curve. */
function add([x1, y1, z1, t1]: Point, [x2, y2, z2, t2]: Point): Point {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * D * t1 * t2)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

function negate([x, y, z, t]: Point): Point {
  return [-x, y, z, -t]
}

/** The y coordinate, without the sign bit of x. */
function heightOf(number: bigint): bigint {
  return number & ((1n << 255n) - 1n)
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n)
}

function mod(number: bigint): bigint {
  const rest = number % P
  return rest < 0n ? rest + P : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let bit = 254n; bit >= 0n; bit--) {
    result = mod(result * result)
    if (((exponent >> bit) & 1n) === 1n) result = mod(result * base)
  }
  return result
}

/** 1/x, and 0 for 0. */
function invert(number: bigint): bigint {
  return power(mod(number), P - 2n)
}
