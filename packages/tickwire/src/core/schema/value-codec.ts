/**
 * Values of variable size to bits and back: text, bytes, lists, and whatever a game serialises by hand.
 *
 *   text, bytes   length in bytes as a varint, then the bytes
 *   fixed text    exactly N bytes (bits/text.ts)
 *   list          count in ceil(log2(max + 1)) bits, then the items, each with all its leaves and no mask
 *   manual        the game's own bits
 *
 * Reading refuses what is not canonical. A manual reader is the game's code and may throw on bytes that it did not
 * expect; that counts as nonsense, as does a value that its writer would write otherwise.
 */

import { readBytes, writeBytes } from '../bits/blob.ts'
import { BitBuffer } from '../bits/bit-buffer.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readFixedString, readString, writeFixedString, writeString } from '../bits/text.ts'
import { VALUE_BYTES_MAX } from '../base/limits.ts'
import { dequantizeRow, quantizeCells } from './cells.ts'
import type { ManualCodec } from './field.ts'
import type { Layout } from './layout.ts'
import { bitsFor, type Leaf } from './leaf.ts'
import { readLeaves, writeLeaves } from './leaf-codec.ts'
import type { ValueHeap } from './value-heap.ts'
import { loadValues, storeValues } from './values.ts'

/** Writes a value of a heap leaf. `heap` keeps what lists hold inside; it is not the one the value will live in. */
export function writeHeapValue(writer: BitWriter, leaf: Leaf, value: unknown, heap: ValueHeap): void {
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'text': writeString(writer, value as string, spec.maxBytes); break
    case 'fixed-text': writeFixedString(writer, value as string, spec.bytes); break
    case 'bytes': writeBytes(writer, value as Uint8Array, spec.maxBytes); break
    case 'list': writeList(writer, leaf, spec.maxItems, value as readonly unknown[], heap); break
    case 'manual': writeManual(writer, spec.codec, value as never); break
  }
}

/** Reads a value of a heap leaf; on nonsense the reader has failed. */
export function readHeapValue(reader: BitReader, leaf: Leaf, heap: ValueHeap): unknown {
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'text': return readString(reader, spec.maxBytes)
    case 'fixed-text': return readFixedString(reader, spec.bytes)
    case 'bytes': return readBytes(reader, spec.maxBytes)
    case 'list': return readList(reader, leaf, spec.maxItems, heap)
    case 'manual': return readManual(reader, spec.codec)
    default: return undefined
  }
}

function writeList(writer: BitWriter, leaf: Leaf, maxItems: number, items: readonly unknown[], heap: ValueHeap): void {
  if (items.length > maxItems) throw new RangeError(`${leaf.path}: ${items.length} items, at most ${maxItems}.`)
  const layout = itemOf(leaf)
  const cells = new Float64Array(layout.cellCount)
  const row = new Int32Array(layout.laneCount)
  writer.writeBits(items.length, bitsFor(maxItems))
  for (const item of items) {
    storeValues(layout, { item }, cells, 0, heap)
    quantizeCells(layout, cells, 0, row, 0)
    writeLeaves(writer, layout.leaves, 0, layout.leaves.length, row, 0, heap)
  }
}

function readList(reader: BitReader, leaf: Leaf, maxItems: number, heap: ValueHeap): readonly unknown[] {
  const layout = itemOf(leaf)
  const cells = new Float64Array(layout.cellCount)
  const row = new Int32Array(layout.laneCount)
  const count = reader.readBits(bitsFor(maxItems))
  if (count > maxItems) reader.fail()
  const items: unknown[] = []
  for (let index = 0; index < count && !reader.failed; index++) {
    readLeaves(reader, layout.leaves, 0, layout.leaves.length, row, 0, heap)
    dequantizeRow(layout, row, 0, cells, 0)
    if (!reader.failed) items.push(loadValues(layout, cells, 0, heap)['item'])
  }
  return items
}

function itemOf(leaf: Leaf): Layout {
  if (leaf.item === undefined) throw new RangeError(`${leaf.path}: not a list`)
  return leaf.item
}

function writeManual(writer: BitWriter, codec: ManualCodec<never>, value: never): void {
  if ('write' in codec) codec.write(writer, value)
  else codec.serialize(new BitBuffer().overWriter(writer), value)
}

function readManual(reader: BitReader, codec: ManualCodec<never>): unknown {
  const { bytes, bitPosition } = reader
  let value: never
  try {
    value = 'read' in codec ? codec.read(reader) : codec.serialize(new BitBuffer().overReader(reader), codec.initial)
  } catch {
    reader.fail()
    return codec.initial
  }
  if (reader.failed || !rewritesTo(codec, value, bytes, bitPosition, reader.bitPosition - bitPosition)) reader.fail()
  return value
}

/** Whether a value that was just read would be written as the very bits it was read from. */
function rewritesTo(codec: ManualCodec<never>, value: never, bytes: Uint8Array, bitOffset: number, bitCount: number): boolean {
  const writer = new BitWriter(new Uint8Array(Math.min((bitCount + 7) >>> 3, VALUE_BYTES_MAX)))
  try {
    writeManual(writer, codec, value)
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
