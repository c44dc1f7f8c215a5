import { expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { RAY, rayBox, rayCapsule, raySphere, sweepBox } from './ray.ts'

/** How far a point is outside of a shape; 0 or less inside. */
type Outside = (x: number, y: number, z: number) => number

const outsideBox =
  (x: number, y: number, z: number): Outside =>
  (px, py, pz) =>
    Math.hypot(Math.max(Math.abs(px) - x, 0), Math.max(Math.abs(py) - y, 0), Math.max(Math.abs(pz) - z, 0))
const outsideCapsule =
  (half: number): Outside =>
  (px, py, pz) =>
    Math.hypot(px, py - Math.max(-half, Math.min(half, py)), pz)

/** Moves along the ray by the distance to the shape until it meets it: slow, but simple. */
function march(outside: Outside, thickness: number): number {
  let distance = 0
  for (let count = 0; count < 20_000 && distance < 100; count++) {
    const at = (axis: number): number => RAY[axis]! + RAY[3 + axis]! * distance
    const free = outside(at(0), at(1), at(2)) - thickness
    if (free < 1e-9) return distance
    distance += free
  }
  return Infinity
}

const SHAPES: readonly (readonly [string, Outside, number, () => number])[] = [
  ['sphere', (x, y, z) => Math.hypot(x, y, z), 1.5, () => raySphere(1.5)],
  ['capsule', outsideCapsule(2), 0.75, () => rayCapsule(2, 0.75)],
  ['box', outsideBox(1, 2, 0.5), 0, () => rayBox(1, 2, 0.5)],
  ['ball against box', outsideBox(1, 2, 0.5), 0.6, () => sweepBox(1, 2, 0.5, 0.6)],
]

test.each(SHAPES)('[RAY1] a %s is met where small steps along the ray meet it', (name, outside, thickness, cast) => {
  const dice = new Prng(3)
  const number = (most: number): number => dice.nextInt(-1000, 1000) / 1000 * most
  let [hits, misses, inside] = [0, 0, 0]
  for (let round = 0; round < 4000; round++) {
    const far = round % 5 === 0 ? 2 : 8
    RAY.set([number(far), number(far), number(far)])
    // Half of the rays aim at a point near the shape, some are along an axis.
    const aim =
      round % 2 === 0
        ? [number(1), number(1), number(1)]
        : [number(3) - RAY[0]!, number(3) - RAY[1]!, number(3) - RAY[2]!]
    if (round % 7 === 0) aim[round % 3] = 0
    if (round % 21 === 0) aim[(round + 1) % 3] = 0
    const size = Math.hypot(...aim)
    if (size === 0) continue
    RAY.set(aim.map((each) => each / size), 3)
    const [wanted, actual] = [march(outside, thickness), cast()]
    if (wanted === 0) inside++
    else if (wanted === Infinity) misses++
    else hits++
    if (wanted !== Infinity && actual !== Infinity) {
      // Where the ray grazes the shape, small steps end early.
      expect(Math.abs(wanted - actual), `${name} round ${round}`).toBeLessThan(1e-3)
      continue
    }
    if (wanted === actual) continue
    // One finds a hit and the other does not: then the ray passes within 1e-6 of the surface.
    if (wanted === Infinity) expect(march(outside, thickness + 1e-6), `${name} round ${round}`).not.toBe(Infinity)
    else if (thickness > 0) expect(march(outside, thickness - 1e-6), `${name} round ${round}`).toBe(Infinity)
    else expect(wanted, `${name} round ${round}`).toBe(actual)
  }
  expect(Math.min(hits, misses, inside)).toBeGreaterThan(30)
})
