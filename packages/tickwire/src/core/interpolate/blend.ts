/**
 * Cells between two rows, and beyond the last one: the only code that blends and dead-reckons, whoever asks.
 *
 *   blendRows   a + (b - a) t on lines, the short way round for angles and rotations, the nearer row for the rest
 *   reckon      p + v s + a s s / 2; velocities follow their acceleration; angles and rotations turn at their rate
 *
 * Exact operations in a written order and `base/` functions only, so that the same rows at the same moment are the same
 * bits on a client that draws and on an authority that rewinds. Nothing here knows ticks or networks.
 */

import { cos, sin } from '../base/math.ts'
import { multiply, normalize, slerp, type Xyzw } from '../base/quaternion.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { BlendPlan } from './blend-plan.ts'

const PI = Math.PI
const TURN = 2 * Math.PI

const from: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
const to: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
/** The farther of the two rows, as cells; grows to the largest entity. */
let far: Float64Array = new Float64Array(64)

/** What `blendRows` and `reckon` are told beside their rows, in cells: a double handed to a function is allocated. */
export const given: { /** How far from a to b, 0 to 1. */ readonly share: Float64Array
  /** Seconds to reckon ahead. */ readonly seconds: Float64Array } = { share: new Float64Array(1), seconds: new Float64Array(1) }
const { share, seconds } = given

/** An angle within [-pi, pi), as rows have it. For angles at most a turn out. */
export function wrapAngle(angle: number): number {
  return angle >= PI ? angle - TURN : angle < -PI ? angle + TURN : angle
}

/**
 * Writes the cells a `given.share` of the way from the row at `a` to the row at `b`. With `jumps` (squares of distances,
 * by position), an object that went further than that teleported: it is where the nearer row says. @hot
 */
export function blendRows(
  plan: BlendPlan, rows: Int32Array, a: number, b: number, jumps: Float64Array, cells: Float64Array, at: number,
): void {
  const { schema, lines, turns, quats } = plan
  const t = share[0]
  const isLate = t >= 0.5
  dequantizeRow(schema, rows, isLate ? b : a, cells, at)
  if (a === b || t === 0) return
  if (far.length < schema.cellCount) far = widened(schema.cellCount)
  dequantizeRow(plan.far, rows, isLate ? a : b, far, 0)
  if (jumped(plan, jumps, cells, at)) return
  settleGroups(plan, cells, at)
  // From the nearer one back or on: what is exact at either end stays so.
  const step = isLate ? 1 - t : t
  for (let index = 0; index < lines.length; index++) {
    const cell = lines[index]
    const near = cells[at + cell]
    cells[at + cell] = near + (far[cell] - near) * step
  }
  for (let index = 0; index < turns.length; index++) {
    const cell = turns[index]
    const near = cells[at + cell]
    cells[at + cell] = wrapAngle(near + wrapAngle(far[cell] - near) * step)
  }
  for (let index = 0; index < quats.length; index++) {
    const cell = quats[index]
    loadQuat(cells, at + cell, from)
    loadQuat(far, cell, to)
    slerp(from, to, step, from)
    storeQuat(from, cells, at + cell)
  }
}

/** Moves cells `given.seconds` ahead by the rates in them, within the bounds of their fields. @hot */
export function reckon(plan: BlendPlan, cells: Float64Array, at: number): void {
  const { motions, bounds, spins, rotations } = plan
  const s = seconds[0]
  for (let index = 0, bound = 0; index < motions.length; index += 3, bound += 2) {
    const acceleration = motions[index + 2]
    const a = acceleration < 0 ? 0 : cells[at + acceleration]
    const velocity = at + motions[index + 1]
    const value = cells[at + motions[index]] + cells[velocity] * s + 0.5 * a * s * s
    cells[at + motions[index]] = value > bounds[bound] ? (value < bounds[bound + 1] ? value : bounds[bound + 1]) : bounds[bound]
    cells[velocity] += a * s
  }
  for (let index = 0; index < spins.length; index += 2) {
    const turned = cells[at + spins[index]] + cells[at + spins[index + 1]] * s
    cells[at + spins[index]] = wrapAngle(turned - Math.floor(turned / TURN) * TURN)
  }
  for (let index = 0; index < rotations.length; index += 2) {
    const rate = at + rotations[index + 1]
    loadQuat(cells, at + rotations[index], to)
    fromRotation(cells[rate] * s, cells[rate + 1] * s, cells[rate + 2] * s, from)
    multiply(from, to, from)
    normalize(from, from)
    storeQuat(from, cells, at + rotations[index])
  }
}

/** out = the rotation around (x, y, z) by the length of it, in radians. @hot */
export function fromRotation(x: number, y: number, z: number, out: Xyzw): void {
  const angle = Math.sqrt(x * x + y * y + z * z)
  // The sine of a small angle over it is 1, less than a double can tell.
  const scale = angle > 1e-9 ? sin(angle / 2) / angle : 0.5
  out.x = x * scale
  out.y = y * scale
  out.z = z * scale
  out.w = cos(angle / 2)
}

/** @hot */
export function loadQuat(cells: Float64Array, at: number, out: Xyzw): void {
  out.x = cells[at]
  out.y = cells[at + 1]
  out.z = cells[at + 2]
  out.w = cells[at + 3]
}

/** @hot */
export function storeQuat(quat: Readonly<Xyzw>, cells: Float64Array, at: number): void {
  cells[at] = quat.x
  cells[at + 1] = quat.y
  cells[at + 2] = quat.z
  cells[at + 3] = quat.w
}

/** Whether any position is further from the farther row than it can have gone. */
function jumped({ positions }: BlendPlan, jumps: Float64Array, cells: Float64Array, at: number): boolean {
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index]
    let square = 0
    for (let component = 0; component < position.length; component++) {
      const away = far[position[component]] - cells[at + position[component]]
      square += away * away
    }
    if (square > jumps[index]) return true
  }
  return false
}

/** A group that only one of the rows has is what the nearer one says, in all that is inside. */
function settleGroups({ groups }: BlendPlan, cells: Float64Array, at: number): void {
  for (let index = 0; index < groups.length; index += 3) {
    if (cells[at + groups[index]] === far[groups[index]]) continue
    for (let cell = groups[index + 1]; cell < groups[index + 2]; cell++) far[cell] = cells[at + cell]
  }
}

function widened(cellCount: number): Float64Array {
  return new Float64Array(2 * cellCount)
}
