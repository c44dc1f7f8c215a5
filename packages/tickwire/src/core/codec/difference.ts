/**
 * The difference of two numbers of one field, folded into few bits without any knowledge of the game.
 *
 * Numbers of a field count 0..max, and differences wrap: from max to 0 is one step. An angle needs that, and it costs
 * the other fields nothing. So a difference has as many values as the field itself, and the longest code is the field's
 * own width after three bits. Folded (0, -1, 1, -2, …) it is written in one of four sizes:
 *
 * ```
 * 0    k bits              k = a third of the width          18 bits: up to 63 steps in 7, up to 319 in 10,
 * 10   k + 2 bits                                            up to 1343 in 13, the rest in 21
 * 110  k + 4 bits          each counts on from the end of
 * 111  all bits            the one before; the last from 0
 * ```
 *
 * A number of less than 4 bits is written as it is. Fields of more than 30 bits count modulo 2^32.
 *
 * Invariant: a difference has one encoding; the reader refuses all others.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

/** Narrower fields have no size prefix. */
const FLAT_BITS = 4
const SIZE_STEP = 2
const CLASS_FULL = 3
/** The most bits in front of a difference: with the longest difference that is not full they are one write. */
export const LEAD_BITS_MAX = 14

/** The folded distance of `value` from `base`: an unsigned number as int32. @hot */
export function foldDifference(value: number, base: number, max: number): number {
  let difference = (value - base) | 0
  // A field that uses the top bits has no room for the correction; int32 wraps by itself.
  if (max > 0 && max < 0x4000_0000) {
    if (difference > max >> 1) difference -= max + 1
    else if (difference < -((max + 1) >> 1)) difference += max + 1
  }
  return (difference << 1) ^ (difference >> 31)
}

/** The value at a folded difference from `base`: the inverse of `foldDifference`. @hot */
export function unfoldDifference(folded: number, base: number, max: number): number {
  const value = (base + ((folded >>> 1) ^ -(folded & 1))) | 0
  if (max <= 0 || max >= 0x4000_0000) return value
  return value < 0 ? value + max + 1 : value > max ? value - max - 1 : value
}

/**
 * Writes a folded difference of a field of `width` bits, after `lead` bits of which the last is a 1; 0: after none.
 * @hot
 */
export function writeDifference(writer: BitWriter, folded: number, width: number, lead: number = 0): void {
  let bits = smallestSize(width)
  const first = 1 << bits
  // The prefix of ones and a zero, then the number, together with the lead: one write.
  if (width >= FLAT_BITS && folded >= 0 && folded < 21 * first) {
    let head = lead === 0 ? 0 : 2
    let from = 0
    let size = 1
    if (folded >= 5 * first) {
      head = lead === 0 ? 6 : 14
      from = 5 * first
      bits += 2 * SIZE_STEP
      size = 3
    } else if (folded >= first) {
      head = lead === 0 ? 2 : 6
      from = first
      bits += SIZE_STEP
      size = 2
    }
    writer.writeBits((head << bits) | (folded - from), bits + size + lead)
    return
  }
  if (lead !== 0) writer.writeBits(1, lead)
  if (width >= FLAT_BITS) writer.writeBits((1 << CLASS_FULL) - 1, CLASS_FULL)
  writer.writeBits(folded, width)
}

/** The number of bits that `writeDifference` takes without a lead. @hot */
export function differenceBits(folded: number, width: number): number {
  const bits = smallestSize(width)
  const first = 1 << bits
  if (width < FLAT_BITS) return width
  if (folded < 0 || folded >= 21 * first) return width + CLASS_FULL
  return folded < first ? bits + 1 : folded < 5 * first ? bits + SIZE_STEP + 2 : bits + 2 * SIZE_STEP + 3
}

/** Reads a folded difference. A second encoding fails, and so does a value above the field's width. @hot */
export function readDifference(reader: BitReader, width: number): number {
  if (width < FLAT_BITS) return reader.readBits(width)
  const head = reader.peekBits(CLASS_FULL)
  const size = head < 4 ? 0 : head < 6 ? 1 : head < 7 ? 2 : CLASS_FULL
  const least = 1 << smallestSize(width)
  if (size === CLASS_FULL) {
    reader.skipBits(CLASS_FULL)
    const folded = reader.readBits(width) | 0
    if (folded >= 0 && folded < 21 * least) reader.fail()
    return folded
  }
  reader.skipBits(size + 1)
  const folded = reader.readBits(smallestSize(width) + SIZE_STEP * size)
  return size === 0 ? folded : size === 1 ? folded + least : folded + 5 * least
}

function smallestSize(width: number): number {
  return (width / 3) | 0
}
