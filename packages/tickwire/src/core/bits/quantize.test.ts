import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import {
  dequantizeFloat, dequantizeQuat, floatQuant, isCanonicalQuat, quantizeFloat, quantizeQuat,
} from './quantize.ts'

const CHECKS = { seed: 23, numRuns: 2000 }

describe('[BITS15] bits of a float', () => {
  test.each([
    [-4096, 4096, 0.001, 23, 8_192_000, false],
    [-256, 256, 0.01, 16, 51_200, false],
    [0, 640, 0.1, 13, 6400, false],
    [-512, 512, 0.01, 17, 102_400, false],
    [0, 1024, 1, 10, 1023, true],
    [0, 1023, 1, 10, 1023, false],
    [0, 1025, 1, 11, 1025, false],
    [0, 0.3, 0.1, 2, 3, false],
    [0, 0.8, 0.1, 3, 7, true],
    [0, 2, 1, 1, 1, true],
    [0, 3, 1, 2, 3, false],
    [0, 2.5, 1, 2, 2, false],
    [0, 2 ** 32, 1, 32, 2 ** 32 - 1, true],
    [0, 1, 2 ** -32, 32, 2 ** 32 - 1, true],
  ])('%d..%d at %d: %d bits, highest step %d', (min, max, precision, bits, stepsMax, clampsTop) => {
    expect(floatQuant(min, max, precision)).toEqual({ min, max, precision, bits, stepsMax, clampsTop })
  })

  test('a ratio that is whole but for rounding is that number, for every decimal step', () => {
    for (let digits = 1; digits <= 6; digits++) {
      for (let steps = 2; steps < 2000; steps++) {
        const precision = 10 ** -digits
        const quant = floatQuant(-steps * precision, 0, precision)
        const bits = Math.ceil(Math.log2(steps))
        expect(quant.bits).toBe(bits)
        expect(quant.stepsMax).toBe(Math.min(steps, 2 ** bits - 1))
      }
    }
  })

  test.each([
    [1, 1, 0.1],
    [2, 1, 0.1],
    [NaN, 1, 0.1],
    [0, Infinity, 0.1],
    [-1e308, 1e308, 1e300],
    [0, 1, 0],
    [0, 1, -1],
    [0, 1, NaN],
    [0, 1, 1],
    [0, 1, 2],
    [0, 2 ** 32 + 1, 1],
    [0, 1e9, 1e-9],
    [1e15, 1e15 + 1, 1e-3],
  ])('%d..%d at %d is refused, with the path and a fix', (min, max, precision) => {
    expect(() => floatQuant(min, max, precision, 'Player.x')).toThrow(ConfigError)
    expect(() => floatQuant(min, max, precision, 'Player.x')).toThrow(/^Player\.x: .+\. .+/)
  })
})

/** Any quantum that `floatQuant` accepts. */
const quant = fc
  .tuple(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
    fc.double({ min: 1.001, max: 2 ** 32 - 1, noNaN: true }),
  )
  .map(([min, size, ratio]) => ({ min, max: min + size, precision: size / ratio }))
  .filter(
    ({ min, max, precision }) =>
      precision >= Math.max(Math.abs(min), Math.abs(max)) * 2 ** -49 && (max - min) / precision > 1.0001,
  )
  .map(({ min, max, precision }) => floatQuant(min, max, precision))

describe('[BITS16] steps', () => {
  test('every step is read back as itself', () => {
    fc.assert(fc.property(quant, fc.double({ min: 0, max: 1, noNaN: true }), (q, part) => {
      for (const step of [0, 1, q.stepsMax - 1, q.stepsMax, Math.floor(q.stepsMax * part)]) {
        expect(quantizeFloat(q, dequantizeFloat(q, step))).toBe(step)
      }
    }), CHECKS)
    const position = floatQuant(-4096, 4096, 0.001)
    for (let step = 0; step <= position.stepsMax; step++) {
      if (quantizeFloat(position, dequantizeFloat(position, step)) !== step) throw new Error(`step ${step}`)
    }
  })

  test('a value is read back within half a step, or clamped', () => {
    fc.assert(fc.property(quant, fc.double({ min: 0, max: 1, noNaN: true }), (q, part) => {
      const value = q.min + (q.max - q.min) * part
      const back = dequantizeFloat(q, quantizeFloat(q, value))
      const top = dequantizeFloat(q, q.stepsMax)
      const rounding = Math.max(Math.abs(q.min), Math.abs(q.max)) * 2 ** -50
      expect(Math.abs(back - value)).toBeLessThanOrEqual(Math.max(q.precision / 2, value - top) + rounding)
    }), CHECKS)
  })

  test('values outside are clamped; NaN is the step nearest to 0', () => {
    const around = floatQuant(-10, 10, 0.5)
    expect([-Infinity, -11, 11, Infinity].map((value) => quantizeFloat(around, value))).toEqual([0, 0, 40, 40])
    expect(quantizeFloat(around, NaN)).toBe(20)
    expect(quantizeFloat(floatQuant(5, 10, 1), NaN)).toBe(0)
    expect(quantizeFloat(floatQuant(-10, -5, 1), NaN)).toBe(5)
    expect(Object.is(quantizeFloat(around, -10.1), 0)).toBe(true)
  })
})

const row = new Int32Array(4)
const unit = new Float64Array(4)

function roundTrip(bits: number, [x, y, z, w]: readonly number[]): number[] {
  quantizeQuat(bits, x!, y!, z!, w!, row, 0)
  expect(isCanonicalQuat(bits, row[0]!, row[1]!, row[2]!, row[3]!)).toBe(true)
  dequantizeQuat(bits, row, 0, unit, 0)
  return Array.from(unit)
}

/** Degrees between two rotations; from the chord, because the arc cosine is not exact near 1. */
function angle(a: readonly number[], b: readonly number[]): number {
  const length = Math.hypot(...a)
  const chord = (sign: number): number =>
    Math.hypot(...a.map((component, index) => component / length - sign * b[index]!))
  return (4 * Math.asin(Math.min(1, Math.min(chord(1), chord(-1)) / 2)) * 180) / Math.PI
}

describe('[BITS18] quaternion rows', () => {
  test.each([3, 4, 5])('at %d bits every canonical row is read back as itself, and there are no others', (bits) => {
    const codes = 2 ** bits
    const spellings = new Map<string, string>()
    let canonical = 0
    for (let index = 0; index < 4 * codes ** 3; index++) {
      const largest = Math.floor(index / codes ** 3)
      const abc = [Math.floor(index / codes ** 2) % codes, Math.floor(index / codes) % codes, index % codes]
      if (!isCanonicalQuat(bits, largest, abc[0]!, abc[1]!, abc[2]!)) continue
      canonical++
      dequantizeQuat(bits, Int32Array.of(largest, ...abc), 0, unit, 0)
      const rotation = Array.from(unit)
      quantizeQuat(bits, rotation[0]!, rotation[1]!, rotation[2]!, rotation[3]!, row, 0)
      if (row.join() !== [largest, ...abc].join())
        throw new Error(`${largest},${abc.join()} was read back as ${row.join()}`)
      // q and -q are one rotation: the first component that is not 0 decides the sign of the key.
      const sign = rotation.find((component) => component !== 0)! < 0 ? -1 : 1
      const key = rotation.map((component) => (component * sign).toFixed(9)).join()
      if (spellings.has(key)) throw new Error(`${row.join()} and ${spellings.get(key)} are one rotation`)
      spellings.set(key, row.join())
    }
    expect(canonical).toBeGreaterThanOrEqual(codes ** 3)
  })

  test('canonical rows of 10 and 20 bits are read back as themselves', () => {
    for (const bits of [10, 20]) {
      const code = fc.nat(2 ** bits - 1)
      let canonical = 0
      fc.assert(fc.property(fc.nat(3), code, code, code, (largest, a, b, c) => {
        if (!isCanonicalQuat(bits, largest, a, b, c)) return
        canonical++
        dequantizeQuat(bits, Int32Array.of(largest, a, b, c), 0, unit, 0)
        quantizeQuat(bits, unit[0]!, unit[1]!, unit[2]!, unit[3]!, row, 0)
        expect(Array.from(row)).toEqual([largest, a, b, c])
      }), { ...CHECKS, numRuns: 20_000 })
      expect(canonical).toBeGreaterThan(5000)
    }
  })

  test('the unused code, and rows whose dropped component is not the largest, are refused', () => {
    expect(isCanonicalQuat(10, 0, 1023, 511, 511)).toBe(false)
    expect(isCanonicalQuat(10, 0, 1022, 1022, 511)).toBe(false)
    expect(isCanonicalQuat(10, 0, 1022, 511, 511)).toBe(true)
    expect(isCanonicalQuat(10, 1, 1022, 511, 511)).toBe(false)
    expect(isCanonicalQuat(10, 4, 511, 511, 511)).toBe(false)
  })
})

describe('[BITS19] rotations', () => {
  const half = Math.SQRT1_2
  test.each([
    [[0, 0, 0, 1]],
    [[1, 0, 0, 0]],
    [[0, 1, 0, 0]],
    [[0, 0, -1, 0]],
    [[half, 0, 0, half]],
    [[-half, 0, 0, half]],
    [[0, half, 0, half]],
    [[0, -half, 0, half]],
    [[0, 0, half, half]],
    [[0, 0, half, -half]],
    [[half, half, 0, 0]],
    [[0, half, -half, 0]],
  ])('%j is exact at every size', (rotation) => {
    for (let bits = 3; bits <= 20; bits++) expect(angle(rotation, roundTrip(bits, rotation))).toBeLessThan(1e-7)
  })

  test('identity has no rounding at all', () => {
    expect(roundTrip(10, [0, 0, 0, 1])).toEqual([0, 0, 0, 1])
    expect(roundTrip(10, [0, 0, 0, -1])).toEqual([0, 0, 0, 1])
  })

  test.each([[[0, 0, 0, 0]], [[NaN, 0, 0, 1]], [[0, 0, 0, Infinity]], [[0, -Infinity, NaN, 1]]])(
    '%j is not a rotation, and is written as identity',
    (rotation) => {
      expect(roundTrip(10, rotation)).toEqual([0, 0, 0, 1])
    },
  )

  test('the angle is kept within 141 / H degrees, whatever the length', () => {
    const component = fc.oneof(
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.constantFrom(0, 0.5, -0.5, half, -half, 1),
    )
    for (const bits of [3, 4, 6, 10, 16, 20]) {
      fc.assert(
        fc.property(
          fc.tuple(component, component, component, component),
          fc.constantFrom(1, 1e300, 1e-300, 5),
          (rotation, length) => {
            fc.pre(Math.hypot(...rotation) > 0.01)
            const back = roundTrip(
              bits,
              rotation.map((one) => one * length),
            )
            expect(Math.hypot(...back)).toBeCloseTo(1, 9)
            expect(angle(rotation, back)).toBeLessThan(141 / (2 ** (bits - 1) - 1))
          },
        ),
        { ...CHECKS, numRuns: 700 },
      )
    }
  })
})
