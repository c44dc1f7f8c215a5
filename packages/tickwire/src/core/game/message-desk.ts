/**
 * Who listens to which message, and what arrives for them: the same on both sides of a connection.
 */

import { MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { RpcLine } from '../rpc/rpc-line.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { EventCodec, type StepEvent } from './event-codec.ts'
import { MessageCodec } from './message-codec.ts'
import { MessageRoutes } from './message-routes.ts'

export interface MessageDeskOptions<From> {
  /** Hears every message, listened to or not. */
  readonly onMessage?: (message: Message, values: Record<string, unknown>, from: From) => void
  /** Hears what happened in the authority's `step`. Without it, whoever says so is broken: only the authority may. */
  readonly onEvent?: (event: StepEvent) => void
}

export class MessageDesk<From> {
  readonly routes: MessageRoutes
  readonly #codec: MessageCodec
  readonly #listeners = new Map<Message, (values: never, from: From) => void>()
  /** Numbers from here on are calls. */
  readonly #messageCount: number
  readonly #inbox = new Uint8Array(MESSAGE_BYTES_MAX)

  readonly #events: EventCodec
  readonly #options: MessageDeskOptions<From>

  constructor(messages: readonly Message[], rpcCount: number, options: MessageDeskOptions<From> = {}) {
    this.#messageCount = messages.length
    this.#events = new EventCodec(messages, rpcCount)
    this.#options = options
    this.routes = new MessageRoutes(messages)
    this.#codec = new MessageCodec(messages)
  }

  /** Calls `listener` for every message of a kind from now on; a second listener replaces the first. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: From) => void): void {
    this.#listeners.set(message, listener)
  }

  /** Hands a message to the channel it travels by. */
  send<S extends Shape>(channels: ChannelSet, message: Message<S>, values: ViewOf<S>): SendResult {
    const bytes = this.#codec.encode(message, values)
    return bytes === undefined ? 'too-large' : channels.send(this.routes.policies.resolve(message).channel, bytes)
  }

  /** Hands what happened in `step` to the channel that its message travels by. */
  sendEvent(channels: ChannelSet, event: StepEvent): SendResult {
    const bytes = this.#events.encode(event)
    return bytes === undefined ? 'too-large' : channels.send(this.routes.policies.resolve(event.message).channel, bytes)
  }

  /** Calls listeners for all that has arrived; false when something made no sense. Calls go to their `line`. */
  receive(channels: ChannelSet, from: From, line: RpcLine<From>): boolean {
    for (let number = 0; number < channels.specs.length; number++) {
      for (let length = channels.receive(number, this.#inbox); length >= 0; length = channels.receive(number, this.#inbox)) {
        if (length > 0 && this.#inbox[0] === this.#events.number) {
          const event = this.#options.onEvent === undefined ? undefined : this.#events.decode(this.#inbox, length)
          if (event === undefined || this.routes.policies.resolve(event.message).channel !== number) return false
          this.#options.onEvent?.(event)
          continue
        }
        if (length > 0 && this.#inbox[0] >= this.#messageCount) {
          if (!line.accept(this.#inbox, length)) return false
          continue
        }
        const received = this.#codec.decode(this.#inbox, length)
        if (received === undefined || this.routes.policies.resolve(received.message).channel !== number) return false
        this.#options.onMessage?.(received.message, received.values, from)
        this.#listeners.get(received.message)?.(received.values as never, from)
      }
    }
    return true
  }
}
