/**
 * Who listens to which message, and what arrives for them: the same on both sides of a connection.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { Channel, SendResult } from '../channel/channel.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { MessageCodec } from './message-codec.ts'

export class MessageDesk<From> {
  readonly #codec: MessageCodec
  readonly #listeners = new Map<Message, (values: never, from: From) => void>()
  readonly #inbox = new Uint8Array(MESSAGE_BYTES_MAX)

  constructor(messages: readonly Message[]) {
    this.#codec = new MessageCodec(messages)
  }

  /** Calls `listener` for every message of a kind from now on; a second listener replaces the first. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: From) => void): void {
    this.#listeners.set(message, listener)
  }

  /** Hands a message to a channel. */
  send<S extends Shape>(channel: Channel, message: Message<S>, values: ViewOf<S>): SendResult {
    const bytes = this.#codec.encode(message, values)
    return bytes === undefined ? 'too-large' : channel.send(bytes)
  }

  /** Calls listeners for all that has arrived; false when something made no sense. */
  receive(channel: Channel, from: From): boolean {
    for (let length = channel.receive(this.#inbox); length >= 0; length = channel.receive(this.#inbox)) {
      const received = this.#codec.decode(this.#inbox, length)
      if (received === undefined) return false
      this.#listeners.get(received.message)?.(received.values as never, from)
    }
    return true
  }
}
