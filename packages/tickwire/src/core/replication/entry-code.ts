/**
 * The heads of a snapshot's entries: which object, what follows, against which baseline. Twins, write and read.
 *
 * ```
 * entry   gap | kind | what the kind says
 *
 * gap     1                       the next object index                kind    1        delta, aged as the delta before it, not rested
 *         01     2 bits           2..5 further                                 01       delta: age
 *         001    4 bits           6..21                                        001      full
 *         0001   8 bits           22..277                                      0001     gone: 1 bit, despawned
 *         00001  16 bits          the index itself                             00001    same as the baseline: age
 *         00000                   no entry: padding follows                    000001   delta with another owner: age
 *
 * age     0   4 bits              1..16 ticks                  rested, 1 bit, follows an age above 1:
 *         10  7 bits              17..144                      the baseline's row still held one tick before
 *         11  varint              145 and more
 * ```
 *
 * Invariant: one head has one spelling; readers refuse every other. A snapshot needs no count: every entry has a 1 among
 * its first five bits, and padding has none.
 *
 * It knows no rows and no objects.
 */

import { OBJECTS_MAX } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'

/** What an entry is. The number is how many zeros stand before its 1. */
export const KIND = { deltaAsBefore: 0, delta: 1, full: 2, gone: 3, same: 4, deltaOwned: 5 } as const

const GAP_FIRST_2 = 2
const GAP_FIRST_4 = 6
const GAP_FIRST_8 = 22
const GAP_FIRST_16 = 278
const AGE_FIRST_7 = 17
const AGE_FIRST_VARINT = 145
const KIND_BITS_MAX = 6
const GAP_PREFIX_BITS = 5

/** No further entry. */
export const NO_GAP = 0

/** Writes where an entry's object stands: `gap` places after the one before it. @hot */
export function writeGap(out: BitWriter, gap: number, index: number): void {
  if (gap === 1) out.writeBits(1, 1)
  else if (gap < GAP_FIRST_4) out.writeBits(0b0100 | (gap - GAP_FIRST_2), 4)
  else if (gap < GAP_FIRST_8) out.writeBits(0b001_0000 | (gap - GAP_FIRST_4), 7)
  else if (gap < GAP_FIRST_16) out.writeBits(0x100 | (gap - GAP_FIRST_8), 12)
  else out.writeBits(0x1_0000 | index, 21)
}

/** Reads how far an entry's object stands after `before`; `NO_GAP` when only padding is left. @hot */
export function readGap(reader: BitReader, before: number): number {
  const prefix = Math.clz32(reader.peekBits(GAP_PREFIX_BITS)) - (32 - GAP_PREFIX_BITS)
  if (prefix === GAP_PREFIX_BITS) return NO_GAP
  reader.skipBits(prefix + 1)
  let gap = 1
  if (prefix === 1) gap = GAP_FIRST_2 + reader.readBits(2)
  else if (prefix === 2) gap = GAP_FIRST_4 + reader.readBits(4)
  else if (prefix === 3) gap = GAP_FIRST_8 + reader.readBits(8)
  else if (prefix === 4) {
    gap = reader.readBits(16) - before
    if (gap < GAP_FIRST_16) reader.fail()
  }
  if (before + gap >= OBJECTS_MAX) reader.fail()
  return reader.failed ? NO_GAP : gap
}

/** @hot */
export function writeKind(out: BitWriter, kind: number): void {
  out.writeBits(1, kind + 1)
}

/** @hot */
export function readKind(reader: BitReader): number {
  const zeros = Math.clz32(reader.peekBits(KIND_BITS_MAX)) - (32 - KIND_BITS_MAX)
  if (zeros === KIND_BITS_MAX) {
    reader.fail()
    return KIND.gone
  }
  reader.skipBits(zeros + 1)
  return zeros
}

/** Writes how many ticks old a baseline is, and above one tick whether its row held to the last. @hot */
export function writeAge(out: BitWriter, age: number, isRested: boolean): void {
  if (age < AGE_FIRST_7) {
    out.writeBits(age - 1, 5)
  } else if (age < AGE_FIRST_VARINT) {
    out.writeBits(0x100 | (age - AGE_FIRST_7), 9)
  } else {
    out.writeBits(3, 2)
    writeVarint(out, age - AGE_FIRST_VARINT)
  }
  if (age > 1) out.writeBits(isRested ? 1 : 0, 1)
}

/** Reads an age; `rested` is the next bit if it is above 1. @hot */
export function readAge(reader: BitReader): number {
  if (reader.readBits(1) === 0) return reader.readBits(4) + 1
  if (reader.readBits(1) === 0) return reader.readBits(7) + AGE_FIRST_7
  return readVarint(reader) + AGE_FIRST_VARINT
}
