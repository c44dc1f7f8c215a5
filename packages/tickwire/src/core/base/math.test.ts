import { describe, expect, test } from 'vitest'
import * as reference from '../../../../../test/reference/math-reference.ts'
import * as exact from './math.ts'

type Name = keyof typeof exact
type Arguments = readonly number[]

const call = (name: Name, args: Arguments): number => (exact[name] as (...args: Arguments) => number)(...args)
const truth = (name: Name, args: Arguments): reference.Exact =>
  (reference[name] as (...args: Arguments) => reference.Exact)(...args)

/** A small generator for this test: the code under test must not choose its own inputs. */
let state = 0x5eed
function unit(): number {
  state = (state + 0x9e3779b9) | 0
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}
const between = (min: number, max: number): number => min + (max - min) * (unit() + unit() / 2 ** 32)
/** A number of either sign whose power of two is between the two, every power as likely. */
const ofSize = (min: number, max: number): number => {
  const size = (1 + unit() + unit() / 2 ** 32) * 2 ** Math.floor(between(min, max))
  return unit() < 0.5 ? -size : size
}

/** For each function: the bound of docs/spec/numbers.md in ulp, and the regions it is sampled in. */
const BOUNDS: Record<Name, { ulp: number; regions: (() => Arguments)[] }> = {
  sin: { ulp: 1, regions: angles() },
  cos: { ulp: 1, regions: angles() },
  tan: { ulp: 2.5, regions: angles() },
  asin: { ulp: 2.5, regions: sines() },
  acos: { ulp: 2.5, regions: sines() },
  atan: { ulp: 2, regions: [() => [between(-5, 5)], () => [ofSize(-300, 300)]] },
  atan2: {
    ulp: 2,
    regions: [
      () => [between(-5, 5), between(-5, 5)],
      () => [ofSize(-100, 100), ofSize(-100, 100)],
      () => [ofSize(980, 1023), ofSize(980, 1023)],
      () => [ofSize(-1000, -950), ofSize(-1000, -970)],
    ],
  },
  exp: { ulp: 1, regions: [() => [between(-708, 709.78)], () => [between(-1, 1)], () => [ofSize(-60, 0)]] },
  log: { ulp: 1, regions: logarithms() },
  log2: { ulp: 1, regions: logarithms() },
  pow: {
    ulp: 1,
    regions: [
      () => [between(0, 10), between(-30, 30)],
      () => powerFor(1 + ofSize(-40, -2)),
      () => powerFor(Math.abs(ofSize(-1074, 1023))),
    ],
  },
  cbrt: { ulp: 1, regions: [() => [between(-8, 8)], () => [ofSize(-1074, 1023)]] },
  hypot: {
    ulp: 2,
    regions: [
      () => [between(-8, 8), between(-8, 8)],
      () => [between(-8, 8), between(-8, 8), between(-8, 8)],
      () => [ofSize(-1000, 1020), ofSize(-1000, 1020)],
    ],
  },
}
function angles(): (() => Arguments)[] {
  return [
    () => [between(-Math.PI / 4, Math.PI / 4)],
    () => [between(-10, 10)],
    () => [between(-1.7e6, 1.7e6)],
    () => [ofSize(-300, 1023)],
    // The doubles nearest to multiples of pi/2, where almost all bits cancel.
    () => [Math.floor(between(1, 1e6)) * (Math.PI / 2)],
  ]
}
function sines(): (() => Arguments)[] {
  return [() => [between(-1, 1)], () => [ofSize(-60, -1) / 2], () => [1 - Math.abs(ofSize(-50, -3))]]
}
function logarithms(): (() => Arguments)[] {
  return [() => [Math.abs(ofSize(-1074, 1023))], () => [between(0.5, 2)], () => [1 + ofSize(-50, -1)]]
}
/** An exponent that keeps x^y a normal number, however near to 1 or far from it x is. */
function powerFor(x: number): Arguments {
  return [x, between(-700, 700) / Math.log(x)]
}

describe('error against the exact value', () => {
  for (const [name, { ulp, regions }] of Object.entries(BOUNDS) as [Name, (typeof BOUNDS)[Name]][]) {
    test(`[NUM2] ${name} is within ${ulp} ulp`, () => {
      for (const region of regions) {
        for (let i = 0; i < 800; i++) {
          const args = region()
          const error = reference.ulpError(call(name, args), truth(name, args))
          if (!(error <= ulp)) expect.fail(`${name}(${args.join(', ')}) is ${error} ulp off`)
        }
      }
    })
  }

  test('[NUM2] the hardest angles known for reduction', () => {
    // The first comes nearest of all doubles to a multiple of pi/2; the next three do so below 2^20 quarter turns,
    // found by continued fractions.
    const hardest = [
      6381956970095103 * 2 ** 797, 45.553093477052, 321307.9594422229, 642615.9188844458, 5.319372648326541e255,
      1608.4954386379741, 3386.3876315075997, 1e22,
    ]
    for (const x of hardest) {
      for (const name of ['sin', 'cos', 'tan'] as const) {
        expect(reference.ulpError(call(name, [x]), truth(name, [x]))).toBeLessThan(2)
      }
    }
  })
})

const SPECIAL = [
  0, -0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2 ** 53, 2 ** 53 - 1, -(2 ** 53) + 1, 1e300, -1e300, Infinity, -Infinity, NaN,
  Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, -Number.MIN_VALUE, 2 ** -1022,
]

describe('special values', () => {
  // Where the true answer is a special value, ECMA-262 fixes it and `Math` shows it; elsewhere Math is near enough.
  const agrees = (name: Name, args: Arguments): void => {
    const ours = call(name, args)
    const theirs = (Math[name] as (...args: Arguments) => number)(...args)
    const isSpecial = theirs === 0 || !Number.isFinite(theirs)
    const isRight = isSpecial ? Object.is(ours, theirs) : Math.abs(ours - theirs) <= Math.abs(theirs) * 1e-15 + 1e-323
    if (!isRight) expect.fail(`${name}(${args.join(', ')}) is ${ours}, Math says ${theirs}`)
  }

  for (const name of ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'exp', 'log', 'log2', 'cbrt'] as const) {
    test(`[NUM3] ${name} has those of ECMA-262`, () => {
      for (const x of SPECIAL) agrees(name, [x])
    })
  }
  for (const name of ['atan2', 'pow', 'hypot'] as const) {
    test(`[NUM3] ${name} has those of ECMA-262, at every pair`, () => {
      for (const x of SPECIAL) for (const y of SPECIAL) agrees(name, [x, y])
    })
  }
  test('[NUM3] an infinite side outweighs one that is not a number', () => {
    expect(exact.hypot(NaN, 1, -Infinity)).toBe(Infinity)
    expect(exact.hypot(1, NaN, 2)).toBeNaN()
  })
  test('[NUM3] exp overflows and underflows where it must', () => {
    expect(exact.exp(709.782712893384)).toBeLessThan(Infinity)
    expect(exact.exp(709.7827128933841)).toBe(Infinity)
    expect(exact.exp(-745.1332191019411)).toBe(Number.MIN_VALUE)
    expect(exact.exp(-745.1332191019412)).toBe(0)
  })
})

describe('properties that game code relies on', () => {
  test('[NUM4] odd functions are odd and even ones even, to the bit', () => {
    for (let i = 0; i < 20_000; i++) {
      const x = ofSize(-40, 60)
      const isSymmetric =
        exact.sin(-x) === -exact.sin(x) && exact.cos(-x) === exact.cos(x) && exact.tan(-x) === -exact.tan(x) &&
        exact.atan(-x) === -exact.atan(x) && exact.cbrt(-x) === -exact.cbrt(x)
      if (!isSymmetric) expect.fail(`at ${x}`)
      const sine = between(-1, 1)
      if (exact.asin(-sine) !== -exact.asin(sine)) expect.fail(`asin at ${sine}`)
    }
  })
  test('[NUM4] turning a direction into an angle and back stays within rounding', () => {
    for (let i = 0; i < 20_000; i++) {
      const angle = between(-Math.PI, Math.PI)
      if (Math.abs(exact.atan2(exact.sin(angle), exact.cos(angle)) - angle) > 1e-15) expect.fail(`at ${angle}`)
    }
  })
  test('[NUM5] powers of two, whole powers and cubes come out exact', () => {
    for (let k = -1074; k <= 1023; k++) {
      const power = k < -1022 ? 2 ** -1022 / 2 ** (-1022 - k) : 2 ** k
      if (exact.log2(power) !== k || exact.pow(2, k) !== power) expect.fail(`2 to the ${k}`)
    }
    for (let base = 2; base < 1000; base++) {
      for (let y = 1, power = base; power < 2 ** 53; y++, power *= base) {
        if (exact.pow(base, y) !== power) expect.fail(`${base} to the ${y}`)
      }
    }
    for (let x = -200_000; x <= 200_000; x += 7) {
      if (exact.cbrt(x * x * x) !== x) expect.fail(`cube root of ${x} cubed`)
    }
    expect(exact.hypot(3, 4)).toBe(5)
    expect(exact.pow(9, 0.5)).toBe(3)
    for (let i = 0; i < 1000; i++) {
      const x = ofSize(-1000, 1000)
      expect(exact.pow(x, 1)).toBe(x)
    }
  })
  test('[NUM6] a result never leaves its range', () => {
    for (let i = 0; i < 20_000; i++) {
      const x = ofSize(-10, 1000)
      if (Math.abs(exact.sin(x)) > 1 || Math.abs(exact.cos(x)) > 1) expect.fail(`at ${x}`)
      if (Math.abs(exact.atan(x)) > Math.PI / 2) expect.fail(`at ${x}`)
    }
    expect(exact.atan2(0, -1)).toBe(Math.PI)
    expect(exact.acos(-1)).toBe(Math.PI)
    expect(exact.asin(1)).toBe(Math.PI / 2)
    expect(exact.acos(1)).toBe(0)
  })
})

test('[NUM1] no engine function with a choice in its rounding is ever called', () => {
  const names = [
    'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'pow',
    'hypot', 'cbrt', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'random',
  ] as const
  const real = names.map((name) => Math[name])
  const samples = (Object.keys(BOUNDS) as Name[]).flatMap((name) =>
    BOUNDS[name].regions.flatMap((region) => Array.from({ length: 20 }, () => [name, region()] as const)),
  )
  const forbidden = (): never => {
    throw new Error('an inexact function was called')
  }
  try {
    for (const name of names) Math[name] = forbidden
    for (const [name, args] of samples) call(name, args)
  } finally {
    names.forEach((name, i) => {
      Math[name] = real[i] as never
    })
  }
})
