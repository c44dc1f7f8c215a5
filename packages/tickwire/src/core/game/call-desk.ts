/**
 * Connects RPCs with connections, on both sides: creates the RPC line of each connection and holds the handlers.
 *
 * RPCs travel in the message channels, with the delivery they were declared with.
 */

import { RPC_TIMEOUT_MS } from '../base/limits.ts'
import type { UserCode } from '../base/user-code.ts'
import type { Millis, ObjectId, PeerId } from '../base/time.ts'
import type { ChannelSet } from '../channel/channel-set.ts'
import type { RpcResult } from '../rpc/pending-calls.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { RpcCodec } from '../rpc/rpc-codec.ts'
import { RpcHandlers } from '../rpc/rpc-handlers.ts'
import { RpcLine, type RpcHost } from '../rpc/rpc-line.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueCounts } from '../schema/value-codec.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { channelOf } from './message-routes.ts'
import { bytesMaxOf, isLargeCall } from './message-sizes.ts'

/** Options of a call. */
export interface CallOptions {
  /** The object that the call is about. Default: none. */
  readonly about?: { readonly id: ObjectId }
}

/** Options of a request. */
export interface RequestOptions extends CallOptions {
  /** How long to wait for the reply. Default: five seconds. */
  readonly timeoutMs?: Millis
}

export class CallDesk<From> {
  readonly handlers: RpcHandlers<From>
  readonly #codec: RpcCodec
  readonly #host: RpcHost

  /** `firstNumber`: the wire number of the first RPC, after the messages. `code` counts what handlers throw. */
  constructor(rpcs: readonly Rpc[], firstNumber: number, host: RpcHost, code: UserCode, counts?: ValueCounts) {
    this.handlers = new RpcHandlers(code)
    this.#codec = new RpcCodec(rpcs, firstNumber, counts, (rpc) => bytesMaxOf(isLargeCall(rpc)))
    this.#host = host
  }

  /** Creates the RPC line of a connection. `from` and `peer` identify its remote end. */
  createLine(
    from: From,
    peer: PeerId,
    channels: ChannelSet,
    handlers: RpcHandlers<From> = this.handlers,
  ): RpcLine<From> {
    return new RpcLine(from, peer, this.#codec, handlers, this.#host, (rpc, bytes) =>
      channels.send(channelOf(rpc), bytes),
    )
  }
}

/** Sends a request. The promise resolves with the outcome and never rejects. */
export function requestOn<A extends Shape, R extends Shape>(
  line: Pick<RpcLine<unknown>, 'request'> | undefined,
  now: Millis,
  rpc: Rpc<A, R>,
  values: ViewOf<A>,
  options: RequestOptions,
): Promise<RpcResult<ViewOf<R>>> {
  return new Promise((resolve) => {
    const { about, timeoutMs = RPC_TIMEOUT_MS } = options
    if (line === undefined) resolve({ isOk: false, reason: 'closed' })
    else line.request(rpc, values, about?.id ?? 0, now + timeoutMs, (result) => resolve(result as RpcResult<ViewOf<R>>))
  })
}
