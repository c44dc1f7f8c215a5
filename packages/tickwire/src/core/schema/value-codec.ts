/**
 * Values of variable size to bits and back: text, bytes, lists, and values that a game serialises by hand.
 *
 *   text, bytes   length in bytes as a varint, then the bytes
 *   fixed text    exactly N bytes (bits/text.ts)
 *   list          count in ceil(log2(max + 1)) bits, then the items, each with all its leaves and no mask
 *   manual        the game's own bits
 *
 * Writing brings a value into the bounds of its field: text is cut at a whole code point, bytes and lists at their end,
 * and each cut is counted. A value of the wrong type is an error of the game and throws a RangeError. Reading refuses
 * values that are longer than their field or not canonical, and never throws. A manual reader is the game's code and
 * may throw on unexpected bytes: that counts as invalid input, and so does a value that its writer would encode
 * differently.
 */

import { readBytes, writeBytes } from '../bits/blob.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { fixedStringRoom, readFixedString, readString, writeFixedString, writeString } from '../bits/text.ts'
import { clipUtf8, utf8Size } from '../bits/utf8.ts'
import { assert } from '../base/assert.ts'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import { dequantizeRow, quantizeLeaves } from './cells.ts'
import type { ManualTwins } from './field.ts'
import type { ItemLayout } from './layout.ts'
import { bitsFor, type Leaf } from './leaf.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import { whyNotValue } from './value-check.ts'
import { loadValues, mistake, storeValues, type ValueStore } from './values.ts'

/** The most bits of one value, unless its field allows more: the longest text with its length in front. */
export const VALUE_BITS_MAX: number = (VALUE_BYTES_MAX + 2) * 8

/** The most bits of one value of a leaf. Only texts and bytes of messages and calls exceed `VALUE_BITS_MAX`. */
export function valueBitsMax({ field: { spec } }: Leaf): number {
  const isLong = (spec.kind === 'text' || spec.kind === 'bytes') && spec.maxBytes > VALUE_BYTES_MAX
  return isLong ? (spec.maxBytes + 3) * 8 : VALUE_BITS_MAX
}

/** How often values were changed to fit their fields. */
export class ValueCounts {
  /** Texts, bytes and lists that were cut to the limit of their field. */
  clipped = 0
  /** Values for which there was no room: the field kept its former value. */
  refused = 0
}

/** Writes a value of a heap leaf, cut to the limit of its field. */
export function writeHeapValue(
  writer: BitWriter,
  leaf: Leaf,
  value: unknown,
  counts: ValueCounts,
  shelf?: Shelf,
): void {
  const { spec } = leaf.field
  const problem = whyNotValue(spec, value)
  if (problem !== undefined) throw mistake(leaf.path, value, problem)
  switch (spec.kind) {
    case 'text':
      writeString(writer, fitText(value as string, spec.maxBytes, counts), spec.maxBytes)
      break
    case 'fixed-text':
      writeFixedString(writer, fitText(value as string, fixedStringRoom(spec.bytes), counts), spec.bytes)
      break
    case 'bytes':
      writeBytes(writer, fitItems(value as Uint8Array, spec.maxBytes, counts), spec.maxBytes)
      break
    case 'list':
      writeList(
        writer,
        leaf,
        spec.maxItems,
        fitItems(value as readonly unknown[], spec.maxItems, counts),
        shelf ?? new Shelf(counts),
      )
      break
    case 'manual':
      spec.codec.write(writer, value as never)
      break
  }
}

/** Reads a value of a heap leaf; on invalid input the reader has failed. */
export function readHeapValue(reader: BitReader, leaf: Leaf, shelf?: Shelf): unknown {
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'text': return readString(reader, spec.maxBytes)
    case 'fixed-text': return readFixedString(reader, spec.bytes)
    case 'bytes': return readBytes(reader, spec.maxBytes)
    case 'list': return readList(reader, leaf, spec.maxItems, shelf ?? new Shelf(new ValueCounts()))
    case 'manual': return readManual(reader, spec.codec)
    default: return undefined
  }
}

/** Stores the texts inside a list while one item of it is packed or unpacked. Handles are indexes into it. */
class Shelf implements ValueStore {
  readonly values: unknown[] = []
  readonly #counts: ValueCounts

  constructor(counts: ValueCounts) {
    this.#counts = counts
  }

  put(_leaf: Leaf, value: unknown): number {
    return this.values.push(value) - 1
  }

  get(_leaf: Leaf, handle: number): unknown {
    return this.values[handle]
  }

  write(writer: BitWriter, leaf: Leaf, handle: number): void {
    writeHeapValue(writer, leaf, this.values[handle], this.#counts, this)
  }

  read(reader: BitReader, leaf: Leaf): number {
    return this.put(leaf, readHeapValue(reader, leaf, this))
  }
}

function writeList(writer: BitWriter, leaf: Leaf, maxItems: number, items: readonly unknown[], shelf: Shelf): void {
  const layout = itemOf(leaf)
  const { cells, row } = layout
  const shelved = shelf.values.length
  writer.writeBits(items.length, bitsFor(maxItems))
  for (const item of items) {
    if (item === undefined) throw mistake(layout.name, item, 'no item')
    storeValues(layout, { item }, cells, 0, shelf)
    quantizeLeaves(layout, cells, 0, row, 0)
    writeLeaves(writer, layout, 0, layout.leaves.length, row, 0, shelf)
    shelf.values.length = shelved
  }
}

function readList(reader: BitReader, leaf: Leaf, maxItems: number, shelf: Shelf): readonly unknown[] {
  const layout = itemOf(leaf)
  const { cells, row } = layout
  const shelved = shelf.values.length
  const count = reader.readBits(bitsFor(maxItems))
  if (count > maxItems) reader.fail()
  const items: unknown[] = []
  for (let index = 0; index < count && !reader.failed; index++) {
    readLeaves(reader, layout, 0, layout.leaves.length, row, 0, shelf)
    if (reader.failed) break
    dequantizeRow(layout, row, 0, cells, 0)
    items.push(loadValues(layout, cells, 0, shelf)['item'])
    shelf.values.length = shelved
  }
  return items
}

function itemOf(leaf: Leaf): ItemLayout {
  assert(leaf.item !== undefined, 'a list knows its items')
  return leaf.item
}

function fitText(text: string, bytesMax: number, counts: ValueCounts): string {
  if (utf8Size(text) <= bytesMax) return text
  counts.clipped++
  return clipUtf8(text, bytesMax)
}

function fitItems<T extends Uint8Array | readonly unknown[]>(items: T, max: number, counts: ValueCounts): T {
  if (items.length <= max) return items
  counts.clipped++
  return items.slice(0, max) as T
}

function readManual(reader: BitReader, codec: ManualTwins<never>): unknown {
  const { bytes, bitPosition } = reader
  let value: never
  try {
    value = codec.read(reader)
  } catch {
    reader.fail()
    return undefined
  }
  if (reader.failed || !rewritesTo(codec, value, bytes, bitPosition, reader.bitPosition - bitPosition)) reader.fail()
  return value
}

/** Whether a value that was just read would be written as exactly the bits it was read from. */
function rewritesTo(
  codec: ManualTwins<never>,
  value: never,
  bytes: Uint8Array,
  bitOffset: number,
  bitCount: number,
): boolean {
  if (bitCount < 0 || bitCount > VALUE_BITS_MAX) return false
  const writer = new BitWriter(new Uint8Array((bitCount + 7) >>> 3))
  try {
    codec.write(writer, value)
  } catch {
    return false
  }
  if (writer.failed || writer.bitLength !== bitCount) return false
  writer.finish()
  const again = new BitReader(writer.bytes)
  const original = new BitReader(bytes)
  original.resetBits(bytes, bitOffset, bitCount)
  for (let left = bitCount; left > 0; left -= 32) {
    const width = Math.min(left, 32)
    if (again.readBits(width) !== original.readBits(width)) return false
  }
  return true
}
