/**
 * The handlers of calls, shared by all connections of a host.
 *
 * An exception of a handler is caught here: it is reported, the caller receives `failed`, and the match goes on.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { refusePromise, type UserCode } from '../base/user-code.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { RpcRefusal } from './rpc-codec.ts'
import type { Rpc } from './rpc.ts'

/** What a handler receives in addition to the arguments. */
export interface RpcContext<From> {
  /** The caller. */
  readonly from: From
  /** The caller's tick when the call was made. */
  readonly tick: Tick
  /** The object it is about; 0 = none. */
  readonly object: ObjectId
}

/** Handles a call. Its return value is the reply, if the call has one. */
export type RpcHandler<A extends Shape, R extends Shape, From> =
  (values: ViewOf<A>, context: RpcContext<From>) => [R] extends [never] ? void : ViewOf<R>

type Outcome =
  | { readonly isOk: true; readonly values: Record<string, unknown> }
  | { readonly isOk: false; readonly reason: RpcRefusal }

export class RpcHandlers<From> {
  readonly #handlers = new Map<Rpc, (values: never, context: RpcContext<From>) => unknown>()
  readonly #code: UserCode

  constructor(code: UserCode) {
    this.#code = code
  }

  /**
   * Registers the handler of a call. A second handler replaces the first. The returned function removes the handler.
   */
  on<A extends Shape, R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, From>): () => void {
    this.#handlers.set(rpc, handler)
    return () => {
      if (this.#handlers.get(rpc) === handler) this.#handlers.delete(rpc)
    }
  }

  /** Reports an error of a handler. */
  report(error: unknown, rpc: Rpc, peer: PeerId): void {
    this.#code.report(`handle(${rpc.args.name})`, error, peer)
  }

  /**
   * Runs the handler of a call. Never throws. A call without a reply may have an async handler; a reply must be
   * returned at once.
   */
  run(rpc: Rpc, values: Record<string, unknown>, context: RpcContext<From>, peer: PeerId): Outcome {
    const handler = this.#handlers.get(rpc)
    if (handler === undefined) return { isOk: false, reason: 'refused' }
    try {
      const result = handler(values as never, context)
      if (rpc.reply === undefined) this.#code.follow(`handle(${rpc.args.name})`, peer, result)
      else refusePromise(`handle(${rpc.args.name})`, result)
      return { isOk: true, values: (result ?? {}) as Record<string, unknown> }
    } catch (error) {
      this.report(error, rpc, peer)
      return { isOk: false, reason: 'failed' }
    }
  }
}
