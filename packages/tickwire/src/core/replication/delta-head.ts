/**
 * The head of an entry that is a delta, in the shortest form of entry-code.ts: what it may leave out depends on the entry before it.
 */

import type { BitWriter } from '../bits/bit-writer.ts'
import { DELTA } from './delta-cache.ts'
import { KIND, writeAge, writeGap, writeKind } from './entry-code.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { same: SAME, rested: RESTED, owned: OWNED } = DELTA
const { delta: PLAIN, same: KIND_SAME, deltaOwned: KIND_OWNED } = KIND
/** Gaps below this are most of those that are not 1, and 4 bits long. */
const GAP_SMALL_END = 6

/** Whether the head of a delta may leave out its age: the delta before it has the same, and there is nothing else to say. @hot */
export function isAsBefore(age: number, flags: number, beforeAge: number): boolean {
  return age === beforeAge && (flags & (SAME | OWNED)) === 0 && (age === 1 || (flags & RESTED) === 0)
}

/** Writes the head of a delta that is as the one before it: where it stands, and a 1. Both in one field where that is most often so. @hot */
export function writeShortHead(out: BitWriter, gap: number, index: number): void {
  if (gap === 1) {
    out.writeBits(0b11, 2)
  } else if (gap < GAP_SMALL_END) {
    out.writeBits(0b0_1001 | (gap - 2) << 1, 5)
  } else {
    writeGap(out, gap, index)
    out.writeBits(1, 1)
  }
}

/** Writes the head of a delta from a row `age` ticks old; `beforeAge` is that of the delta before it in the frame, or 0. @hot */
export function writeDeltaHead(out: BitWriter, gap: number, index: number, age: number, flags: number, beforeAge: number): void {
  if (isAsBefore(age, flags, beforeAge)) {
    writeShortHead(out, gap, index)
    return
  }
  writeGap(out, gap, index)
  writeKind(out, (flags & SAME) !== 0 ? KIND_SAME : (flags & OWNED) !== 0 ? KIND_OWNED : PLAIN)
  writeAge(out, age, (flags & RESTED) !== 0)
}
