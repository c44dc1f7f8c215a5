/**
 * How the objects of one entity are drawn between and beyond the known rows: a schema, packed for the loops.
 *
 *   lines    cells that blend linearly                      step of `fixed`, bounds: limits for dead reckoning
 *   turns    cells that are angles                          the short way round
 *   quats    first cells of rotations                       slerp, the short way round
 *   groups   presence cell, first and last cell inside      presence switches at the half; its cells blend if present
 *
 * Cells in none of the lists snap to the nearer row, from the half on the later one: integers, flags, names, ids,
 * texts. Motions are the pairs that `schema/motion.ts` found, cell by cell.
 *
 * Invariant: a client that draws and an authority that rewinds use the same plan and the same loops (`pose.ts`), so the
 * same rows at the same fractional tick give the same bits.
 */

import type { Layout, Member } from '../schema/layout.ts'
import type { Leaf } from '../schema/leaf.ts'
import { makeLeafTable } from '../schema/leaf-table.ts'
import type { Schema } from '../schema/schema.ts'

/** Which cells of a schema blend and move. */
export interface BlendPlan {
  readonly schema: Schema
  /** The leaves that blend, and the presence of groups: all that is needed of the farther row. */
  readonly far: Layout
  readonly lines: Int32Array
  readonly turns: Int32Array
  readonly quats: Int32Array
  /** Three per group: presence, first inside, one past the last inside. */
  readonly groups: Int32Array
  /** Three per moving number: position, velocity, acceleration or -1. */
  readonly motions: Int32Array
  /** Two per moving number: the minimum and maximum of its field. */
  readonly bounds: Float64Array
  /** Two per turning angle: angle, rate. */
  readonly spins: Int32Array
  /**
   * Two per turning rotation: its first cell, the first of three rates (radians per second around the world's axes).
   */
  readonly rotations: Int32Array
  /** The cells of each position, one list per member: a distance is measured over all of them. */
  readonly positions: readonly Int32Array[]
  /**
   * Indexed by position: the highest speed its velocity field can express, in units per second; Infinity without a
   * bound.
   */
  readonly speeds: Float64Array
}

const plans = new WeakMap<Schema, BlendPlan>()

/** The plan of a schema. Made on first use and cached. */
export function blendPlanOf(schema: Schema): BlendPlan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    plan = makePlan(schema)
    plans.set(schema, plan)
  }
  return plan
}

function makePlan(schema: Schema): BlendPlan {
  const { leaves, members, groups } = schema
  const blending = (blend: Leaf['blend']): Int32Array =>
    Int32Array.from(
      leaves.filter((leaf) => leaf.blend === blend),
      ({ cell }) => cell,
    )
  const inside = (member: Member): readonly Leaf[] =>
    leaves.slice(member.firstLeaf, member.firstLeaf + member.leafCount)
  const moved = members.filter(({ field }) => field.options.role === 'position')
  const moving = schema.motions
    .filter(({ role }) => role === 'velocity')
    .flatMap(({ rate, of }) => {
      const second = schema.motions.find((motion) => motion.role === 'acceleration' && motion.of === rate)?.rate
      return inside(of).map((leaf, at) => ({
        leaf,
        velocity: inside(rate)[at],
        acceleration: second && inside(second)[at],
      }))
    })
    .filter(({ leaf }) => leaf.blend === 'linear')
  const presences = new Set(groups.map(({ firstLeaf }) => leaves[firstLeaf]))
  const blended = leaves.filter(
    (leaf) => leaf.blend !== 'snap' || presences.has(leaf) || moved.some((member) => inside(member).includes(leaf)),
  )
  const turning = schema.motions.filter(({ role }) => role === 'angular-velocity')
  const spinning = (kind: 'angle' | 'quat'): Int32Array => Int32Array.from(turning
    .filter(({ of }) => of.field.spec.kind === kind && inside(of)[0].blend !== 'snap')
    .flatMap(({ of, rate }) => [inside(of)[0].cell, inside(rate)[0].cell]))
  return {
    schema,
    far: { ...schema, leaves: blended, table: makeLeafTable(blended) },
    lines: blending('linear'),
    turns: blending('angle'),
    quats: blending('slerp'),
    groups: Int32Array.from(
      groups.flatMap((group) => {
        const [presence] = inside(group)
        const last = inside(group).reduce((end, { cell, cellCount }) => Math.max(end, cell + cellCount), 0)
        return [presence.cell, presence.cell + 1, last]
      }),
    ),
    motions: Int32Array.from(
      moving.flatMap(({ leaf, velocity, acceleration }) => [leaf.cell, velocity.cell, acceleration?.cell ?? -1]),
    ),
    bounds: Float64Array.from(moving.flatMap(({ leaf }) => boundsOf(leaf))),
    spins: spinning('angle'),
    rotations: spinning('quat'),
    positions: moved.map((member) => Int32Array.from(inside(member), ({ cell }) => cell)),
    speeds: Float64Array.from(moved, (member) => {
      const rate = schema.motions.find((motion) => motion.role === 'velocity' && motion.of === member)?.rate
      return rate === undefined
        ? Infinity
        : Math.sqrt(inside(rate).reduce((sum, leaf) => sum + largest(leaf) * largest(leaf), 0))
    }),
  }
}

function boundsOf({ field: { spec } }: Leaf): readonly [number, number] {
  return spec.kind === 'fixed' || spec.kind === 'int' ? [spec.min, spec.max] : [-Infinity, Infinity]
}

function largest(leaf: Leaf): number {
  const [min, max] = boundsOf(leaf)
  return Math.max(Math.abs(min), Math.abs(max))
}
