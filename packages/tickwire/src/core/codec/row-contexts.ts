/** Small parts of `row-model.ts`: what contexts are made of, and how masks are read. */

import type { RowPair } from './row-coder.ts'
import { SLOT, type RowPlan } from './row-plan.ts'
import { classOf } from './row-predictor.ts'
import type { MaskCode } from './row-tables.ts'
import type { SymbolSource } from './symbol-stream.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { shift: SHIFT, leadLane: LEAD_LANE, leadRateLane: LEAD_RATE_LANE } = SLOT

/** What a decoded mask of chunk 0 may say instead: another coder's delta follows. */
export const RAW_MASK = -1

/** How fast the vector moved that an item is the first component of. @hot */
export function vectorClass({ slots }: RowPlan, item: number, { baseRows, baseAt, olderRows, olderAt }: RowPair): number {
  const first = slots[(item << SHIFT) + LEAD_LANE]
  const end = first + slots[(item << SHIFT) + LEAD_RATE_LANE]
  let size = 0
  for (let lane = first; lane < end; lane++) {
    const step = baseRows[baseAt + lane] - olderRows[olderAt + lane]
    size |= step < 0 ? -step : step
  }
  return classOf(size, 7)
}

/** Reads the mask of a chunk of `width` items, or `RAW_MASK`. @hot */
export function readMask(source: SymbolSource, code: MaskCode, width: number): number {
  const symbol = source.symbol(code.table)
  if (symbol < code.masks.length) return code.masks[symbol]
  if (symbol > code.masks.length) return RAW_MASK
  const mask = source.raw().readBits(width)
  // What has a symbol is said by it.
  if (code.symbols[mask] < code.masks.length) source.raw().fail()
  return mask
}
