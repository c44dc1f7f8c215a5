import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as quaternion from './quaternion.ts'
import type { Xyzw } from './quaternion.ts'
import type { Xyz } from './vector.ts'

const coordinate = fc.double({ min: -1, max: 1, noNaN: true })
const rotation: fc.Arbitrary<Xyzw> = fc.tuple(coordinate, coordinate, coordinate, coordinate)
  .filter((q) => Math.hypot(...q) > 0.1)
  .map(([x, y, z, w]) => {
    const q = { x, y, z, w }
    quaternion.normalize(q, q)
    return q
  })
const point: fc.Arbitrary<Xyz> = fc.record({ x: coordinate, y: coordinate, z: coordinate }, { noNullPrototype: true })
const RUNS = { seed: 1, numRuns: 500 }
const NEAR = 1e-14

const make = (): Xyzw => ({ x: 0, y: 0, z: 0, w: 1 })
const size = (q: Xyzw): number => Math.hypot(q.x, q.y, q.z, q.w)
const apart = (a: Xyz, b: Xyz): number => Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z)
const rotated = (q: Xyzw, v: Xyz): Xyz => {
  const out = { x: 0, y: 0, z: 0 }
  quaternion.rotate(q, v, out)
  return out
}
/** The angle of the rotation that leads from a to b. */
const angleBetween = (a: Xyzw, b: Xyzw): number => {
  const between = make()
  quaternion.conjugate(a, between)
  quaternion.multiply(b, between, between)
  return 2 * Math.atan2(Math.hypot(between.x, between.y, between.z), Math.abs(between.w))
}

describe('rotations', () => {
  test('[QUAT1] a quarter turn around each axis, counter-clockwise', () => {
    const cases = [
      [{ x: 0, y: 0, z: 1 }, { x: 1, y: 0, z: 0 }, { x: 0, y: 1, z: 0 }],
      [{ x: 1, y: 0, z: 0 }, { x: 0, y: 1, z: 0 }, { x: 0, y: 0, z: 1 }],
      [{ x: 0, y: 1, z: 0 }, { x: 0, y: 0, z: 1 }, { x: 1, y: 0, z: 0 }],
    ] as const
    for (const [axis, from, to] of cases) {
      const q = make()
      quaternion.fromAxisAngle(axis, Math.PI / 2, q)
      expect(apart(rotated(q, from), to)).toBeLessThan(NEAR)
      expect(apart(rotated(q, axis), axis)).toBeLessThan(NEAR)
    }
  })
  test('[QUAT1] a product is the second rotation, then the first; the conjugate undoes', () => {
    fc.assert(fc.property(rotation, rotation, point, (a, b, v) => {
      const both = make()
      quaternion.multiply(a, b, both)
      expect(apart(rotated(both, v), rotated(a, rotated(b, v)))).toBeLessThan(NEAR)
      const back = make()
      quaternion.conjugate(a, back)
      expect(apart(rotated(back, rotated(a, v)), v)).toBeLessThan(NEAR)
      expect(Math.abs(size(both) - 1)).toBeLessThan(NEAR)
    }), RUNS)
  })
  test('[QUAT2] every result may be written over an argument, and zero normalizes to no rotation', () => {
    fc.assert(fc.property(rotation, rotation, coordinate, (a, b, t) => {
      for (const operation of [
        quaternion.multiply,
        (a: Xyzw, b: Xyzw, out: Xyzw) => quaternion.slerp(a, b, t, out),
        (a: Xyzw, b: Xyzw, out: Xyzw) => quaternion.nlerp(a, b, t, out),
      ]) {
        const out = make()
        operation(a, b, out)
        const left = { ...a }
        operation(left, b, left)
        const right = { ...b }
        operation(a, right, right)
        expect([left, right]).toEqual([out, out])
      }
    }), RUNS)
    const zero = { x: 0, y: 0, z: 0, w: 0 }
    quaternion.normalize(zero, zero)
    expect(zero).toEqual({ x: 0, y: 0, z: 0, w: 1 })
  })
})

describe('between two rotations', () => {
  const fraction = fc.double({ min: 0, max: 1, noNaN: true })

  test('[QUAT3] slerp goes the short way at constant speed, staying a rotation', () => {
    fc.assert(fc.property(rotation, rotation, fraction, (a, b, t) => {
      const out = make()
      quaternion.slerp(a, b, t, out)
      const whole = angleBetween(a, b)
      expect(whole).toBeLessThanOrEqual(Math.PI + NEAR)
      expect(Math.abs(size(out) - 1)).toBeLessThan(NEAR)
      expect(Math.abs(angleBetween(a, out) - whole * t)).toBeLessThan(NEAR)
      expect(Math.abs(angleBetween(out, b) - whole * (1 - t))).toBeLessThan(NEAR)
    }), RUNS)
  })
  test('[QUAT3] slerp begins and ends exactly at its arguments', () => {
    fc.assert(fc.property(rotation, rotation, (a, b) => {
      const out = make()
      quaternion.slerp(a, b, 0, out)
      expect(angleBetween(a, out)).toBeLessThan(NEAR)
      quaternion.slerp(a, b, 1, out)
      expect(angleBetween(b, out)).toBeLessThan(NEAR)
      quaternion.slerp(a, a, 0.3, out)
      expect(angleBetween(a, out)).toBeLessThan(NEAR)
    }), RUNS)
  })
  test('[QUAT3] nlerp takes the same way, equals slerp at the ends and in the middle, and stays close to it', () => {
    fc.assert(fc.property(rotation, rotation, fraction, (a, b, t) => {
      const straight = make()
      const arc = make()
      quaternion.nlerp(a, b, 0.5, straight)
      quaternion.slerp(a, b, 0.5, arc)
      expect(angleBetween(straight, arc)).toBeLessThan(NEAR)
      quaternion.nlerp(a, b, t, straight)
      quaternion.slerp(a, b, t, arc)
      // Half a radian between two snapshots is a fast turn already; there nlerp is off by a third of a degree at most.
      if (angleBetween(a, b) < 0.5) expect(angleBetween(straight, arc)).toBeLessThan(0.002)
    }), RUNS)
  })
  test('[QUAT3] opposite signs of one rotation have no distance', () => {
    fc.assert(fc.property(rotation, fraction, (a, t) => {
      const out = make()
      quaternion.slerp(a, { x: -a.x, y: -a.y, z: -a.z, w: -a.w }, t, out)
      expect(angleBetween(a, out)).toBeLessThan(NEAR)
    }), RUNS)
  })
})
