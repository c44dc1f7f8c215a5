/** The plain codec: a mask of what changed, then what changed, at full width. The delta of `schema/row-delta.ts`. */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readDelta, writeDelta } from '../schema/row-delta.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import type { FieldSet, RowCoder, RowPair } from './row-coder.ts'

export class PackedCoder implements RowCoder {
  readonly #schema: Schema

  constructor(schema: Schema) {
    this.#schema = schema
  }

  write(out: BitWriter, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const schema = this.#schema
    return writeDelta(out, schema, schema.masks[set], pair.rows, pair.at, pair.baseRows, pair.baseAt, heap)
  }

  read(reader: BitReader, set: FieldSet, pair: RowPair, heap: ValueStore): void {
    const schema = this.#schema
    readDelta(reader, schema, schema.masks[set], pair.rows, pair.at, pair.baseRows, pair.baseAt, heap)
  }
}
