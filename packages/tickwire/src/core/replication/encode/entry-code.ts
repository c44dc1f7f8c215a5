/**
 * The heads of a snapshot's entries: which object, what follows, against which baseline. Functions to write and read.
 *
 * ```
 * entry   step | what the step says
 *
 * step    1                            a plain delta of the next object index
 *         01                           of the one after it
 *         001  0    2 bits             3..6 further
 *              10   4 bits             7..22
 *              110  8 bits             23..278
 *              111  16 bits            the index itself
 *         0001 gap | kind | ...        anything else
 *         0000                         no entry: padding follows
 *         A plain delta has a baseline of the same age as the delta before it, uses a row before the baseline if that
 *         delta does, and did not rest.
 *
 * gap     1                  the next object index             kind    1        delta: age
 *         01    2 bits       2..5 further                              01       full
 *         001   4 bits       6..21                                     001      gone: 1 bit, despawned
 *         0001  8 bits       22..277                                   0001     same as the baseline: age
 *         0000  16 bits      the index itself                          00001    delta with another owner: age
 *
 * age     0   4 bits         1..16 ticks
 *         10  7 bits         17..144
 *         11  varint         145 and more
 *         rested, 1 bit, follows an age above 1: the object still had the baseline's row one tick ago
 *         older, 1 bit, follows in deltas that did not rest: the row before the baseline is used
 * ```
 *
 * Invariant: a head has one encoding; readers refuse every other. A snapshot needs no count: every entry has a 1 among
 * its first four bits, and padding has none.
 *
 * It knows no rows and no objects.
 */

import { OBJECTS_MAX } from '../../base/limits.ts'
import type { BitReader } from '../../bits/bit-reader.ts'
import type { BitWriter } from '../../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../../bits/varint.ts'

/** The kinds of an entry that is not plain. The number is that of the zeros before its 1. */
export const KIND = { delta: 0, full: 1, gone: 2, same: 3, deltaOwned: 4 } as const

const PLAIN_FIRST_2 = 3
const PLAIN_FIRST_4 = 7
const PLAIN_FIRST_8 = 23
const PLAIN_FIRST_16 = 279
const GAP_FIRST_2 = 2
const GAP_FIRST_4 = 6
const GAP_FIRST_8 = 22
const GAP_FIRST_16 = 278
const AGE_FIRST_7 = 17
const AGE_FIRST_VARINT = 145
const KIND_BITS_MAX = 5
const PREFIX_BITS = 4

/** No further entry. */
export const NO_ENTRY = 0
/** The longest head of a plain delta. */
export const PLAIN_BITS_MAX = 22

/** Writes the head of a plain delta `gap` indexes after the entry before it. @hot */
export function writePlain(out: BitWriter, gap: number, index: number): void {
  out.writeBits(plainHead(gap, index), plainWidth(gap))
}

/** The head of a plain delta. @hot */
export function plainHead(gap: number, index: number): number {
  if (gap < PLAIN_FIRST_2) return 1
  if (gap < PLAIN_FIRST_4) return 0b001_000 | (gap - PLAIN_FIRST_2)
  if (gap < PLAIN_FIRST_8) return 0b0_0110_0000 | (gap - PLAIN_FIRST_4)
  return gap < PLAIN_FIRST_16 ? 0xe00 | (gap - PLAIN_FIRST_8) : 0xf_0000 | index
}

/** Its bits. @hot */
export function plainWidth(gap: number): number {
  if (gap < PLAIN_FIRST_2) return gap
  if (gap < PLAIN_FIRST_4) return 6
  if (gap < PLAIN_FIRST_8) return 9
  return gap < PLAIN_FIRST_16 ? 14 : PLAIN_BITS_MAX
}

/** Begins the head of an entry that is not plain, `gap` indexes after the one before it: its kind follows. @hot */
export function writeGap(out: BitWriter, gap: number, index: number): void {
  if (gap === 1) out.writeBits(0b0001_1, 5)
  else if (gap < GAP_FIRST_4) out.writeBits(0b0001_0100 | (gap - GAP_FIRST_2), 8)
  else if (gap < GAP_FIRST_8) out.writeBits(0b0001_001_0000 | (gap - GAP_FIRST_4), 11)
  else if (gap < GAP_FIRST_16) out.writeBits(0x1100 | (gap - GAP_FIRST_8), 16)
  else out.writeBits(0x10_0000 | index, 24)
}

/**
 * Reads the distance of an entry's object from `before`, times two, plus 1 if it is plain; `NO_ENTRY` when only padding
 * is left. @hot
 */
export function readHead(reader: BitReader, before: number): number {
  const zeros = Math.clz32(reader.peekBits(PREFIX_BITS)) - (32 - PREFIX_BITS)
  if (zeros === PREFIX_BITS) return NO_ENTRY
  reader.skipBits(zeros + 1)
  const isPlain = zeros < PREFIX_BITS - 1
  const gap = zeros < 2 ? zeros + 1 : isPlain ? readPlainGap(reader, before) : readGap(reader, before)
  if (before + gap >= OBJECTS_MAX) reader.fail()
  return reader.failed ? NO_ENTRY : gap << 1 | (isPlain ? 1 : 0)
}

function readPlainGap(reader: BitReader, before: number): number {
  if (reader.readBits(1) === 0) return PLAIN_FIRST_2 + reader.readBits(2)
  if (reader.readBits(1) === 0) return PLAIN_FIRST_4 + reader.readBits(4)
  if (reader.readBits(1) === 0) return PLAIN_FIRST_8 + reader.readBits(8)
  return readIndex(reader, before, PLAIN_FIRST_16)
}

function readGap(reader: BitReader, before: number): number {
  const zeros = Math.clz32(reader.peekBits(PREFIX_BITS)) - (32 - PREFIX_BITS)
  reader.skipBits(zeros < PREFIX_BITS ? zeros + 1 : PREFIX_BITS)
  if (zeros === 0) return 1
  if (zeros === 1) return GAP_FIRST_2 + reader.readBits(2)
  if (zeros === 2) return GAP_FIRST_4 + reader.readBits(4)
  if (zeros === 3) return GAP_FIRST_8 + reader.readBits(8)
  return readIndex(reader, before, GAP_FIRST_16)
}

/** An index encoded as such: only where the gap to it is too wide for a shorter form. */
function readIndex(reader: BitReader, before: number, gapMin: number): number {
  const gap = reader.readBits(16) - before
  if (gap < gapMin) reader.fail()
  return gap
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

/** Writes the age of a baseline in ticks and, above one tick, whether its row was valid until the tick before. @hot */
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
