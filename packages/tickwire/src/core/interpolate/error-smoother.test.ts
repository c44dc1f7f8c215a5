import { describe, expect, test } from 'vitest'
import { Prng } from '../base/prng.ts'
import { entity } from '../schema/definition.ts'
import { angle, f32, group, int, quat, vec2, vec3 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { ErrorSmoother, type SmoothingOptions } from './error-smoother.ts'

const Ship = entity(
  { at: vec2(-1000, 1000, 0.01).position(), speed: vec2(-10, 10, 0.01).velocity(), yaw: angle(), hull: int(0, 9) },
  { name: 'Ship' },
)
const Plain = entity({ x: f32, name: int(0, 9), part: group({ y: f32 }) }, { name: 'Plain' })
const Rock = entity({ place: vec3(-9, 9, 0.1), spin: quat() }, { name: 'Rock' })
const [SHIP, PLAIN, ROCK] = [0, 1, 2]
const SLOT = 3

function smoother(options: SmoothingOptions = {}): ErrorSmoother {
  return new ErrorSmoother(new World([Ship, Plain, Rock], { isReadOnly: true }), options)
}

/** The drawn cells of a ship after some draws, `seconds` apart. The true cells are all 0 by default. */
function drawn(
  of: ErrorSmoother,
  seconds: readonly number[],
  truth: readonly number[] = [0, 0, 0, 0, 0, 0],
): Float64Array {
  let cells = Float64Array.from(truth)
  for (const each of seconds) {
    cells = Float64Array.from(truth)
    of.begin(each)
    of.apply(SHIP, SLOT, cells, 0)
  }
  return cells
}

const ship = (x: number, y: number, yaw: number = 0): Float64Array => Float64Array.of(x, y, 0, 0, yaw, 0)

describe('an offset', () => {
  test('[SMOOTH1] starts where the object was drawn, halves in each half-life, and ends at the true value', () => {
    const spring = smoother({ halfLifeMs: 80 })
    spring.absorb(SHIP, SLOT, ship(4, -2, 1), 0, ship(1, 2, -0.5), 0)
    expect([...drawn(spring, [0], [...ship(1, 2, -0.5)])]).toEqual([4, -2, 0, 0, 1, 0])
    const half = drawn(spring, [0.08], [...ship(1, 2, -0.5)])
    expect([half[0], half[1], half[4]]).toEqual([
      expect.closeTo(2.5, 12),
      expect.closeTo(0, 12),
      expect.closeTo(0.25, 12),
    ])
    expect([
      ...drawn(
        spring,
        Array.from({ length: 200 }, () => 0.01),
        [...ship(1, 2, -0.5)],
      ),
    ]).toEqual([1, 2, 0, 0, -0.5, 0])
    expect(spring.distance(SHIP, SLOT)).toBe(0)
  })

  test('[SMOOTH2] is the same after the same time, however often it was drawn', () => {
    const dice = new Prng(7)
    for (let round = 0; round < 50; round++) {
      const steps = Array.from({ length: dice.nextInt(1, 40) }, () => dice.nextInt(1, 100) / 10_000)
      const total = steps.reduce((sum, each) => sum + each, 0)
      const [often, once] = [smoother(), smoother()]
      for (const each of [often, once]) {
        each.absorb(SHIP, SLOT, ship(10, 3, 0.5), 0, ship(0, 0), 0)
        drawn(each, [0.05])
        each.shift(SHIP, SLOT, ship(1, 0), 0, ship(0, 2), 0)
      }
      const [a, b] = [drawn(often, steps), drawn(once, [total])]
      for (let cell = 0; cell < 5; cell++) expect(a[cell]).toBeCloseTo(b[cell]!, 10)
    }
  })

  test('[SMOOTH3] neither position nor velocity jumps at a correction, and nothing overshoots by itself', () => {
    const spring = smoother()
    const step = 1e-4
    let [last, speed] = [NaN, NaN]
    for (let count = 0; count < 3000; count++) {
      if (count % 700 === 0) spring.shift(SHIP, SLOT, ship(count === 1400 ? -2 : 5, 0), 0, ship(0, 0), 0)
      const isCorrected = count % 700 === 0
      const x = drawn(spring, [step])[0]!
      // The true position jumped by this much and the drawn one did not: here x is the offset.
      if (last === last && isCorrected) last += count === 1400 ? -2 : 5
      if (last === last) {
        const now = (x - last) / step
        if (speed === speed) expect(Math.abs(now - speed), `draw ${count}`).toBeLessThan(21 * 21 * 15 * step)
        speed = now
      }
      last = x
    }
    const alone = smoother()
    alone.absorb(SHIP, SLOT, ship(5, 0), 0, ship(0, 0), 0)
    let before = 5
    for (let count = 0; count < 100; count++) {
      const x = drawn(alone, [0.01])[0]!
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(before)
      before = x
    }
  })

  test('[SMOOTH4] an offset beyond a teleport is dropped: the declared limit, or three seconds at full speed', () => {
    const declared = smoother({ teleport: 5 })
    declared.absorb(SHIP, SLOT, ship(3, 4.1), 0, ship(0, 0), 0)
    expect([declared.teleports, drawn(declared, [0])[0]]).toEqual([1, 0])
    declared.absorb(SHIP, SLOT, ship(3, 3.9), 0, ship(0, 0), 0)
    expect([declared.corrections, drawn(declared, [0])[0]]).toEqual([1, 3])
    // 10 along both axes are 14.14 a second.
    const derived = smoother()
    derived.absorb(SHIP, SLOT, ship(42, 0), 0, ship(0, 0), 0)
    derived.absorb(SHIP, 1, ship(43, 0), 0, ship(0, 0), 0)
    expect([derived.distance(SHIP, SLOT), derived.distance(SHIP, 1)]).toEqual([42, 0])
  })

  test('[SMOOTH5] positions, angles and rotations have offsets; without a position, all blended fields do', () => {
    const spring = smoother()
    spring.absorb(SHIP, SLOT, Float64Array.of(1, 2, 3, 4, 0.5, 6), 0, new Float64Array(6), 0)
    expect([...drawn(spring, [0])]).toEqual([1, 2, 0, 0, 0.5, 0])
    const cells = new Float64Array(4)
    spring.absorb(PLAIN, 0, Float64Array.of(1, 2, 1, 4), 0, cells, 0)
    spring.begin(0)
    spring.apply(PLAIN, 0, cells, 0)
    expect([...cells]).toEqual([1, 0, 0, 0])
  })

  test('[SMOOTH5] angles take the short way', () => {
    const spring = smoother({ halfLifeMs: 100 })
    spring.absorb(SHIP, SLOT, ship(0, 0, 3), 0, ship(0, 0, -3), 0)
    const yaw = drawn(spring, [0.1], [...ship(0, 0, -3)])[4]!
    // From 3 up to pi, which is -pi, and on to -3: the middle is pi itself.
    expect(Math.abs(yaw)).toBeCloseTo(Math.PI, 9)
  })

  test('[SMOOTH5] rotations continue from where they were drawn, and end at the true value', () => {
    const about = (x: number, y: number, z: number, radians: number): number[] =>
      [x, y, z].map((each) => each * Math.sin(radians / 2)).concat(Math.cos(radians / 2))
    const spring = smoother({ halfLifeMs: 100 })
    const [before, truth] = [
      Float64Array.of(0, 0, 0, ...about(0, 0.6, 0.8, 1.2)),
      Float64Array.of(0, 0, 0, ...about(1, 0, 0, -2).map((each) => -each)),
    ]
    spring.absorb(ROCK, 0, before, 0, truth, 0)
    const angleTo = (cells: Float64Array, other: Float64Array): number => {
      let dot = 0
      for (let cell = 3; cell < 7; cell++) dot += cells[cell]! * other[cell]!
      return 2 * Math.acos(Math.min(1, Math.abs(dot)))
    }
    const draw = (seconds: number): Float64Array => {
      const cells = Float64Array.from(truth)
      spring.begin(seconds)
      spring.apply(ROCK, 0, cells, 0)
      return cells
    }
    const whole = angleTo(before, truth)
    expect(angleTo(draw(0), before)).toBeCloseTo(0, 6)
    expect(angleTo(draw(0.1), truth)).toBeCloseTo(whole / 2, 6)
    for (let count = 0; count < 200; count++) draw(0.01)
    expect(draw(0.01)).toEqual(truth)
  })

  test('[SMOOTH6] is removed when the object leaves its slot, and at once with a half-life of 0', () => {
    const spring = smoother()
    spring.absorb(SHIP, SLOT, ship(3, 0), 0, ship(0, 0), 0)
    spring.reset(SHIP, SLOT)
    expect(drawn(spring, [0])[0]).toBe(0)
    const none = smoother({ halfLifeMs: 0 })
    none.absorb(SHIP, SLOT, ship(3, 0), 0, ship(0, 0), 0)
    expect(drawn(none, [0.001])[0]).toBe(0)
    expect(() => smoother({ halfLifeMs: -1 })).toThrow('halfLifeMs')
  })

  test('[SMOOTH5] a value that is not a number is not smoothed', () => {
    const spring = smoother()
    spring.absorb(SHIP, SLOT, ship(NaN, 2), 0, ship(0, 0), 0)
    expect([...drawn(spring, [0])]).toEqual([0, 2, 0, 0, 0, 0])
  })
})
