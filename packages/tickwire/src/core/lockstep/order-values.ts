/**
 * The values of orders to bytes and back: all leaves of the order, in order, padded to a whole byte with zeros.
 *
 * Orders are rare, so this allocates.
 */

import { ORDER_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import { readRow, writeRow } from '../schema/row-codec.ts'
import type { Schema } from '../schema/schema.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { loadValues, storeValues } from '../schema/values.ts'

/** The values of one order. Undefined when they need more bytes than an order may have. */
export function encodeValues(schema: Schema, values: Record<string, unknown>): Uint8Array | undefined {
  const heap = new ValueHeap()
  const cells = schema.initialCells.slice()
  const row = new Int32Array(schema.laneCount)
  storeValues(schema, values, cells, 0, heap)
  quantizeCells(schema, cells, 0, row, 0)
  const bytes = new Uint8Array(ORDER_BYTES_MAX)
  const writer = new BitWriter(bytes)
  writeRow(writer, schema, row, 0, heap)
  return writer.failed ? undefined : bytes.slice(0, writer.finish())
}

/** Undefined when the bytes are invalid. It never throws. */
export function decodeValues(
  schema: Schema,
  bytes: Uint8Array,
  at: number,
  length: number,
): Record<string, unknown> | undefined {
  const reader = new BitReader(bytes)
  reader.reset(bytes, at, length)
  const heap = new ValueHeap()
  const cells = new Float64Array(schema.cellCount)
  const row = new Int32Array(schema.laneCount)
  readRow(reader, schema, row, 0, heap)
  if (!reader.finish()) return undefined
  dequantizeRow(schema, row, 0, cells, 0)
  return loadValues(schema, cells, 0, heap)
}
