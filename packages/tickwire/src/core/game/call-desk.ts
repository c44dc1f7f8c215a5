/**
 * Where calls meet connections: the same on both sides. It makes the line of each connection and knows who answers.
 *
 * Calls ride in the channels of messages, by the delivery they were declared with.
 */

import { RPC_TIMEOUT_MS } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { RpcResult } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { RpcCodec } from '../rpc/rpc-codec.ts'
import { RpcHandlers } from '../rpc/rpc-handlers.ts'
import { RpcLine, type RpcHost } from '../rpc/rpc-line.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { channelOf } from './message-routes.ts'

/** What a call may say beside its values. */
export interface CallOptions {
  /** The object it is about. */
  readonly about?: { readonly id: ObjectId }
}

/** What a request may say beside its values. */
export interface RequestOptions extends CallOptions {
  /** How long to wait for the answer. Default: five seconds. */
  readonly timeoutMs?: Millis
}

export class CallDesk<From> {
  readonly handlers: RpcHandlers<From>
  readonly #codec: RpcCodec
  readonly #host: RpcHost

  /** `firstNumber`: the number of the first call, after those of the messages. `onFault` hears what a handler threw. */
  constructor(rpcs: readonly Rpc[], firstNumber: number, host: RpcHost, onFault: (error: unknown, rpc: Rpc) => void) {
    this.handlers = new RpcHandlers(onFault)
    this.#codec = new RpcCodec(rpcs, firstNumber)
    this.#host = host
  }

  /** The calls of one connection: `from` and `peer` are who is at its other end. */
  createLine(from: From, peer: PeerId, channels: ChannelSet, handlers: RpcHandlers<From> = this.handlers): RpcLine<From> {
    return new RpcLine(from, peer, this.#codec, handlers, this.#host, (rpc, bytes) => channels.send(channelOf(rpc.delivery), bytes))
  }
}

/** Makes a request on a line, as a promise of how it ends. It never rejects. */
export function requestOn<A extends Shape, R extends Shape>(
  line: Pick<RpcLine<unknown>, 'request'> | undefined, now: Millis, rpc: Rpc<A, R>, values: ViewOf<A>, options: RequestOptions,
): Promise<RpcResult<ViewOf<R>>> {
  return new Promise((resolve) => {
    const { about, timeoutMs = RPC_TIMEOUT_MS } = options
    if (line === undefined) resolve({ isOk: false, reason: 'closed' })
    else line.request(rpc, values, about?.id ?? 0, now + timeoutMs, (result) => resolve(result as RpcResult<ViewOf<R>>))
  })
}
