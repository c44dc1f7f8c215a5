/**
 * Which cells of an entity are smoothed, and how far is too far: a schema and a teleport distance, packed for
 * `error-smoother.ts`.
 *
 * Components of an offset, in this order: one a line, one a turn, three a rotation.
 */

import type { Leaf } from '../schema/leaf.ts'
import type { Schema } from '../schema/schema.ts'
import { blendPlanOf } from './blend-plan.ts'

export interface SmoothPlan {
  /** Cells, counted from the start of the object. */
  readonly lines: Int32Array
  readonly turns: Int32Array
  readonly quats: Int32Array
  /** Components of an offset. */
  readonly count: number
  /** By component: an offset below this cannot be seen. */
  readonly settled: Float64Array
  /** Lines lie in groups, one a position; where each begins, and the end. */
  readonly lineGroups: Int32Array
  /** By group: the square of the distance that is a teleport. */
  readonly teleports: Float64Array
}

/** Of what a field can tell: a hundredth. */
const SETTLED_SHARE = 0.01
/** Of a field without steps: in its own unit. */
const SETTLED_FLOAT = 1e-5
const SETTLED_RADIANS = 1e-5
/** Seconds at full speed that are a teleport: who was out of touch for less walks back into the picture. */
const TELEPORT_SECONDS = 3

/** Plans the smoothing of an entity. */
export function smoothPlanOf(schema: Schema, teleport: number | undefined): SmoothPlan {
  const { positions, speeds } = blendPlanOf(schema)
  const grouped = new Set(schema.groups.flatMap(({ firstLeaf, leafCount }) => schema.leaves.slice(firstLeaf, firstLeaf + leafCount)))
  const free = schema.leaves.filter((leaf) => !grouped.has(leaf))
  const of = (blend: Leaf['blend']): readonly Leaf[] => free.filter((leaf) => leaf.blend === blend)
  const moved = positions.map((cells) => of('linear').filter(({ cell }) => cells.includes(cell)))
  const groups = moved.some((leaves) => leaves.length > 0) ? moved : [of('linear')]
  const lines = groups.flat()
  const rotations = of('slerp')
  let end = 0
  return {
    lines: Int32Array.from(lines, ({ cell }) => cell),
    turns: Int32Array.from(of('angle'), ({ cell }) => cell),
    quats: Int32Array.from(rotations, ({ cell }) => cell),
    count: lines.length + of('angle').length + 3 * rotations.length,
    settled: Float64Array.from([
      ...lines.map(({ field: { spec } }) => spec.kind === 'fixed' ? spec.precision * SETTLED_SHARE : SETTLED_FLOAT),
      ...of('angle').map(() => SETTLED_RADIANS),
      ...rotations.flatMap(() => [SETTLED_RADIANS, SETTLED_RADIANS, SETTLED_RADIANS]),
    ]),
    lineGroups: Int32Array.from([0, ...groups.map((leaves) => (end += leaves.length))]),
    teleports: Float64Array.from(groups, (_, at) => {
      const most = teleport ?? (at < speeds.length ? speeds[at] * TELEPORT_SECONDS : Infinity)
      return most * most
    }),
  }
}
