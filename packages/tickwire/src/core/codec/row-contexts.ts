/** Small parts of `row-model.ts`: what contexts are made of, and how masks are read. */

import type { RowPair } from './row-coder.ts'
import { CHUNK_ITEMS_MAX, ITEM, SLOT, type RowPlan } from './row-plan.ts'
import { classOf } from './row-predictor.ts'
import type { MaskCode } from './row-tables.ts'
import type { SymbolSource } from './symbol-stream.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { shift: SHIFT, kind: KIND, rate: RATE, rateLane: RATE_LANE, leadLane: LEAD_LANE, leadRateLane: LEAD_RATE_LANE } = SLOT
const { number: NUMBER } = ITEM

/** Half the steps of a tick below which something rests. */
export const HALF_REST = 0.125

/** What a decoded mask of chunk 0 may say instead: another coder's delta follows. */
export const RAW_MASK = -1

/**
 * By which items of a chunk were in motion, or came off: how many, as a part of the context of a token. 0 to 2, 3 or 4, 5, more, times 8.
 * It tells rows that go on from rows to which something happens.
 */
export const SPREADS: Uint8Array = Uint8Array.from({ length: 1 << CHUNK_ITEMS_MAX }, (_, mask) => {
  let count = 0
  for (let bits = mask; bits !== 0; bits &= bits - 1) count++
  return (count < 3 ? 0 : count < 5 ? 1 : count < 6 ? 2 : 3) << 3
})

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

/** Whether the baseline alone says that something of a chunk moves. @hot */
export function isMoving({ slots, gains, chunks }: RowPlan, chunk: number, { baseRows, baseAt }: RowPair): boolean {
  for (let item = chunks[chunk]; item < chunks[chunk + 1]; item++) {
    const slot = item << SHIFT
    if (slots[slot + RATE] < 0 || slots[slot + KIND] !== NUMBER) continue
    const way = gains[item << 1] * baseRows[baseAt + slots[slot + RATE_LANE]] + gains[(item << 1) + 1] / 2
    if (way > HALF_REST || way < -HALF_REST) return true
  }
  return false
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
