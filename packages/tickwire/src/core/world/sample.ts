/**
 * Quantises all objects of a store at once, a column at a time, and snaps their cells to what was kept.
 *
 * Snapping is what makes prediction honest: what a peer cannot be told, nobody computes with. Most cells of most games
 * are what they were: a cell that equals what its lane stands for is done with a multiplication, and only the others
 * pay for a division, a rounding and a store.
 *
 * Fast and ugly: 3 times as fast as quantising object by object when a tenth of them move (bench/world.bench.ts). The
 * clear twin is `schema/cells.ts`; sample.test.ts holds the two equal.
 */

import { dequantizeRow, quantizeLeaves } from '../schema/cells.ts'
import type { Layout, Member } from '../schema/layout.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'
import { makeLeafTable } from '../schema/leaf-table.ts'
import type { Schema } from '../schema/schema.ts'

/** What sampling a store needs to know: columns that go fast, and a layout of the leaves that do not. */
export interface SamplePlan {
  readonly schema: Schema
  readonly steps: readonly StepColumn[]
  readonly angles: readonly AngleColumn[]
  readonly wholes: readonly WholeColumn[]
  readonly slow: Layout
  readonly scratch: Int32Array
}

interface Column {
  readonly cell: number
  readonly lane: number
}

/** A column whose lane is round((value - min) / step), 0..most. */
interface StepColumn extends Column {
  readonly min: number
  readonly step: number
  readonly most: number
}

/** A column whose lane is round(radians * scale), round the turn. */
interface AngleColumn extends Column {
  readonly steps: number
  readonly scale: number
  readonly radians: number
}

/** A column of whole numbers, min..max: what is in the lane is in the cell, once negative ones are what they are. */
interface WholeColumn extends Column {
  readonly min: number
  readonly max: number
}

const TURN = 2 * Math.PI

export function planSample(schema: Schema): SamplePlan {
  const { leaves, laneCount } = schema
  const steps: StepColumn[] = []
  const angles: AngleColumn[] = []
  const wholes: WholeColumn[] = []
  const slow: Leaf[] = []
  for (const leaf of leaves) {
    const { kind, cell, lane, min, max, quant, width, isSigned } = leaf
    const bound = (isSigned ? 0.5 : 1) * (width === 16 ? 65_536 : 4_294_967_296)
    if (kind === LEAF.fixed) steps.push({ cell, lane, min: quant.min, step: quant.precision, most: quant.stepsMax })
    else if (kind === LEAF.bits) steps.push({ cell, lane, min, step: 1, most: max })
    else if (kind === LEAF.angle) angles.push({ cell, lane, steps: max + 1, scale: (max + 1) / TURN, radians: TURN / (max + 1) })
    else if (kind === LEAF.word) wholes.push({ cell, lane, min: isSigned ? -bound : 0, max: bound - 1 })
    else if (kind === LEAF.varint || kind === LEAF.heap) wholes.push({ cell, lane, min: -2_147_483_648, max: 2_147_483_647 })
    else if (kind === LEAF.ref) wholes.push({ cell, lane, min: 0, max: 4_294_967_295 })
    else slow.push(leaf)
  }
  return { schema, steps, angles, wholes, slow: { ...schema, leaves: slow, table: makeLeafTable(slow) }, scratch: new Int32Array(laneCount) }
}

/** Samples slots 1 to `slots` - 1; sets `stamps[slot]` to `stamp` where a lane is not what it was. @hot */
export function sampleCells(
  plan: SamplePlan, cells: Float64Array, rows: Int32Array, slots: number, stamps: Float64Array, stamp: number,
): void {
  const { schema, steps, angles, wholes, slow } = plan
  const { cellCount, laneCount, groups } = schema
  for (let index = 0; index < groups.length; index++) freshen(schema, groups[index], cells, slots)
  for (let index = 0; index < steps.length; index++) sampleSteps(steps[index], cellCount, laneCount, cells, rows, slots, stamps, stamp)
  for (let index = 0; index < angles.length; index++) sampleAngles(angles[index], cellCount, laneCount, cells, rows, slots, stamps, stamp)
  for (let index = 0; index < wholes.length; index++) sampleWholes(wholes[index], cellCount, laneCount, cells, rows, slots, stamps, stamp)
  if (slow.leaves.length > 0) sampleSlow(plan, cells, rows, slots, stamps, stamp)
}

/** @hot */
function sampleSteps(
  column: StepColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, slots: number, stamps: Float64Array, stamp: number,
): void {
  const { min, step, most } = column
  let cell = cellCount + column.cell
  let lane = laneCount + column.lane
  for (let slot = 1; slot < slots; slot++, cell += cellCount, lane += laneCount) {
    const value = cells[cell]
    const known = min + (rows[lane] >>> 0) * step
    if (value === known) {
      // Zero has two signs, and only one of them is what the lane stands for.
      if (value === 0) cells[cell] = known
      continue
    }
    let steps = Math.round(((value === value ? value : 0) - min) / step)
    steps = steps > 0 ? (steps < most ? steps : most) : 0
    cells[cell] = min + steps * step
    const quantised = steps | 0
    if (rows[lane] === quantised) continue
    rows[lane] = quantised
    stamps[slot] = stamp
  }
}

/** @hot */
function sampleAngles(
  column: AngleColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, slots: number, stamps: Float64Array, stamp: number,
): void {
  const { steps, scale, radians } = column
  const half = steps / 2
  let cell = cellCount + column.cell
  let lane = laneCount + column.lane
  for (let slot = 1; slot < slots; slot++, cell += cellCount, lane += laneCount) {
    const value = cells[cell]
    const before = rows[lane]
    if (value === (before >= half ? before - steps : before) * radians) {
      if (value === 0) cells[cell] = 0
      continue
    }
    const turned = Math.round(value * scale)
    const quantised = turned - turned === 0 ? turned - Math.floor(turned / steps) * steps : 0
    cells[cell] = (quantised >= half ? quantised - steps : quantised) * radians
    if (before === quantised) continue
    rows[lane] = quantised
    stamps[slot] = stamp
  }
}

/** @hot */
function sampleWholes(
  column: WholeColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, slots: number, stamps: Float64Array, stamp: number,
): void {
  const { min, max } = column
  const isSigned = min < 0
  let cell = cellCount + column.cell
  let lane = laneCount + column.lane
  for (let slot = 1; slot < slots; slot++, cell += cellCount, lane += laneCount) {
    const value = cells[cell]
    const known = isSigned ? rows[lane] : rows[lane] >>> 0
    if (value === known) {
      if (value === 0) cells[cell] = 0
      continue
    }
    let whole = Math.round(value === value ? value : 0)
    whole = whole > min ? (whole < max ? whole : max) : min
    // Adding zero takes the sign from zero.
    cells[cell] = whole + 0
    if (known === whole) continue
    rows[lane] = whole
    stamps[slot] = stamp
  }
}

/** A group that is absent has the cells of a fresh object: who comes back starts afresh. @hot */
function freshen(schema: Schema, group: Member, cells: Float64Array, slots: number): void {
  const { cellCount, initialCells, leaves } = schema
  const presence = leaves[group.firstLeaf].cell
  const last = leaves[group.firstLeaf + group.leafCount - 1]
  const end = last.cell + last.cellCount
  for (let slot = 1; slot < slots; slot++) {
    const at = slot * cellCount
    if (cells[at + presence] >= 0.5) continue
    for (let cell = presence + 1; cell < end; cell++) cells[at + cell] = initialCells[cell]
  }
}

/** Everything else, object by object. @hot */
function sampleSlow(
  plan: SamplePlan, cells: Float64Array, rows: Int32Array, slots: number, stamps: Float64Array, stamp: number,
): void {
  const { schema, slow, scratch } = plan
  const { cellCount, laneCount } = schema
  for (let slot = 1; slot < slots; slot++) {
    quantizeLeaves(slow, cells, slot * cellCount, scratch, 0)
    dequantizeRow(slow, scratch, 0, cells, slot * cellCount)
    for (let index = 0; index < slow.leaves.length; index++) {
      const leaf = slow.leaves[index]
      for (let part = leaf.lane; part < leaf.lane + leaf.laneCount; part++) {
        const lane = slot * laneCount + part
        if (rows[lane] === scratch[part]) continue
        rows[lane] = scratch[part]
        stamps[slot] = stamp
      }
    }
  }
}
