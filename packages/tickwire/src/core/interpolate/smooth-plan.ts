/**
 * Which cells of an entity are smoothed, and how far is too far: a schema and a teleport distance, packed for
 * `error-smoother.ts`.
 *
 * Components of an offset, in this order: one per line, one per turn, three per rotation.
 */

import type { Leaf } from '../schema/leaf.ts'
import type { Schema } from '../schema/schema.ts'
import { blendPlanOf } from './blend-plan.ts'

export interface SmoothPlan {
  /** Cells, relative to the start of the object. */
  readonly lines: Int32Array
  readonly turns: Int32Array
  readonly quats: Int32Array
  /** The number of components of an offset. */
  readonly count: number
  /** Indexed by component: an offset below this is not visible. */
  readonly settled: Float64Array
  /** Lines are grouped, one group per position: where each group begins, and the end of the last. */
  readonly lineGroups: Int32Array
  /** Indexed by group: the square of the teleport distance. */
  readonly teleports: Float64Array
}

/** The invisible share of a field's precision: a hundredth. */
const SETTLED_SHARE = 0.01
/** For a field without precision: in its own unit. */
const SETTLED_FLOAT = 1e-5
const SETTLED_RADIANS = 1e-5
/** An offset as long as this many seconds at full speed is a teleport. After a shorter outage an object glides back. */
const TELEPORT_SECONDS = 3

export function smoothPlanOf(schema: Schema, teleport: number | undefined): SmoothPlan {
  const { positions, speeds } = blendPlanOf(schema)
  const grouped = new Set(
    schema.groups.flatMap(({ firstLeaf, leafCount }) => schema.leaves.slice(firstLeaf, firstLeaf + leafCount)),
  )
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
