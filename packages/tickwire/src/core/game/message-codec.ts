/**
 * Encodes and decodes messages.
 *
 *   +--------+-----------------------------------------+-------------+
 *   | type 8 | all leaves of the message, in order     | zeros, 0..7 |
 *   +--------+-----------------------------------------+-------------+
 *
 * A message has no baseline, so there is no delta and no mask. Encoding allocates, because messages are rare.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { writeWithin } from '../bits/grow-writer.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import type { Message } from '../schema/definition.ts'
import { readRow, writeRow } from '../schema/row-codec.ts'
import { ValueCounts } from '../schema/value-codec.ts'
import { heapFor, ValueHeap } from '../schema/value-heap.ts'
import { loadValues, storeValues } from '../schema/values.ts'
import { bytesMaxOf, isLargeMessage } from './message-sizes.ts'

const TYPE_BITS = 8

/** A received message. */
export interface ReceivedMessage {
  readonly message: Message
  readonly values: Record<string, unknown>
}

export class MessageCodec {
  readonly #messages: readonly Message[]
  readonly #counts: ValueCounts
  readonly #writer = new BitWriter(new Uint8Array(MESSAGE_BYTES_MAX))
  readonly #reader = new BitReader(new Uint8Array(0))

  constructor(messages: readonly Message[], counts: ValueCounts = new ValueCounts()) {
    this.#messages = messages
    this.#counts = counts
  }

  /** Encodes a message. The bytes are valid until the next call. Undefined when it exceeds the size limit. */
  encode(message: Message, values: Record<string, unknown>): Uint8Array | undefined {
    const type = this.#messages.indexOf(message)
    if (type < 0)
      throw new RangeError(`${message.schema.name}: not a message of this game. Add it to \`messages\` in defineGame.`)
    const { schema } = message
    const heap = new ValueHeap(undefined, undefined, this.#counts)
    const cells = schema.initialCells.slice()
    const row = new Int32Array(schema.laneCount)
    storeValues(schema, values, cells, 0, heap)
    quantizeCells(schema, cells, 0, row, 0)
    return writeWithin(this.#writer, bytesMaxOf(isLargeMessage(message)), (writer) => {
      writer.writeBits(type, TYPE_BITS)
      writeRow(writer, schema, row, 0, heap)
    })
  }

  /** Decodes a message. Undefined when the bytes are invalid. */
  decode(bytes: Uint8Array, length: number): ReceivedMessage | undefined {
    const reader = this.#reader
    reader.reset(bytes, 0, length)
    const message = this.#messages[reader.readBits(TYPE_BITS)]
    if (reader.failed || message === undefined) return undefined
    const { schema } = message
    const heap = heapFor(schema)
    const cells = new Float64Array(schema.cellCount)
    const row = new Int32Array(schema.laneCount)
    readRow(reader, schema, row, 0, heap)
    if (!reader.finish()) return undefined
    dequantizeRow(schema, row, 0, cells, 0)
    return { message, values: loadValues(schema, cells, 0, heap) }
  }
}
