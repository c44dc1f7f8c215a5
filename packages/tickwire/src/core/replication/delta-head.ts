/**
 * The head of an entry that is a delta, in the shortest form of entry-code.ts: what it may leave out depends on the entry before it.
 */

import type { BitWriter } from '../bits/bit-writer.ts'
import { DELTA } from './delta-cache.ts'
import { KIND, writeAge, writeGap, writeKind } from './entry-code.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { same: SAME, rested: RESTED, owned: OWNED } = DELTA
const { deltaAsBefore: AS_BEFORE, delta: PLAIN, same: KIND_SAME, deltaOwned: KIND_OWNED } = KIND
/** Gap 1 and `AS_BEFORE`, a bit each. */
const NEXT_AS_BEFORE = 0b11

/** Writes the head of a delta from a row `age` ticks old; `beforeAge` is that of the delta before it in the frame, or 0. @hot */
export function writeDeltaHead(out: BitWriter, gap: number, index: number, age: number, flags: number, beforeAge: number): void {
  const isAsBefore = age === beforeAge && (flags & (SAME | OWNED)) === 0 && (age === 1 || (flags & RESTED) === 0)
  if (isAsBefore && gap === 1) {
    // Most entries of a busy world.
    out.writeBits(NEXT_AS_BEFORE, 2)
    return
  }
  writeGap(out, gap, index)
  if (isAsBefore) {
    writeKind(out, AS_BEFORE)
    return
  }
  writeKind(out, (flags & SAME) !== 0 ? KIND_SAME : (flags & OWNED) !== 0 ? KIND_OWNED : PLAIN)
  writeAge(out, age, (flags & RESTED) !== 0)
}
