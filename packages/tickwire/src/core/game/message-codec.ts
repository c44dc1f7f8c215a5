/**
 * Messages to bytes and back.
 *
 *   +--------+-----------------------------------------+-------------+
 *   | type 8 | all leaves of the message, in order     | zeros, 0..7 |
 *   +--------+-----------------------------------------+-------------+
 *
 * A message is said once, so there is nothing to delta it against and no mask. It allocates: messages are rare.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { dequantizeRow, quantizeCells } from '../schema/cells.ts'
import type { Message } from '../schema/definition.ts'
import { readRow, writeRow } from '../schema/row-codec.ts'
import { ValueHeap } from '../schema/value-heap.ts'
import { loadValues, storeValues } from '../schema/values.ts'

const TYPE_BITS = 8

/** A message that arrived. */
export interface ReceivedMessage {
  readonly message: Message
  readonly values: Record<string, unknown>
}

export class MessageCodec {
  readonly #messages: readonly Message[]
  readonly #writer = new BitWriter(new Uint8Array(MESSAGE_BYTES_MAX))
  readonly #reader = new BitReader(new Uint8Array(0))

  constructor(messages: readonly Message[]) {
    this.#messages = messages
  }

  /** The bytes of a message, valid until the next call; undefined when it is longer than a message may be. */
  encode(message: Message, values: Record<string, unknown>): Uint8Array | undefined {
    const type = this.#messages.indexOf(message)
    if (type < 0) throw new RangeError(`${message.schema.name}: not a message of this game. Add it to \`messages\` in defineGame.`)
    const { schema } = message
    const heap = new ValueHeap()
    const cells = schema.initialCells.slice()
    const row = new Int32Array(schema.laneCount)
    storeValues(schema, values, cells, 0, heap)
    quantizeCells(schema, cells, 0, row, 0)
    const writer = this.#writer
    writer.reset(writer.bytes)
    writer.writeBits(type, TYPE_BITS)
    writeRow(writer, schema, row, 0, heap)
    const byteLength = writer.finish()
    return writer.failed ? undefined : writer.bytes.subarray(0, byteLength)
  }

  /** What the bytes say, or undefined when they make no sense. */
  decode(bytes: Uint8Array, length: number): ReceivedMessage | undefined {
    const reader = this.#reader
    reader.reset(bytes, 0, length)
    const message = this.#messages[reader.readBits(TYPE_BITS)]
    if (reader.failed || message === undefined) return undefined
    const { schema } = message
    const heap = new ValueHeap()
    const cells = new Float64Array(schema.cellCount)
    const row = new Int32Array(schema.laneCount)
    readRow(reader, schema, row, 0, heap)
    if (!reader.finish()) return undefined
    dequantizeRow(schema, row, 0, cells, 0)
    return { message, values: loadValues(schema, cells, 0, heap) }
  }
}
