/**
 * Small parts of `row-model.ts`: the components of contexts, and the reading of masks.
 */

import type { Leaf } from '../schema/leaf.ts'
import type { Schema } from '../schema/schema.ts'
import type { RowPair } from './row-coder.ts'
import { CHUNK_ITEMS_MAX, ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { classOf } from './row-predictor.ts'
import type { MaskCode } from './row-tables.ts'
import type { SymbolSource } from './symbol-stream.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const {
  shift: SHIFT,
  kind: KIND,
  lane: LANE,
  leaf: LEAF_AT,
  rate: RATE,
  before: BEFORE,
  group: GROUP,
  rateLane: RATE_LANE,
  leadLane: LEAD_LANE,
  leadRateLane: LEAD_RATE_LANE,
} = SLOT
const { number: NUMBER } = ITEM

/** Half the steps per tick below which an item counts as at rest. */
export const HALF_REST = 0.125

/** In place of a decoded mask of chunk 0: the delta of a different coder follows. */
export const RAW_MASK = -1

/**
 * Indexed by a mask of items in motion, or with a residual: their number, as a part of a token's context. 0 to 2, 3 or
 * 4, 5, more, times 8. It distinguishes rows that continue as before from rows with an event.
 */
export const SPREADS: Uint8Array = Uint8Array.from({ length: 1 << CHUNK_ITEMS_MAX }, (_, mask) => {
  let count = 0
  for (let bits = mask; bits !== 0; bits &= bits - 1) count++
  return (count < 3 ? 0 : count < 5 ? 1 : count < 6 ? 2 : 3) << 3
})

/** How fast the vector moved whose first component is this item. @hot */
export function vectorClass(
  { slots }: RowPlan,
  item: number,
  { baseRows, baseAt, olderRows, olderAt }: RowPair,
): number {
  const first = slots[(item << SHIFT) + LEAD_LANE]
  const end = first + slots[(item << SHIFT) + LEAD_RATE_LANE]
  let size = 0
  for (let lane = first; lane < end; lane++) {
    const step = baseRows[baseAt + lane] - olderRows[olderAt + lane]
    size |= step < 0 ? -step : step
  }
  return classOf(size, 7)
}

/** Whether the baseline alone shows that something of a chunk moves. @hot */
export function isMoving({ slots, gains, chunks }: RowPlan, chunk: number, { baseRows, baseAt }: RowPair): boolean {
  for (let item = chunks[chunk]; item < chunks[chunk + 1]; item++) {
    const slot = item << SHIFT
    if (slots[slot + RATE] < 0 || slots[slot + KIND] !== NUMBER) continue
    const way = gains[item << 1] * baseRows[baseAt + slots[slot + RATE_LANE]] + gains[(item << 1) + 1] / 2
    if (way > HALF_REST || way < -HALF_REST) return true
  }
  return false
}

/** The items of a chunk whose group is absent, among the items `grouped`. @hot */
export function absentItems({ slots, chunks }: RowPlan, chunk: number, grouped: number, { rows, at }: RowPair): number {
  let absent = 0
  for (let bits = grouped; bits !== 0; bits &= bits - 1) {
    const item = chunks[chunk] + 31 - Math.clz32(bits & -bits)
    if (rows[at + slots[(item << SHIFT) + GROUP]] === 0) absent |= bits & -bits
  }
  return absent
}

/** The size of the residual before; for a third component, the larger of the two before it. @hot */
export function sizeBefore({ slots }: RowPlan, residuals: Int32Array, item: number): number {
  const size = classOf(residuals[item - 1], 7)
  const isThird = slots[(item << SHIFT) + BEFORE] >= 0 && slots[((item - 1) << SHIFT) + BEFORE] >= 0
  return isThird ? Math.max(size, classOf(residuals[item - 2], 7)) : size
}

/** Whether a leaf differs from the baseline. @hot */
export function differs({ lane, laneCount }: Leaf, { rows, at, baseRows, baseAt }: RowPair): boolean {
  for (let each = lane; each < lane + laneCount; each++) if (rows[at + each] !== baseRows[baseAt + each]) return true
  return false
}

/** The index of a code within its rotation: 0, 1 or 2. @hot */
export function codeIndex({ slots }: RowPlan, { leaves }: Schema, item: number): number {
  return slots[(item << SHIFT) + LANE] - leaves[slots[(item << SHIFT) + LEAF_AT]].lane - 1
}

/** Resets the residuals to 0 between rows: contexts also read those of items that are not encoded. @hot */
export function forgetResiduals(
  { chunks }: RowPlan,
  masks: Int32Array,
  residuals: Int32Array,
  chunkCount: number,
): void {
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    for (let bits = masks[chunk]; bits !== 0; bits &= bits - 1)
      residuals[chunks[chunk] + 31 - Math.clz32(bits & -bits)] = 0
  }
}

/** Reads the mask of a chunk of `width` items, or `RAW_MASK`. @hot */
export function readMask(source: SymbolSource, code: MaskCode, width: number): number {
  const symbol = source.symbol(code.table)
  if (symbol < code.masks.length) return code.masks[symbol]
  if (symbol > code.masks.length) return RAW_MASK
  const mask = source.raw().readBits(width)
  // A mask with a symbol must be encoded by it.
  if (code.symbols[mask] < code.masks.length) source.raw().fail()
  return mask
}
