/**
 * The head of an entry that is a delta, in the shortest form of entry-code.ts: what it may leave out depends on the delta before it.
 *
 * What a delta hands on to the next is one number, its *manner*: twice the age of its baseline, and 1 more if the row before that
 * one is used too. 0 stands before the first. An age too large for that is of a baseline that rested, and is never compared.
 */

import type { BitWriter } from '../bits/bit-writer.ts'
import { DELTA } from './delta-cache.ts'
import { KIND, writeAge, writeGap, writeKind, writePlain } from './entry-code.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { same: SAME, rested: RESTED, owned: OWNED, older: OLDER } = DELTA
const { delta: KIND_DELTA, same: KIND_SAME, deltaOwned: KIND_OWNED } = KIND

/** Before the first delta of a frame. */
export const NO_MANNER = 0

/** What the delta after one with these flags is compared with. @hot */
export function mannerOf(age: number, flags: number): number {
  return age << 1 | ((flags & OLDER) === 0 ? 0 : 1)
}

/** Whether a delta is told in the manner of the one before it, and there is nothing else to say. @hot */
export function isPlain(age: number, flags: number, before: number): boolean {
  return mannerOf(age, flags) === before && (flags & (SAME | OWNED)) === 0 && (age === 1 || (flags & RESTED) === 0)
}

/** Writes the head of a delta from a row `age` ticks old; `before` is the manner of the delta before it in the frame. @hot */
export function writeDeltaHead(out: BitWriter, gap: number, index: number, age: number, flags: number, before: number): void {
  if (isPlain(age, flags, before)) {
    writePlain(out, gap, index)
    return
  }
  const isRested = (flags & RESTED) !== 0
  writeGap(out, gap, index)
  writeKind(out, (flags & SAME) !== 0 ? KIND_SAME : (flags & OWNED) !== 0 ? KIND_OWNED : KIND_DELTA)
  writeAge(out, age, isRested)
  if ((flags & SAME) === 0 && (age === 1 || !isRested)) out.writeBits((flags & OLDER) === 0 ? 0 : 1, 1)
}
