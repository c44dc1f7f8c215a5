/**
 * The encoding of an event from `step`, sent by the authority to players: an envelope around a message.
 *
 *   +----------+--------------+----------------+-----------------+------------------+---------------------------------+
 *   | number 8 | tick, varint | object, varint | ordinal, varint | birth, 4 varints | the message (message-codec.ts)  |
 *   +----------+--------------+----------------+-----------------+------------------+---------------------------------+
 *
 *   birth    of the object: entity, owner, tick, ordinal. A client that predicted it may know it by a different id.
 *
 * `number` follows the numbers of all messages and calls. The event is sent with the delivery of its message.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { ObjectId, Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { writeWithin } from '../bits/grow-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import type { Message } from '../schema/definition.ts'
import type { ValueCounts } from '../schema/value-codec.ts'
import { MessageCodec, type ReceivedMessage } from './message-codec.ts'
import { bytesMaxOf, isLargeMessage } from './message-sizes.ts'

/** An event of an object in a tick. */
export interface StepEvent {
  readonly tick: Tick
  readonly object: ObjectId
  readonly ordinal: number
  readonly birth: readonly [entity: number, owner: number, tick: Tick, ordinal: number]
  readonly message: Message
  readonly values: Record<string, unknown>
}

const NUMBER_BITS = 8

export class EventCodec {
  readonly number: number
  readonly #codec: MessageCodec
  readonly #writer = new BitWriter(new Uint8Array(MESSAGE_BYTES_MAX))
  readonly #reader = new BitReader(new Uint8Array(0))

  constructor(messages: readonly Message[], rpcCount: number, counts?: ValueCounts) {
    this.number = messages.length + rpcCount
    this.#codec = new MessageCodec(messages, counts)
  }

  /** Encodes an event. The bytes are valid until the next call. Undefined when it exceeds the message size limit. */
  encode({ tick, object, ordinal, birth, message, values }: StepEvent): Uint8Array | undefined {
    const inner = this.#codec.encode(message, values)
    if (inner === undefined) return undefined
    return writeWithin(this.#writer, bytesMaxOf(isLargeMessage(message)), (writer) => {
      writer.writeBits(this.number, NUMBER_BITS)
      writeVarint(writer, tick)
      writeVarint(writer, object)
      writeVarint(writer, ordinal)
      for (const part of birth) writeVarint(writer, part)
      writer.copyBits(inner, 0, inner.length * 8)
    })
  }

  /** Decodes an event. Undefined when the bytes are invalid. */
  decode(bytes: Uint8Array, length: number): StepEvent | undefined {
    const reader = this.#reader
    reader.reset(bytes, 0, length)
    const number = reader.readBits(NUMBER_BITS)
    const [tick, object, ordinal] = [readVarint(reader), readVarint(reader), readVarint(reader)]
    const birth = [readVarint(reader), readVarint(reader), readVarint(reader), readVarint(reader)] as const
    if (reader.failed || number !== this.number || object > 0xffff_ffff) return undefined
    const at = reader.bitPosition >>> 3
    const received: ReceivedMessage | undefined = this.#codec.decode(bytes.subarray(at, length), length - at)
    return received && { tick, object, ordinal, birth, ...received }
  }
}
