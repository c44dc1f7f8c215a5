/**
 * A field that names objects: a selection of units in an order.
 *
 * ```
 * ids      count: ceil(log2(max + 1)) bits │ object, ascending by index, each once
 * object   distance from the index before, less 1: Exp-Golomb of order 1 │ generation
 *          (the first: the index itself)
 * generation  0                                   that of the object before; the first: 1
 *             1 │ generation less 1: Exp-Golomb of order 2
 * Exp-Golomb of order k of n: with m = n + 2^k, (bits of m) - k - 1 zeros, then the bits of m
 * ```
 *
 * 200 units among those of seven other players take about 200 bytes, and a block of 200 takes 50.
 */

import { ConfigError } from '../base/assert.ts'
import { ORDER_IDS_MAX } from '../base/limits.ts'
import type { ObjectId } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Field } from '../schema/field.ts'
import { manual } from '../schema/field-kinds.ts'

const INDEX_ORDER = 1
const GENERATION_ORDER = 2
const INDEX_END = 65_536
const GENERATION_MAX = 65_535

/** At most `max` objects by id, in any order. They are read back ascending and without copies. */
export function ids(max: number): Field<readonly ObjectId[]> {
  if (!(Number.isInteger(max) && max >= 1 && max <= ORDER_IDS_MAX)) {
    throw new ConfigError(
      'ids',
      `invalid number (expected an integer from 1 to ${ORDER_IDS_MAX}, got ${max})`,
      'give the most objects that one order may name.',
    )
  }
  const countBits = 32 - Math.clz32(max)
  return manual<readonly ObjectId[]>({
    format: `ids ${max}`,
    create: () => [],
    write: (writer, value) => writeIds(writer, value, countBits, max),
    read: (reader) => readIds(reader, countBits, max),
  })
}

function writeIds(writer: BitWriter, value: readonly ObjectId[], countBits: number, max: number): void {
  const sorted = [...new Set(value)].sort((a, b) => a - b)
  if (sorted.length > max || !sorted.every((id) => Number.isInteger(id) && id >= 0 && id <= 0xffff_ffff)) {
    throw new RangeError(`ids: invalid value (expected at most ${max} ids of objects). Fix: select fewer objects.`)
  }
  writer.writeBits(sorted.length, countBits)
  let [index, generation] = [-1, 1]
  for (const id of sorted) {
    const [nextIndex, nextGeneration] = [id >>> 16, id & 0xffff]
    if (nextIndex === index || nextGeneration === 0) {
      throw new RangeError(`ids: invalid value (expected ids of living objects, got ${id}). Fix: pass object.id.`)
    }
    writeGolomb(writer, nextIndex - index - 1, INDEX_ORDER)
    writer.writeBits(nextGeneration === generation ? 0 : 1, 1)
    if (nextGeneration !== generation) writeGolomb(writer, nextGeneration - 1, GENERATION_ORDER)
    index = nextIndex
    generation = nextGeneration
  }
}

/** The reader of manual fields refuses bits that `writeIds` would write differently. */
function readIds(reader: BitReader, countBits: number, max: number): readonly ObjectId[] {
  const count = reader.readBits(countBits)
  if (count > max) reader.fail()
  const found: ObjectId[] = []
  let [index, generation] = [-1, 1]
  for (let each = 0; each < count && !reader.failed; each++) {
    index += readGolomb(reader, INDEX_ORDER) + 1
    if (reader.readBits(1) === 1) generation = readGolomb(reader, GENERATION_ORDER) + 1
    if (index >= INDEX_END || generation > GENERATION_MAX) reader.fail()
    found.push(index * 65_536 + generation)
  }
  return reader.failed ? [] : found
}

function writeGolomb(writer: BitWriter, value: number, order: number): void {
  const raised = value + (1 << order)
  const bits = 32 - Math.clz32(raised)
  writer.writeBits(0, bits - order - 1)
  writer.writeBits(raised, bits)
}

function readGolomb(reader: BitReader, order: number): number {
  let zeros = 0
  while (zeros <= 16 && !reader.failed && reader.readBits(1) === 0) zeros++
  if (zeros > 16) reader.fail()
  return reader.failed ? 0 : (1 << (zeros + order)) + reader.readBits(zeros + order) - (1 << order)
}
