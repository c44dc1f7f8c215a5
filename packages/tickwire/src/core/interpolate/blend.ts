/**
 * Computes cells between two rows and beyond the last one. This is the only code that blends and dead-reckons.
 *
 *   blendRows   a + (b - a) t on lines, the short way round for angles and rotations, the nearer row for the rest
 *   reckon      p + v s + a s s / 2; velocities follow their acceleration; angles and rotations turn at their rate
 *
 * It uses only exact operations in a fixed order and functions of `base/`, so that the same rows at the same moment
 * give the same bits on a client that draws and on an authority that rewinds. It does not depend on ticks or networks.
 */

import { cos, sin } from '../base/math.ts'
import { multiply, normalize, slerp, type Xyzw } from '../base/quaternion.ts'
import { dequantizeRow } from '../schema/cells.ts'
import type { BlendPlan } from './blend-plan.ts'

const PI = Math.PI
const TURN = 2 * Math.PI

const from: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
const to: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
/** The farther of the two rows, as cells. Grows to the largest entity. */
let far: Float64Array = new Float64Array(64)

/** Arguments of `blendRows` and `reckon`, in arrays because a double passed to a function is allocated. */
export const given: {
  /** How far from a to b, 0 to 1. */ readonly share: Float64Array
  /** Seconds to reckon ahead. */ readonly seconds: Float64Array
} = { share: new Float64Array(1), seconds: new Float64Array(1) }
const { share, seconds } = given

/** Brings an angle into [-pi, pi), the range of rows. The angle may be at most one turn outside. */
export function wrapAngle(angle: number): number {
  return angle >= PI ? angle - TURN : angle < -PI ? angle + TURN : angle
}

/**
 * Writes the cells a `given.share` of the way from the row at `a` to the row at `b`. `jumps` holds squared distances,
 * indexed by position. An object that moved further has teleported and is placed where the nearer row says. @hot
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
  // Starts from the nearer row, so that a value that is exact at either end stays exact.
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
    cells[at + motions[index]] =
      value > bounds[bound] ? (value < bounds[bound + 1] ? value : bounds[bound + 1]) : bounds[bound]
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

/** out = the rotation around (x, y, z) by its length, in radians. @hot */
export function fromRotation(x: number, y: number, z: number, out: Xyzw): void {
  const angle = Math.sqrt(x * x + y * y + z * z)
  // For a small angle, sin(angle) / angle differs from 1 by less than the precision of a double.
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

/** Whether any position is further from the farther row than the object can have moved. */
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

/** If only one of the rows has a group, everything inside the group is taken from the nearer row. */
function settleGroups({ groups }: BlendPlan, cells: Float64Array, at: number): void {
  for (let index = 0; index < groups.length; index += 3) {
    if (cells[at + groups[index]] === far[groups[index]]) continue
    for (let cell = groups[index + 1]; cell < groups[index + 2]; cell++) far[cell] = cells[at + cell]
  }
}

function widened(cellCount: number): Float64Array {
  return new Float64Array(2 * cellCount)
}
