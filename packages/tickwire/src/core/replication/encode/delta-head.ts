/**
 * The head of a delta entry, in the shortest form of entry-code.ts: what it may leave out depends on the delta before
 * it.
 *
 * A delta passes one number to the next, its *manner*: twice the age of its baseline, plus 1 if the row before the
 * baseline is used too. It is 0 before the first delta. An age too large for that belongs to a baseline at rest, and is
 * never compared.
 */

import type { BitWriter } from '../../bits/bit-writer.ts'
import { DELTA } from './delta-cache.ts'
import { KIND, writeAge, writeGap, writeKind, writePlain } from './entry-code.ts'

/** Before the first delta of a frame. */
export const NO_MANNER = 0

/** The manner of a delta with this age and these flags. @hot */
export function mannerOf(age: number, flags: number): number {
  return age << 1 | ((flags & DELTA.older) === 0 ? 0 : 1)
}

/** Whether a delta has the same manner as the one before it, and needs no other fields. @hot */
export function isPlain(age: number, flags: number, before: number): boolean {
  return (
    mannerOf(age, flags) === before
    && (flags & (DELTA.same | DELTA.owned)) === 0
    && (age === 1 || (flags & DELTA.rested) === 0)
  )
}

/**
 * Writes the head of a delta against a row `age` ticks old; `before` is the manner of the delta before it in the frame.
 * @hot
 */
export function writeDeltaHead(
  out: BitWriter,
  gap: number,
  index: number,
  age: number,
  flags: number,
  before: number,
): void {
  if (isPlain(age, flags, before)) {
    writePlain(out, gap, index)
    return
  }
  const isRested = (flags & DELTA.rested) !== 0
  writeGap(out, gap, index)
  writeKind(out, (flags & DELTA.same) !== 0 ? KIND.same : (flags & DELTA.owned) !== 0 ? KIND.deltaOwned : KIND.delta)
  writeAge(out, age, isRested)
  if ((flags & DELTA.same) === 0 && (age === 1 || !isRested)) out.writeBits((flags & DELTA.older) === 0 ? 0 : 1, 1)
}
