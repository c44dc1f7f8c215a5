/**
 * One order as bytes, behind an interface: the native format, or that of another engine.
 *
 * A bridge to another engine implements `OrderCodec`; no feed and no game has to change for it.
 */

import { TickBodyReader, TickBodyWriter } from './tick-body.ts'

/** An order with its player and time, as every peer receives it. */
export interface TimedOrder {
  /** The player that gave it. */
  readonly player: number
  /** The time in the window of its tick, in microseconds. From a client to a relay it is a hint. */
  readonly timeUs: number
  /** The type of the order: its position in the game's `orders`. */
  readonly type: number
  /** The values, encoded. */
  readonly data: Uint8Array
}

/** Orders to bytes and back. */
export interface OrderCodec {
  /** Names the format and its version. Peers compare it. */
  readonly protocolId: string
  /** An order as bytes. */
  encode(order: TimedOrder): Uint8Array
  /** Undefined when the bytes are invalid. It never throws. */
  decode(bytes: Uint8Array): TimedOrder | undefined
}

/** The native format: one tick with one order (`tick-body.ts`). */
export const nativeCodec: OrderCodec = {
  protocolId: 'tickwire-tlv-1',
  encode({ player, timeUs, type, data }) {
    const writer = new TickBodyWriter(64)
    writer.begin()
    writer.add(player, timeUs, type, data, 0, data.length)
    writer.end()
    return writer.bytes.slice(0, writer.length)
  },
  decode(bytes) {
    const reader = new TickBodyReader()
    if (reader.scan(bytes, 0, bytes.length, true) !== bytes.length) return undefined
    reader.open(bytes, 0, bytes.length)
    if (!reader.next()) return undefined
    const { player, timeUs, type, dataAt, dataLength } = reader
    return reader.next() ? undefined : { player, timeUs, type, data: bytes.slice(dataAt, dataAt + dataLength) }
  },
}
