/**
 * Whole numbers that are nearly always 0 to 7: groups of three bits, lowest group first, each after a bit that says
 * whether another group follows. 4 bits up to 7, 8 up to 63. A number has one encoding: the last group is 0 only if it
 * is the only one.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'

const GROUPS_MAX = 6

/** Writes a number below 2^18. @hot */
export function writeSmall(writer: BitWriter, value: number): void {
  let left = value
  while (left > 7) {
    writer.writeBits(8 | (left & 7), 4)
    left >>>= 3
  }
  writer.writeBits(left, 4)
}

/** Reads a number below 2^18. @hot */
export function readSmall(reader: BitReader): number {
  let value = 0
  for (let group = 0; group < GROUPS_MAX; group++) {
    const bits = reader.readBits(4)
    value |= (bits & 7) << (3 * group)
    if (bits > 7) continue
    if (bits === 0 && group > 0) reader.fail()
    return value
  }
  reader.fail()
  return 0
}
