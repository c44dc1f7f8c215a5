/**
 * Values by field name to bytes and back: one whole row of a schema, padded to a whole byte with zeros.
 *
 * For values that are sent rarely, such as join data and orders: both functions allocate.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from './cells.ts'
import { readRow, writeRow } from './row-codec.ts'
import type { Schema } from './schema.ts'
import { heapFor, ValueHeap } from './value-heap.ts'
import { loadValues, storeValues } from './values.ts'

/** The bytes of these values; missing fields have their initial value. Undefined when they exceed `bytesMax`. */
export function packValues(
  schema: Schema,
  values: { readonly [field: string]: unknown },
  bytesMax: number,
): Uint8Array | undefined {
  const heap = new ValueHeap()
  const cells = schema.initialCells.slice()
  const row = new Int32Array(schema.laneCount)
  storeValues(schema, values, cells, 0, heap)
  quantizeCells(schema, cells, 0, row, 0)
  const bytes = new Uint8Array(bytesMax)
  const writer = new BitWriter(bytes)
  writeRow(writer, schema, row, 0, heap)
  return writer.failed ? undefined : bytes.slice(0, writer.finish())
}

/** The values of `length` bytes from `at` on. Undefined when the bytes are invalid. It never throws. */
export function unpackValues(
  schema: Schema,
  bytes: Uint8Array,
  at: number,
  length: number,
): Record<string, unknown> | undefined {
  const reader = new BitReader(bytes)
  reader.reset(bytes, at, length)
  const heap = heapFor(schema)
  const cells = new Float64Array(schema.cellCount)
  const row = new Int32Array(schema.laneCount)
  readRow(reader, schema, row, 0, heap)
  if (!reader.finish()) return undefined
  dequantizeRow(schema, row, 0, cells, 0)
  return loadValues(schema, cells, 0, heap)
}
