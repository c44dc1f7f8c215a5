/**
 * The maximum sizes of a game's messages and RPCs, and which of them are therefore large.
 *
 * A reliable message or RPC whose longest encoding exceeds one packet is large. All messages of such a type use the
 * large channel, including short ones, so that their order is kept. A peer may send at most the longest encoding of
 * each type.
 *
 * Invariant: both sides derive the same sizes from the same definitions.
 */

import { LARGE_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Message } from '../schema/definition.ts'
import { longestRowBits } from '../schema/explain.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * Maximum bytes before the row. Message: number. RPC: number, kind, tick, object and call. Event: number, tick, object,
 * ordinal and birth.
 */
const MESSAGE_HEAD_BYTES = 1
const RPC_HEAD_BYTES = 24
const EVENT_HEAD_BYTES = 57

/** The maximum size of a message of this type, in bytes. */
export function longestMessage({ schema }: Message): number {
  return longest(MESSAGE_HEAD_BYTES, schema)
}

/** Whether messages of this type use the large channel. */
export function isLargeMessage(message: Message): boolean {
  return isReliable(message.delivery) && longestMessage(message) > MESSAGE_BYTES_MAX
}

/** Whether the requests and replies of this RPC use the large channel. */
export function isLargeCall({ args, reply, delivery }: Rpc): boolean {
  return (
    isReliable(delivery) && Math.max(longest(RPC_HEAD_BYTES, args), longest(RPC_HEAD_BYTES, reply)) > MESSAGE_BYTES_MAX
  )
}

/** The size limit at the sender, in bytes. */
export function bytesMaxOf(isLarge: boolean): number {
  return isLarge ? LARGE_MESSAGE_BYTES_MAX : MESSAGE_BYTES_MAX
}

/**
 * The size limit of each type that this side receives. Indexed by wire number (the first byte of a message). 0 if the
 * type is not large.
 */
export function receiveLimits(messages: readonly Message[], rpcs: readonly Rpc[], isAuthority: boolean): Uint32Array {
  const limits = new Uint32Array(256)
  messages.forEach((message, number) => { limits[number] = isLargeMessage(message) ? longestMessage(message) : 0 })
  // Only the authority sends events.
  const event = isAuthority ? 0 : limits.reduce((most, bytes) => Math.max(most, bytes), 0)
  rpcs.forEach((rpc, at) => {
    const schema = (rpc.target === 'server') === isAuthority ? rpc.args : rpc.reply
    limits[messages.length + at] = isLargeCall(rpc) ? longest(RPC_HEAD_BYTES, schema) : 0
  })
  if (event > 0) limits[messages.length + rpcs.length] = Math.min(event + EVENT_HEAD_BYTES, LARGE_MESSAGE_BYTES_MAX)
  return limits
}

function isReliable(delivery: Message['delivery']): boolean {
  return delivery === 'reliable' || delivery === 'unordered'
}

const rowBits = new WeakMap<Schema, number>()

function longest(headBytes: number, schema: Schema | undefined): number {
  let bits = schema === undefined ? 0 : rowBits.get(schema)
  if (schema !== undefined && bits === undefined) rowBits.set(schema, (bits = longestRowBits(schema)))
  bits ??= 0
  return Math.min(headBytes + Math.ceil(bits / 8), LARGE_MESSAGE_BYTES_MAX)
}
