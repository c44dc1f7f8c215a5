/**
 * Values of variable size to bits and back: text, bytes, lists, and whatever a game serialises by hand.
 *
 *   text, bytes   length in bytes as a varint, then the bytes
 *   fixed text    exactly N bytes (bits/text.ts)
 *   list          count in ceil(log2(max + 1)) bits, then the items, each with all its leaves and no mask
 *   manual        the game's own bits
 *
 * Writing throws a RangeError on a value that does not fit its field: that is the game's mistake. Reading refuses what
 * is not canonical, and never throws: a manual reader is the game's code and may, on bytes that it did not expect, which
 * counts as nonsense, as does a value that its writer would write otherwise.
 */

import { readBytes, writeBytes } from '../bits/blob.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { fixedStringRoom, readFixedString, readString, writeFixedString, writeString } from '../bits/text.ts'
import { utf8Size } from '../bits/utf8.ts'
import { assert } from '../base/assert.ts'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import { dequantizeRow, quantizeLeaves } from './cells.ts'
import type { ManualTwins } from './field.ts'
import type { ItemLayout } from './layout.ts'
import { bitsFor, type Leaf } from './leaf.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import { whyNotValue } from './value-check.ts'
import { loadValues, mistake, storeValues, type ValueStore } from './values.ts'

/** Bits of one value: the longest text with its length in front. */
export const VALUE_BITS_MAX: number = (VALUE_BYTES_MAX + 2) * 8

/** Writes a value of a heap leaf. */
export function writeHeapValue(writer: BitWriter, leaf: Leaf, value: unknown, shelf?: Shelf): void {
  const { spec } = leaf.field
  const problem = whyNotValue(spec, value)
  if (problem !== undefined) throw mistake(leaf.path, value, problem)
  switch (spec.kind) {
    case 'text':
      checkFits(leaf, utf8Size(value as string), spec.maxBytes, 'bytes')
      writeString(writer, value as string, spec.maxBytes)
      break
    case 'fixed-text':
      checkFits(leaf, utf8Size(value as string), fixedStringRoom(spec.bytes), 'bytes')
      writeFixedString(writer, value as string, spec.bytes)
      break
    case 'bytes':
      checkFits(leaf, (value as Uint8Array).length, spec.maxBytes, 'bytes')
      writeBytes(writer, value as Uint8Array, spec.maxBytes)
      break
    case 'list':
      checkFits(leaf, (value as readonly unknown[]).length, spec.maxItems, 'items')
      writeList(writer, leaf, spec.maxItems, value as readonly unknown[], shelf ?? new Shelf())
      break
    case 'manual':
      spec.codec.write(writer, value as never)
      break
  }
}

/** Reads a value of a heap leaf; on nonsense the reader has failed. */
export function readHeapValue(reader: BitReader, leaf: Leaf, shelf?: Shelf): unknown {
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'text': return readString(reader, spec.maxBytes)
    case 'fixed-text': return readFixedString(reader, spec.bytes)
    case 'bytes': return readBytes(reader, spec.maxBytes)
    case 'list': return readList(reader, leaf, spec.maxItems, shelf ?? new Shelf())
    case 'manual': return readManual(reader, spec.codec)
    default: return undefined
  }
}

/** Where the texts inside a list lie while one item of it is packed or unpacked. Handles are places on the shelf. */
class Shelf implements ValueStore {
  readonly values: unknown[] = []

  put(_leaf: Leaf, value: unknown): number {
    return this.values.push(value) - 1
  }

  get(_leaf: Leaf, handle: number): unknown {
    return this.values[handle]
  }

  write(writer: BitWriter, leaf: Leaf, handle: number): void {
    writeHeapValue(writer, leaf, this.values[handle], this)
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

function checkFits(leaf: Leaf, count: number, max: number, unit: string): void {
  if (count > max) throw new RangeError(`${leaf.path}: ${count} ${unit}, at most ${max}.`)
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

/** Whether a value that was just read would be written as the very bits it was read from. */
function rewritesTo(codec: ManualTwins<never>, value: never, bytes: Uint8Array, bitOffset: number, bitCount: number): boolean {
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
