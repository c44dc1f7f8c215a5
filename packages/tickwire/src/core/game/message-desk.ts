/**
 * Sends messages, and delivers received messages to their listeners. The same on both sides of a connection.
 */

import { PLAYER_MESSAGES_PER_SECOND_MIN, PLAYER_MESSAGES_PER_TICK } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import { Listeners, type UserCode } from '../base/user-code.ts'
import { isReliablePromise, type SendResult } from '../channel/channel.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { LargeProgress } from '../channel/large-channel.ts'
import { InboundLimit } from '../delivery/inbound-limit.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RpcLine } from '../rpc/rpc-line.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueCounts } from '../schema/value-codec.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { EventCodec, type StepEvent } from './event-codec.ts'
import { MessageCodec } from './message-codec.ts'
import { channelOf, MessageRoutes, type RouteOptions } from './message-routes.ts'

/** The limit of messages and calls that are accepted from one player. */
export function limitMessages(tickRate: number): InboundLimit {
  return new InboundLimit(Math.max(PLAYER_MESSAGES_PER_SECOND_MIN, tickRate * PLAYER_MESSAGES_PER_TICK))
}

/** A large message or call in progress. */
export interface Transfer {
  /** The name of the message or RPC, as declared. */
  readonly name: string
  /** Whether it is received or sent. */
  readonly direction: 'in' | 'out'
  /** Bytes that have arrived. */
  readonly bytes: number
  /** Total bytes. For an incoming transfer, rounded up to whole fragments of 1,019 bytes. */
  readonly totalBytes: number
}

export interface MessageDeskOptions<From> extends RouteOptions {
  /** Called for every message, with or without a listener. */
  readonly onMessage?: (message: Message, values: Record<string, unknown>, from: From) => void
  /**
   * Called for every event from the authority's `step`. Without it, a peer that sends events is `broken`: only the
   * authority may.
   */
  readonly onEvent?: (event: StepEvent) => void
  /** Counts values that were clamped to fit their fields. */
  readonly counts?: ValueCounts
}

export class MessageDesk<From> {
  readonly routes: MessageRoutes
  readonly #codec: MessageCodec
  readonly #code: UserCode
  readonly #listeners = new Map<Message, Listeners<[values: never, from: From]>>()
  /** Wire numbers from here on are RPCs. */
  readonly #messageCount: number
  readonly #inbox: Uint8Array
  /** Names of messages and RPCs. Indexed by wire number. */
  readonly #names: readonly string[]

  /** Messages from the authority are not limited: the client chose to connect to it. */
  readonly #unlimited = new InboundLimit(Infinity)
  readonly #events: EventCodec
  readonly #options: MessageDeskOptions<From>

  constructor(
    messages: readonly Message[],
    rpcs: readonly Rpc[],
    code: UserCode,
    options: MessageDeskOptions<From> = {},
  ) {
    this.#code = code
    this.#messageCount = messages.length
    this.#events = new EventCodec(messages, rpcs.length, options.counts)
    this.#options = options
    this.routes = new MessageRoutes(messages, rpcs, options)
    this.#inbox = new Uint8Array(this.routes.bytesMax)
    this.#names = [...messages.map(({ schema }) => schema.name), ...rpcs.map(({ args }) => args.name), 'event']
    this.#codec = new MessageCodec(messages, options.counts)
  }

  /** Calls `listener` for every message of this type. The returned function removes it. */
  on<S extends Shape>(message: Message<S>, listener: (values: ViewOf<S>, from: From) => void): () => void {
    const listeners = this.#listeners.get(message) ?? new Listeners(this.#code, `on(${message.schema.name})`)
    this.#listeners.set(message, listeners)
    return listeners.add(listener)
  }

  /** Sends a message on its channel. */
  send<S extends Shape>(channels: ChannelSet, message: Message<S>, values: ViewOf<S>): SendResult {
    const bytes = this.#codec.encode(message, values)
    return bytes === undefined ? 'too-large' : channels.send(this.routes.policies.resolve(message).channel, bytes)
  }

  /** Sends an event on the channel of its message. */
  sendEvent(channels: ChannelSet, event: StepEvent): SendResult {
    const bytes = this.#events.encode(event)
    return bytes === undefined ? 'too-large' : channels.send(this.routes.policies.resolve(event.message).channel, bytes)
  }

  /** Large messages and calls in progress, in both directions. */
  transfers(channels: ChannelSet): readonly Transfer[] {
    const { outgoing, incoming } = channels.progress
    const name =
      (direction: Transfer['direction']) =>
      ({ kind, bytes, totalBytes }: LargeProgress): Transfer => ({
        name: this.#names[kind] ?? '',
        direction,
        bytes,
        totalBytes,
      })
    return [...outgoing.map(name('out')), ...incoming.map(name('in'))]
  }

  /**
   * Calls the listeners of all messages that have arrived. RPCs go to `line`. 'broken': something was invalid.
   * 'flooding': more arrived than any honest peer sends. In both cases the caller must close the connection.
   *
   * `limit` bounds how many are accepted. Beyond it, reliable messages stay in their channel, which is bounded and
   * slows the sender down; unreliable messages are dropped and counted.
   */
  receive(
    now: Millis,
    channels: ChannelSet,
    from: From,
    line: RpcLine<From>,
    limit: InboundLimit = this.#unlimited,
  ): 'ok' | 'broken' | 'flooding' {
    if (!channels.hasArrivals) return 'ok'
    let isLimited = false
    for (let number = 0; number < channels.specs.length; number++) {
      const isReliable = isReliablePromise(channels.specs[number].promise)
      while (!isReliable || limit.hasRoom(now)) {
        const length = channels.receive(number, this.#inbox)
        if (length < 0) break
        const share = limit.take(now)
        if (share === 'flooding') return 'flooding'
        if (share === 'ok' && !this.#handle(number, length, from, line)) return 'broken'
      }
      if (isReliable && !limit.hasRoom(now)) isLimited = true
    }
    // What the limit left in its channel is received later, without a new frame.
    if (!isLimited) channels.settle()
    return 'ok'
  }

  /** Delivers the message in the inbox. False when it is invalid. */
  #handle(channel: number, length: number, from: From, line: RpcLine<From>): boolean {
    if (length > 0 && this.#inbox[0] === this.#events.number) {
      const event = this.#options.onEvent === undefined ? undefined : this.#events.decode(this.#inbox, length)
      if (event === undefined || this.routes.policies.resolve(event.message).channel !== channel) return false
      this.#options.onEvent?.(event)
      return true
    }
    if (length > 0 && this.#inbox[0] >= this.#messageCount)
      return line.accept(this.#inbox, length, (rpc) => channelOf(rpc) === channel)
    const received = this.#codec.decode(this.#inbox, length)
    if (received === undefined || this.routes.policies.resolve(received.message).channel !== channel) return false
    this.#options.onMessage?.(received.message, received.values, from)
    this.#listeners
      .get(received.message)
      ?.call((from as { readonly id?: PeerId } | undefined)?.id ?? 0, received.values as never, from)
    return true
  }
}
