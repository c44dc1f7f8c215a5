/**
 * Hides corrections: drawn = truth + offset, and the offset decays to 0 on a critically damped spring.
 *
 *   correction   offset := drawn - new truth, at one moment       so the picture does not jump
 *   every draw   offset, speed := spring(offset, speed, seconds)  (x + (v + w x) s) e^(-w s): solved, not stepped, so
 *                                                                 the same at 30 and at 240 draws a second
 *
 * The speed starts at 0 and continues through further corrections, so the drawn velocity does not jump either, beyond
 * what the truth's own velocity does. An offset longer than a teleport is dropped: the object jumps. An offset below a
 * hundredth of its field's precision is dropped too, and the drawn value equals the truth bit for bit.
 *
 * Smoothed are: fields marked `position` (without any, all fields that blend linearly), angles, and rotations, as the
 * rotation vector of drawn x truth^-1. Fields in groups are not smoothed. Offsets are indexed by slot of the view
 * world.
 *
 * One smoother serves both kinds of corrections. The interpolator calls it by itself. Prediction calls it after a
 * rollback, for each object that it draws:
 *
 *   smoother.shift(type, slot, before, at, after, at)     its cells at the newest tick, before and after the replay
 *
 * On every draw call `begin(seconds)` once, then `apply(type, slot, cells, at)` for each object, with the truth in the
 * view's cells.
 */

import { ConfigError } from '../base/assert.ts'
import { SMOOTHING_HALF_LIFE_MS } from '../base/limits.ts'
import { atan2, exp } from '../base/math.ts'
import { conjugate, multiply, normalize, type Xyzw } from '../base/quaternion.ts'
import type { World } from '../world/world.ts'
import { fromRotation, loadQuat, storeQuat, wrapAngle } from './blend.ts'
import { smoothPlanOf, type SmoothPlan } from './smooth-plan.ts'

/** How corrections are smoothed. */
export interface SmoothingOptions {
  /** The time until half of an offset is gone. 0 draws corrections at once. Default: 80. */
  readonly halfLifeMs?: number
  /** An offset longer than this (in the unit of positions) is not smoothed. Default: three seconds at full speed. */
  readonly teleport?: number
}

/** (1 + u) e^-u is 1/2 here: the half-life of a critically damped spring, in units of its own time. */
const HALF_LIFE = 1.6783469900166605

const a: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
const b: Xyzw = { x: 0, y: 0, z: 0, w: 1 }

/** Offsets of one entity. Indexed by slot: the offsets of all components, then their speeds. */
interface Offsets {
  readonly plan: SmoothPlan
  values: Float64Array
  isMoving: Uint8Array
}

/** Offsets between where objects were drawn and where they are now, which shrink over time. */
export class ErrorSmoother {
  /** Counters: corrections that were smoothed, and corrections that were too far to smooth. */
  corrections = 0
  /** Corrections that were too far to smooth. */
  teleports = 0
  readonly #view: World
  readonly #halfLifeSeconds: number
  /** Indexed by type. */
  readonly #offsets: readonly Offsets[]
  /** The spring matrix of this draw: offset from offset and speed, speed from offset and speed. */
  readonly #spring = new Float64Array([1, 0, 0, 1])

  constructor(view: World, options: SmoothingOptions = {}) {
    const { halfLifeMs = SMOOTHING_HALF_LIFE_MS, teleport } = options
    if (!(halfLifeMs >= 0 && halfLifeMs < Infinity))
      throw new ConfigError(
        'halfLifeMs',
        `invalid time (expected 0 or more milliseconds, got ${halfLifeMs})`,
        'give milliseconds; 0 disables smoothing.',
      )
    this.#view = view
    this.#halfLifeSeconds = halfLifeMs / 1000
    this.#offsets = view.stores.map(({ schema }) => ({
      plan: smoothPlanOf(schema, teleport), values: new Float64Array(0), isMoving: new Uint8Array(0),
    }))
  }

  /** Begins a draw, `seconds` after the last one. */
  begin(seconds: number): void {
    const rate = this.#halfLifeSeconds === 0 ? Infinity : HALF_LIFE / this.#halfLifeSeconds
    const turned = rate * Math.max(seconds, 0)
    const decay = turned < Infinity ? exp(-turned) : 0
    const spring = this.#spring
    spring[0] = decay === 0 ? 0 : (1 + turned) * decay
    spring[1] = decay * seconds
    spring[2] = decay === 0 ? 0 : -rate * turned * decay
    spring[3] = decay === 0 ? 0 : (1 - turned) * decay
  }

  /** Adds the offset of this draw to the truth in `cells[at]`. Call once per draw and object. @hot */
  apply(type: number, slot: number, cells: Float64Array, at: number): void {
    const offsets = this.#offsets[type]
    if (slot >= offsets.isMoving.length || offsets.isMoving[slot] === 0) return
    const { plan, values } = offsets
    const { lines, turns, quats, count } = plan
    const first = slot * 2 * count
    this.#move(offsets, first)
    if (this.#isSettled(offsets, first)) {
      this.#clear(offsets, slot)
      return
    }
    for (let index = 0; index < lines.length; index++) cells[at + lines[index]] += values[first + index]
    let next = first + lines.length
    for (let index = 0; index < turns.length; index++) {
      cells[at + turns[index]] = wrapAngle(cells[at + turns[index]] + values[next++])
    }
    for (let index = 0; index < quats.length; index++, next += 3) {
      fromRotation(values[next], values[next + 1], values[next + 2], a)
      loadQuat(cells, at + quats[index], b)
      multiply(a, b, a)
      normalize(a, a)
      storeQuat(a, cells, at + quats[index])
    }
  }

  /** The truth at the last drawn moment changed. Keeps drawing from `drawn`, which includes the offset. @hot */
  absorb(type: number, slot: number, drawn: Float64Array, drawnAt: number, truth: Float64Array, truthAt: number): void {
    const offsets = this.#reserve(type, slot)
    const { count } = offsets.plan
    for (let at = slot * 2 * count; at < slot * 2 * count + count; at++) offsets.values[at] = 0
    this.#add(offsets, slot, drawn, drawnAt, truth, truthAt)
  }

  /** The truth at one moment changed from `before` to `after`. Both are without offset. @hot */
  shift(
    type: number,
    slot: number,
    before: Float64Array,
    beforeAt: number,
    after: Float64Array,
    afterAt: number,
  ): void {
    this.#add(this.#reserve(type, slot), slot, before, beforeAt, after, afterAt)
  }

  /** A new object occupies the slot. */
  reset(type: number, slot: number): void {
    if (slot < this.#offsets[type].isMoving.length) this.#clear(this.#offsets[type], slot)
  }

  /** How far an object is drawn from the truth, in the unit of its lines: for diagnostics and tests. */
  distance(type: number, slot: number): number {
    const { plan, values, isMoving } = this.#offsets[type]
    if (slot >= isMoving.length || isMoving[slot] === 0) return 0
    let square = 0
    for (let at = slot * 2 * plan.count, end = at + plan.lines.length; at < end; at++) square += values[at] * values[at]
    return Math.sqrt(square)
  }

  /** Adds `from` - `to` to the offset of a slot. */
  #add(offsets: Offsets, slot: number, from: Float64Array, fromAt: number, to: Float64Array, toAt: number): void {
    const { plan, values } = offsets
    const { lines, turns, quats, count } = plan
    const first = slot * 2 * count
    for (let index = 0; index < lines.length; index++) {
      const gap = from[fromAt + lines[index]] - to[toAt + lines[index]]
      // A field may hold NaN or Infinity, from which there is no offset.
      if (gap - gap === 0) values[first + index] += gap
    }
    let next = first + lines.length
    for (let index = 0; index < turns.length; index++, next++) {
      values[next] = wrapAngle(wrapAngle(from[fromAt + turns[index]] - to[toAt + turns[index]]) + values[next])
    }
    for (let index = 0; index < quats.length; index++, next += 3) {
      fromRotation(values[next], values[next + 1], values[next + 2], a)
      loadQuat(from, fromAt + quats[index], b)
      multiply(a, b, a)
      loadQuat(to, toAt + quats[index], b)
      conjugate(b, b)
      multiply(a, b, a)
      storeRotation(a, values, next)
    }
    offsets.isMoving[slot] = 1
    if (this.#isTeleport(offsets, first)) {
      this.teleports++
      this.#clear(offsets, slot)
    } else if (this.#isSettled(offsets, first)) {
      this.#clear(offsets, slot)
    } else {
      this.corrections++
    }
  }

  #move({ plan: { count }, values }: Offsets, first: number): void {
    const spring = this.#spring
    for (let at = first; at < first + count; at++) {
      const x = values[at]
      const v = values[at + count]
      values[at] = spring[0] * x + spring[1] * v
      values[at + count] = spring[2] * x + spring[3] * v
    }
  }

  #isSettled({ plan: { count, settled }, values }: Offsets, first: number): boolean {
    for (let at = 0; at < count; at++) {
      if (Math.abs(values[first + at]) > settled[at]) return false
      if (Math.abs(values[first + count + at]) * this.#halfLifeSeconds > settled[at]) return false
    }
    return true
  }

  #isTeleport({ plan: { lineGroups, teleports }, values }: Offsets, first: number): boolean {
    for (let group = 0; group < teleports.length; group++) {
      let square = 0
      for (let at = lineGroups[group]; at < lineGroups[group + 1]; at++)
        square += values[first + at] * values[first + at]
      if (square > teleports[group]) return true
    }
    return false
  }

  #clear({ plan: { count }, values, isMoving }: Offsets, slot: number): void {
    isMoving[slot] = 0
    values.fill(0, slot * 2 * count, (slot + 1) * 2 * count)
  }

  #reserve(type: number, slot: number): Offsets {
    const offsets = this.#offsets[type]
    if (slot < offsets.isMoving.length) return offsets
    const capacity = this.#view.stores[type].stamps.length
    const { values, isMoving } = offsets
    offsets.values = new Float64Array(capacity * 2 * offsets.plan.count)
    offsets.values.set(values)
    offsets.isMoving = new Uint8Array(capacity)
    offsets.isMoving.set(isMoving)
    return offsets
  }
}

/** values[at] = the rotation vector of a unit quaternion, the short way round. */
function storeRotation(quat: Readonly<Xyzw>, values: Float64Array, at: number): void {
  const sign = quat.w < 0 ? -1 : 1
  const size = Math.sqrt(quat.x * quat.x + quat.y * quat.y + quat.z * quat.z)
  const scale = size > 1e-12 ? sign * 2 * atan2(size, sign * quat.w) / size : 2 * sign
  values[at] = quat.x * scale
  values[at + 1] = quat.y * scale
  values[at + 2] = quat.z * scale
}
