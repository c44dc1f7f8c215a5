/** The schema layer for tests: from plain values to bits, and back. */

import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from '../../packages/tickwire/src/core/schema/cells.ts'
import { AUDIENCES } from '../../packages/tickwire/src/core/schema/layout.ts'
import { readRow, writeRow } from '../../packages/tickwire/src/core/schema/row-codec.ts'
import { readDelta, writeDelta } from '../../packages/tickwire/src/core/schema/row-delta.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { loadValues, storeValues } from '../../packages/tickwire/src/core/schema/values.ts'
import { bitsToBytes, bytesToBits, type Bits } from './bits-reference.ts'
import type { Reader, Values } from './schema-reference.ts'

const ROOM_BYTES = 1 << 16

/** One schema with a heap of its own. */
export class SchemaEngine {
  readonly schema: Schema
  readonly heap = new ValueHeap()

  constructor(schema: Schema) {
    this.schema = schema
  }

  /** The quantised row of a fresh object with `values` set. */
  row(values: Values): Int32Array {
    const cells = this.schema.initialCells.slice()
    storeValues(this.schema, values, cells, 0, this.heap)
    return this.quantize(cells)
  }

  quantize(cells: Float64Array): Int32Array {
    const row = new Int32Array(this.schema.laneCount)
    quantizeCells(this.schema, cells, 0, row, 0)
    return row
  }

  cells(row: Int32Array): Float64Array {
    const cells = new Float64Array(this.schema.cellCount)
    dequantizeRow(this.schema, row, 0, cells, 0)
    return cells
  }

  /** The plain values of a row. */
  values(row: Int32Array): Values {
    return loadValues(this.schema, this.cells(row), 0, this.heap)
  }

  writeDelta(row: Int32Array, base: Int32Array, reader: Reader = 'owner'): Bits {
    return this.#write((writer) => {
      writeDelta(writer, this.schema, this.schema.masks[AUDIENCES.indexOf(reader)]!, row, 0, base, 0, this.heap)
    })
  }

  /** The row, or undefined when the bits are refused. `rest` is how many bits were left. */
  readDelta(bits: Bits, base: Int32Array, reader: Reader = 'owner'): Int32Array | undefined {
    const row = new Int32Array(this.schema.laneCount)
    return this.#read(bits, (source) => {
      readDelta(source, this.schema, this.schema.masks[AUDIENCES.indexOf(reader)]!, row, 0, base, 0, this.heap)
    }) ? row : undefined
  }

  writeRow(row: Int32Array): Bits {
    return this.#write((writer) => writeRow(writer, this.schema, row, 0, this.heap))
  }

  readRow(bits: Bits): Int32Array | undefined {
    const row = new Int32Array(this.schema.laneCount)
    return this.#read(bits, (source) => readRow(source, this.schema, row, 0, this.heap)) ? row : undefined
  }

  #write(body: (writer: BitWriter) => void): Bits {
    const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
    body(writer)
    if (writer.failed) throw new Error('no room')
    return bytesToBits(writer.bytes.subarray(0, writer.finish())).slice(0, writer.bitLength)
  }

  /** Whether exactly these bits were read and were valid. */
  #read(bits: Bits, body: (reader: BitReader) => void): boolean {
    const bytes = bitsToBytes(bits)
    const reader = new BitReader(bytes)
    reader.resetBits(bytes, 0, bits.length)
    body(reader)
    return !reader.failed && reader.bitsLeft === 0
  }
}
