/**
 * Bodies and rays against the boxes of the level.
 *
 * A body is an axis-aligned box, positioned by its feet. It moves one axis at a time, at most a quarter metre a tick,
 * and every solid is thicker than that, so nothing is passed through. Positions are rounded to the resolution of the
 * wire after every tick; `SLACK` is more than that rounding, so that a body that touches a wall is not inside it.
 *
 * It is deterministic: only additions, multiplications and square roots, so client and server compute the same bits.
 */

import type { Vec3 } from 'tickwire'
import { BOXES, SOLIDS } from './level.ts'

/** Size of a fighter's body. */
export const BODY_HALF = 0.375
export const BODY_HEIGHT = 1.75
export const EYE_HEIGHT = 1.5625
/** The height of a step that needs no jump. */
const STEP_UP = 0.5625
const STEP_DOWN = 0.3125
const SLACK = 1 / 256
/** A corner has three walls at most; after one more, the body stays where it was. */
const CLIPS_MAX = 4

/** Grid cells of the ground. Each lists the solids that a body or a ball in it can touch: a tenth of all. */
const CELL = 4
const CELLS = 14
const MARGIN = 1
const NEAR: readonly Int32Array[] = Array.from({ length: CELLS * CELLS }, (_, cell) => {
  const [west, north] = [(Math.floor(cell / CELLS) - CELLS / 2) * CELL, (cell % CELLS - CELLS / 2) * CELL]
  const touches = (box: number): boolean => BOXES[box]! < west + CELL + MARGIN && BOXES[box + 3]! > west - MARGIN
    && BOXES[box + 2]! < north + CELL + MARGIN && BOXES[box + 5]! > north - MARGIN
  return Int32Array.from(Array.from({ length: BOXES.length / 6 }, (_box, index) => index * 6).filter(touches))
})

function cellAt(metres: number): number {
  return clamp(Math.floor(metres / CELL) + CELLS / 2, 0, CELLS - 1)
}

/** A moving body: the position of its feet, and its speed. */
export interface Mover {
  readonly at: { x: number; y: number; z: number }
  readonly speed: { x: number; y: number; z: number }
}

/** The first solid that a body with its feet there would intersect: an offset into BOXES, or -1. */
export function solidAt(x: number, y: number, z: number): number {
  const half = BODY_HALF - SLACK
  const near = NEAR[cellAt(x) * CELLS + cellAt(z)]!
  for (let at = 0; at < near.length; at++) {
    const box = near[at]!
    if (x + half > BOXES[box]! && x - half < BOXES[box + 3]! && z + half > BOXES[box + 2]! && z - half < BOXES[box + 5]!
      && y + BODY_HEIGHT - SLACK > BOXES[box + 1]! && y + SLACK < BOXES[box + 4]!) return box
  }
  return -1
}

/** Whether a body with its feet there stands on a floor. */
export function isGrounded({ at, speed }: Mover): boolean {
  return speed.y <= 0.5 && solidAt(at.x, at.y - 2 * SLACK, at.z) >= 0
}

/** Moves a body by its speed for `seconds`. A collision removes the speed in its direction. */
export function moveBody(mover: Mover, seconds: number): void {
  const { at, speed } = mover
  const wasGrounded = isGrounded(mover)
  moveAcross(mover, 'x', speed.x * seconds, wasGrounded)
  moveAcross(mover, 'z', speed.z * seconds, wasGrounded)
  moveUpright(mover, speed.y * seconds)
  // Walking down a stair, the feet stay on it.
  if (wasGrounded && speed.y <= 0 && solidAt(at.x, at.y - 2 * SLACK, at.z) < 0) {
    const floor = solidAt(at.x, at.y - STEP_DOWN, at.z)
    if (floor >= 0 && solidAt(at.x, BOXES[floor + 4]!, at.z) < 0) at.y = BOXES[floor + 4]!
  }
}

function moveAcross(mover: Mover, axis: 'x' | 'z', by: number, canStep: boolean): void {
  if (by === 0) return
  const { at, speed } = mover
  const side = axis === 'x' ? 0 : 2
  const before = at[axis]
  at[axis] = before + by
  for (let clips = 0; clips < CLIPS_MAX; clips++) {
    const box = solidAt(at.x, at.y, at.z)
    if (box < 0) return
    const top = BOXES[box + 4]!
    if (canStep && top - at.y <= STEP_UP && solidAt(at.x, top, at.z) < 0) {
      at.y = top
      return
    }
    at[axis] = by > 0 ? BOXES[box + side]! - BODY_HALF : BOXES[box + side + 3]! + BODY_HALF
    speed[axis] = 0
  }
  at[axis] = before
}

function moveUpright({ at, speed }: Mover, by: number): void {
  const before = at.y
  at.y += by
  for (let clips = 0; clips < CLIPS_MAX; clips++) {
    const box = solidAt(at.x, at.y, at.z)
    if (box < 0) return
    at.y = by > 0 ? BOXES[box + 1]! - BODY_HEIGHT : BOXES[box + 4]!
    speed.y = 0
  }
  at.y = before
}

/** All solids, and those that can hide a body: steps of stairs are low, and make up half of all solids. */
const ALL = Int32Array.from(SOLIDS, (_solid, index) => index * 6)
const BLINDS = ALL.filter((box) => SOLIDS[box / 6]!.paint !== 'stair')

/** The length of a ray until it hits a solid, at most `reach`. `direction` has length 1. */
export function rayLength(from: Readonly<Vec3>, direction: Readonly<Vec3>, reach: number): number {
  // A rocket moves a short way in a tick, so only nearby solids are tested.
  return rayTo(from, direction, reach, reach <= MARGIN ? NEAR[cellAt(from.x) * CELLS + cellAt(from.z)]! : ALL)
}

/** Stops at the first hit nearer than `enough`. */
function rayTo(from: Readonly<Vec3>, direction: Readonly<Vec3>, reach: number, boxes: Int32Array, enough = -1): number {
  let nearest = reach
  for (let at = 0; at < boxes.length; at++) {
    const box = boxes[at]!
    let near = 0
    let far = nearest
    for (let axis = 0; axis < 3; axis++) {
      const origin = axis === 0 ? from.x : axis === 1 ? from.y : from.z
      const slope = axis === 0 ? direction.x : axis === 1 ? direction.y : direction.z
      const low = BOXES[box + axis]! - origin
      const high = BOXES[box + axis + 3]! - origin
      if (slope === 0) {
        if (low > 0 || high < 0) far = -1
        continue
      }
      const a = low / slope
      const b = high / slope
      near = Math.max(near, Math.min(a, b))
      far = Math.min(far, Math.max(a, b))
    }
    if (near < far && near < nearest) nearest = near
    if (nearest < enough) break
  }
  return nearest
}

/** Reused for the rays of bots, which are many. */
const LOOK = { x: 0, y: 0, z: 0 }

/** Whether no solid that can hide a body is between two places. Only bots use it; the match does not depend on it. */
export function canSee(from: Readonly<Vec3>, to: Readonly<Vec3>): boolean {
  const x = to.x - from.x
  const y = to.y - from.y
  const z = to.z - from.z
  const distance = Math.sqrt(x * x + y * y + z * z)
  if (distance < 0.01) return true
  LOOK.x = x / distance
  LOOK.y = y / distance
  LOOK.z = z / distance
  return rayTo(from, LOOK, distance, BLINDS, distance - 0.01) >= distance - 0.01
}

/** Pushes a ball out of solids; it bounces off with a part of its speed. Returns whether it touches a floor. */
export function moveBall({ at, speed }: Mover, radius: number, bounce: number): boolean {
  let isOnFloor = false
  for (const box of NEAR[cellAt(at.x) * CELLS + cellAt(at.z)]!) {
    const x = at.x - clamp(at.x, BOXES[box]!, BOXES[box + 3]!)
    const y = at.y - clamp(at.y, BOXES[box + 1]!, BOXES[box + 4]!)
    const z = at.z - clamp(at.z, BOXES[box + 2]!, BOXES[box + 5]!)
    const distance = Math.sqrt(x * x + y * y + z * z)
    if (distance >= radius || distance === 0) continue
    const [nx, ny, nz] = [x / distance, y / distance, z / distance]
    at.x += nx * (radius - distance)
    at.y += ny * (radius - distance)
    at.z += nz * (radius - distance)
    isOnFloor ||= ny > 0.7
    const into = speed.x * nx + speed.y * ny + speed.z * nz
    if (into >= 0) continue
    const back = into < -1 ? (1 + bounce) * into : into
    speed.x -= back * nx
    speed.y -= back * ny
    speed.z -= back * nz
  }
  return isOnFloor
}

function clamp(value: number, min: number, max: number): number {
  return value < min ? min : value > max ? max : value
}
