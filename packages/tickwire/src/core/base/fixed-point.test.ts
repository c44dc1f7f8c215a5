import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { format, fromBigInt, fromNumber, parse, toBigInt, toNumber } from './fixed-point-edge.ts'
import { add, compare, divide, multiply, negate, q32, subtract, type Q32 } from './fixed-point.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const EDGES = [
  0n, 1n, -1n, 2n, 3n, MAX, MIN, MAX - 1n, MIN + 1n, 2n ** 31n, 2n ** 32n, -(2n ** 32n), 2n ** 32n - 1n, 2n ** 32n + 1n,
  2n ** 62n, -(2n ** 62n), 2n ** 53n + 1n, 0x7fff_ffff_8000_0000n, -0x8000_0000n, 0xffff_ffffn, 3n << 31n, -(3n << 31n),
]
/** Edges, every size as likely, and plain 64-bit numbers. */
const steps = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.bigInt({ min: MIN, max: MAX }),
  fc.tuple(fc.bigInt({ min: MIN, max: MAX }), fc.nat(63)).map(([n, shift]) => n >> BigInt(shift)),
)
const RUNS = { seed: 1, numRuns: 20_000 }

const wrap = (n: bigint): bigint => BigInt.asIntN(64, n)
const clamp = (n: bigint): bigint => (n > MAX ? MAX : n < MIN ? MIN : n)
/** floor(a / b + 1/2), for any signs. */
const nearest = (a: bigint, b: bigint): bigint => {
  const [top, bottom] = b < 0n ? [-2n * a - b, -2n * b] : [2n * a + b, 2n * b]
  return top >= 0n ? top / bottom : -((-top + bottom - 1n) / bottom)
}

type Binary = (a: Q32, b: Q32, out: Q32) => void
const apply = (operation: Binary, a: bigint, b: bigint): bigint => {
  const out = q32()
  operation(fromBigInt(a), fromBigInt(b), out)
  return toBigInt(out)
}
function expectEqual(operation: Binary, truth: (a: bigint, b: bigint) => bigint): void {
  const check = (a: bigint, b: bigint): void => {
    const got = apply(operation, a, b)
    if (got !== truth(a, b)) expect.fail(`(${a}, ${b}) gave ${got}, not ${truth(a, b)}`)
  }
  for (const a of EDGES) for (const b of EDGES) check(a, b)
  fc.assert(fc.property(steps, steps, check), RUNS)
}

describe('arithmetic', () => {
  test('[FIX1] sums and differences are exact and wrap', () => {
    expectEqual(add, (a, b) => wrap(a + b))
    expectEqual(subtract, (a, b) => wrap(a - b))
    fc.assert(fc.property(steps, (a) => {
      const out = fromBigInt(a)
      negate(out, out)
      expect(toBigInt(out)).toBe(wrap(-a))
    }), { seed: 2, numRuns: 1000 })
  })
  test('[FIX2] a product is the nearest step, halves up, and wraps', () => {
    expectEqual(multiply, (a, b) => wrap(nearest(a * b, 2n ** 32n)))
  })
  test('[FIX3] a quotient is the nearest step, halves up, and stops at the ends', () => {
    expectEqual(divide, (a, b) => {
      if (b === 0n) return a === 0n ? 0n : a > 0n ? MAX : MIN
      return clamp(nearest(a << 32n, b))
    })
  })
  test('[FIX3] halves of a step go up, on both sides of zero', () => {
    for (const a of [1n, -1n, 3n, -3n]) expect(apply(divide, a, 2n << 32n)).toBe(nearest(a, 2n))
  })
  test('[FIX4] order is that of the numbers', () => {
    const check = (a: bigint, b: bigint): void => {
      const order = Math.sign(compare(fromBigInt(a), fromBigInt(b)))
      if (order !== (a < b ? -1 : a > b ? 1 : 0)) expect.fail(`${a} and ${b}`)
    }
    for (const a of EDGES) for (const b of EDGES) check(a, b)
    fc.assert(fc.property(steps, steps, check), RUNS)
  })
  test('[FIX1] the result may be written over an argument', () => {
    for (const operation of [add, subtract, multiply, divide] as const) {
      fc.assert(fc.property(steps, steps, (a, b) => {
        const expected = apply(operation, a, b)
        const left = fromBigInt(a)
        operation(left, fromBigInt(b), left)
        const right = fromBigInt(b)
        operation(fromBigInt(a), right, right)
        expect([toBigInt(left), toBigInt(right)]).toEqual([expected, expected])
      }), { seed: 3, numRuns: 500 })
    }
  })
})

describe('conversions', () => {
  test('[FIX5] bigints and text are read back as written', () => {
    const check = (n: bigint): void => {
      if (toBigInt(fromBigInt(n)) !== n) expect.fail(`bigint ${n}`)
      if (toBigInt(parse(format(fromBigInt(n)))) !== n) expect.fail(`text ${format(fromBigInt(n))}`)
    }
    EDGES.forEach(check)
    fc.assert(fc.property(steps, check), { seed: 4, numRuns: 3000 })
  })
  test('[FIX5] text is the shortest that reads back the same', () => {
    const shown = (text: string): string => format(parse(text))
    for (const text of ['0', '1', '-1', '0.5', '-12.25', '0.1', '3.14159', '-2147483648', '0.0000000002']) {
      expect(shown(text)).toBe(text)
    }
    expect(shown('0.1000000003')).toBe('0.1000000003')
    expect(shown('0.1000000001')).toBe('0.1')
    for (const bad of ['', '.5', '1.', '1e3', 'NaN', '+1', ' 1', '0.12345678901', '2147483648']) {
      expect(() => parse(bad), bad).toThrow()
    }
  })
  test('[FIX5] doubles become the nearest step, and are converted back exactly while they fit', () => {
    fc.assert(fc.property(fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }), (n) => {
      const value = q32()
      fromNumber(Number(n) / 2 ** 32, value)
      expect(toBigInt(value)).toBe(n)
      expect(toNumber(value)).toBe(Number(n) / 2 ** 32)
    }), { seed: 5, numRuns: 2000 })
  })
  test('[FIX5] doubles outside the range are clamped to its ends, and NaN is 0', () => {
    const steps = (x: number): bigint => {
      const value = q32(5, 5)
      fromNumber(x, value)
      return toBigInt(value)
    }
    expect([steps(Infinity), steps(2 ** 31), steps(2147483647.9999998)]).toEqual([MAX, MAX, MAX - 1023n])
    expect([steps(-Infinity), steps(-(2 ** 31)), steps(-(2 ** 31) - 1)]).toEqual([MIN, MIN, MIN])
    expect(steps(NaN)).toBe(0n)
    expect([steps(2 ** -33), steps(-(2 ** -33)), steps(-(2 ** -32))]).toEqual([1n, 0n, -1n])
  })
})
