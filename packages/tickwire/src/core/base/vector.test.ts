import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as vector from './vector.ts'
import type { Xyz } from './vector.ts'

/** Zero or of a size that occurs: the smallest doubles have few bits, and the checks' own products would vanish. */
const coordinate = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((x) => (Math.abs(x) < 1e-6 ? 0 : x))
const anyVector: fc.Arbitrary<Xyz> = fc.tuple(coordinate, coordinate, coordinate).map(([x, y, z]) => ({ x, y, z }))
const RUNS = { seed: 1, numRuns: 500 }
const make = (): Xyz => ({ x: 0, y: 0, z: 0 })
const size = (a: Xyz): number => Math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z)

describe('vectors', () => {
  test('[VEC1] every result may be written over an argument', () => {
    const operations: ((a: Xyz, b: Xyz, out: Xyz) => void)[] = [
      vector.add, vector.subtract, vector.cross,
      (a, b, out) => vector.addScaled(a, b, 0.3, out),
      (a, _, out) => vector.scale(a, -2, out),
      (a, _, out) => vector.normalize(a, out),
      (a, b, out) => vector.lerp(a, b, 0.7, out),
    ]
    fc.assert(fc.property(anyVector, anyVector, (a, b) => {
      for (const operation of operations) {
        const apart = make()
        operation(a, b, apart)
        const left = { ...a }
        operation(left, b, left)
        const right = { ...b }
        operation(a, right, right)
        expect([left, right]).toEqual([apart, apart])
      }
    }), RUNS)
  })
  test('[VEC2] the cross product is perpendicular to both vectors, and right-handed', () => {
    const out = make()
    vector.cross({ x: 1, y: 0, z: 0 }, { x: 0, y: 1, z: 0 }, out)
    expect(out).toEqual({ x: 0, y: 0, z: 1 })
    fc.assert(fc.property(anyVector, anyVector, (a, b) => {
      vector.cross(a, b, out)
      const scale = size(a) * size(b) * 1e-15
      expect(Math.abs(vector.dot(out, a))).toBeLessThanOrEqual(scale * size(a))
      expect(Math.abs(vector.dot(out, b))).toBeLessThanOrEqual(scale * size(b))
    }), RUNS)
  })
  test('[VEC3] a normalized vector has length 1 and the same direction; zero stays zero', () => {
    const out = make()
    fc.assert(fc.property(anyVector, (a) => {
      fc.pre(size(a) > 1e-300)
      vector.normalize(a, out)
      expect(Math.abs(vector.length(out) - 1)).toBeLessThan(4e-16)
      expect(vector.dot(out, a)).toBeGreaterThan(0)
    }), RUNS)
    vector.normalize({ x: 0, y: 0, z: 0 }, out)
    expect(out).toEqual({ x: 0, y: 0, z: 0 })
    vector.normalize({ x: 0, y: 3e200, z: -4e200 }, out)
    expect(out.y).toBeCloseTo(0.6, 15)
    expect(out.z).toBeCloseTo(-0.8, 15)
  })
  test('[VEC4] lengths, distances and points in between have their textbook values', () => {
    const out = make()
    expect(vector.length({ x: 2, y: -3, z: 6 })).toBe(7)
    expect(vector.distance({ x: 3, y: -2, z: 7 }, { x: 1, y: 1, z: 1 })).toBe(7)
    vector.lerp({ x: 1, y: 2, z: 3 }, { x: 3, y: 2, z: -1 }, 0.25, out)
    expect(out).toEqual({ x: 1.5, y: 2, z: 2 })
    vector.addScaled({ x: 1, y: 1, z: 1 }, { x: 2, y: 4, z: -2 }, 0.5, out)
    expect(out).toEqual({ x: 2, y: 3, z: 0 })
    fc.assert(fc.property(anyVector, anyVector, (a, b) => {
      vector.lerp(a, b, 0, out)
      expect(out.x === a.x && out.y === a.y && out.z === a.z).toBe(true)
    }), RUNS)
  })
})
