/**
 * Quantises all objects of a store at once, a column at a time, and snaps their cells to what was kept.
 *
 * Snapping is what makes prediction honest: what a peer cannot be told, nobody computes with. Going leaf by leaf over
 * all objects, and not object by object over all leaves, keeps bounds and steps in registers; bench/world.bench.ts has
 * the numbers, `schema/cells.ts` is the clear twin, and sample.test.ts holds the two equal.
 */

import { dequantizeRow, quantizeLeaves } from '../schema/cells.ts'
import type { Layout, Member } from '../schema/layout.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'
import { makeLeafTable } from '../schema/leaf-table.ts'
import type { Schema } from '../schema/schema.ts'

/** What sampling a store needs to know: columns that go fast, and a layout of the leaves that do not. */
export interface SamplePlan {
  readonly schema: Schema
  readonly fast: readonly Column[]
  readonly slow: Layout
  readonly scratch: Int32Array
}

/** A column whose lane is round((value - min) / step), 0..most. */
interface Column {
  readonly cell: number
  readonly lane: number
  readonly min: number
  readonly step: number
  readonly most: number
}

export function planSample(schema: Schema): SamplePlan {
  const { leaves, laneCount } = schema
  const isFast = (leaf: Leaf): boolean => leaf.kind === LEAF.fixed || leaf.kind === LEAF.bits
  const slow = leaves.filter((leaf) => !isFast(leaf))
  const fast = leaves.filter(isFast).map(({ kind, cell, lane, min, max, quant }): Column => kind === LEAF.fixed
    ? { cell, lane, min: quant.min, step: quant.precision, most: quant.stepsMax }
    : { cell, lane, min, step: 1, most: max })
  return { schema, fast, slow: { ...schema, leaves: slow, table: makeLeafTable(slow) }, scratch: new Int32Array(laneCount) }
}

/** Samples slots 1 to `slots` - 1; sets `changed[slot]` to 1 where a lane is not what it was, else to 0. @hot */
export function sampleCells(
  plan: SamplePlan, cells: Float64Array, rows: Int32Array, slots: number, changed: Uint8Array,
): void {
  const { schema, fast, slow } = plan
  for (let slot = 1; slot < slots; slot++) changed[slot] = 0
  for (let index = 0; index < schema.groups.length; index++) freshen(schema, schema.groups[index], cells, slots)
  for (let index = 0; index < fast.length; index++) {
    sampleColumn(fast[index], schema.cellCount, schema.laneCount, cells, rows, slots, changed)
  }
  if (slow.leaves.length > 0) sampleSlow(plan, cells, rows, slots, changed)
}

/** @hot */
function sampleColumn(
  column: Column, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, slots: number, changed: Uint8Array,
): void {
  const { min, step, most } = column
  let cell = cellCount + column.cell
  let lane = laneCount + column.lane
  for (let slot = 1; slot < slots; slot++, cell += cellCount, lane += laneCount) {
    const value = cells[cell]
    let steps = Math.round(((value === value ? value : 0) - min) / step)
    steps = steps > 0 ? (steps < most ? steps : most) : 0
    cells[cell] = min + steps * step
    const quantised = steps | 0
    if (rows[lane] !== quantised) {
      rows[lane] = quantised
      changed[slot] = 1
    }
  }
}

/** A group that is absent has the cells of a fresh object: who comes back starts afresh. */
function freshen(schema: Schema, group: Member, cells: Float64Array, slots: number): void {
  const { cellCount, initialCells, leaves } = schema
  const presence = leaves[group.firstLeaf].cell
  const last = leaves[group.firstLeaf + group.leafCount - 1]
  const end = last.cell + last.cellCount
  for (let slot = 1; slot < slots; slot++) {
    const at = slot * cellCount
    if (cells[at + presence] !== 0) continue
    for (let cell = presence + 1; cell < end; cell++) cells[at + cell] = initialCells[cell]
  }
}

/** Everything else, object by object. @hot */
function sampleSlow(plan: SamplePlan, cells: Float64Array, rows: Int32Array, slots: number, changed: Uint8Array): void {
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
        changed[slot] = 1
      }
    }
  }
}
