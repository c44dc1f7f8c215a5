import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as reference from '../../../../../test/reference/math-reference.ts'
import { fromBigInt, toBigInt, toNumber } from './fixed-point-edge.ts'
import * as curve from './fixed-point-math.ts'
import { q32, type Q32 } from './fixed-point.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const steps = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.tuple(fc.bigInt({ min: MIN, max: MAX }), fc.nat(63)).map(([n, shift]) => n >> BigInt(shift)),
  fc.constantFrom(0n, 1n, -1n, MIN, MAX, 2n ** 32n, -(2n ** 32n)),
)
const RUNS = { seed: 1, numRuns: 2000 }

const apply = (operation: (a: Q32, out: Q32) => void, a: bigint): bigint => {
  const out = q32()
  operation(fromBigInt(a), out)
  return toBigInt(out)
}
/** How many steps `got` is away from an exact value. */
const stepsOff = (got: bigint, exact: reference.Exact): number => {
  const scaled = exact.bits - 32
  const distance = (got << BigInt(scaled)) - exact.n
  return Math.abs(Number(distance >> BigInt(scaled - 40))) / 2 ** 40
}
/** Half a step, and the error of the doubles between. */
const NEAR = 0.5 + 1e-5

describe('square root', () => {
  test('[FIX7] is the nearest step, exactly, and 0 below 0', () => {
    const check = (a: bigint): void => {
      const root = apply(curve.sqrt, a)
      const value = a << 32n
      // (root - 1/2)^2 < value < (root + 1/2)^2, times four.
      const isNearest =
        a <= 0n ? root === 0n : (2n * root - 1n) ** 2n < 4n * value && 4n * value < (2n * root + 1n) ** 2n
      if (!isNearest) expect.fail(`of ${a} steps: ${root}`)
    }
    for (let n = 0n; n < 70n; n++) for (const by of [-1n, 0n, 1n]) check((n ** 2n << 32n) + by)
    for (let bit = 0n; bit < 63n; bit++) for (const by of [-1n, 0n, 1n]) check((1n << bit) + by)
    fc.assert(fc.property(steps, check), { seed: 2, numRuns: 20_000 })
  })
})

describe('curves', () => {
  test('[FIX6] sine and cosine are within half a step, for every angle there is', () => {
    fc.assert(fc.property(steps, (a) => {
      // An angle of 53 bits or fewer is a double, and the reference takes it as it is.
      const cut = BigInt.asIntN(64, (a >> 11n) << 11n)
      const angle = toNumber(fromBigInt(cut))
      expect(stepsOff(apply(curve.sin, cut), reference.sin(angle))).toBeLessThan(NEAR)
      expect(stepsOff(apply(curve.cos, cut), reference.cos(angle))).toBeLessThan(NEAR)
    }), RUNS)
  })
  test('[FIX6] the last bits of a large angle count', () => {
    const slope = (a: bigint): bigint => apply(curve.sin, a + 1n) - apply(curve.sin, a)
    for (const whole of [2n ** 31n - 9n, -(2n ** 31n) + 9n, 1_999_999_999n]) {
      const first = whole << 32n
      let moved = 0n
      for (let i = 0n; i < 1000n; i++) moved += slope(first + i)
      const expected = Math.cos(Number(whole)) * 1000
      expect(Math.abs(Number(moved) - expected)).toBeLessThan(2)
    }
  })
  test('[FIX6] atan2 is within half a step', () => {
    fc.assert(fc.property(steps, steps, (a, b) => {
      const y = BigInt.asIntN(64, (a >> 11n) << 11n)
      const x = BigInt.asIntN(64, (b >> 11n) << 11n)
      fc.pre(x !== 0n || y !== 0n)
      const out = q32()
      curve.atan2(fromBigInt(y), fromBigInt(x), out)
      const truth = reference.atan2(toNumber(fromBigInt(y)), toNumber(fromBigInt(x)))
      expect(stepsOff(toBigInt(out), truth)).toBeLessThan(NEAR)
    }), RUNS)
    const out = q32(9, 9)
    curve.atan2(q32(), q32(), out)
    expect(toBigInt(out)).toBe(0n)
  })
  test('[FIX6] log is within half a step, and the lowest value where there is none', () => {
    fc.assert(fc.property(steps, (a) => {
      const cut = (a < 0n ? -a : a) >> 11n
      fc.pre(cut !== 0n)
      const off = stepsOff(apply(curve.log, cut), reference.log(toNumber(fromBigInt(cut))))
      expect(off).toBeLessThan(NEAR)
    }), RUNS)
    expect([apply(curve.log, 0n), apply(curve.log, -5n)]).toEqual([MIN, MIN])
  })
  test('[FIX6] exp is within half a step or a part in 2^52, whichever is more, and stops at the top', () => {
    fc.assert(fc.property(fc.bigInt({ min: -24n << 32n, max: 21n << 32n }), (a) => {
      const got = apply(curve.exp, a)
      const off = stepsOff(got, reference.exp(toNumber(fromBigInt(a))))
      expect(off).toBeLessThan(Math.max(NEAR, NEAR + Number(got) / 2 ** 52))
    }), RUNS)
    expect([apply(curve.exp, 22n << 32n), apply(curve.exp, MAX), apply(curve.exp, MIN)]).toEqual([MAX, MAX, 0n])
    expect(apply(curve.exp, 0n)).toBe(1n << 32n)
  })
})
