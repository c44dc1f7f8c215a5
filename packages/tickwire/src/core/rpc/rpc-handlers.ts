/**
 * Who answers which call: the same for every connection of a host.
 *
 * What a handler throws ends here: it is reported, the caller hears `failed`, and the match goes on.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { RpcRefusal } from './rpc-codec.ts'
import type { Rpc } from './rpc.ts'

/** What a handler is told beside the arguments. */
export interface RpcContext<From> {
  /** Who made the call. */
  readonly from: From
  /** The caller's tick when it was made. */
  readonly tick: Tick
  /** The object it is about; 0 = none. */
  readonly object: ObjectId
}

/** Answers a call. What it returns is the reply, if the call has one. */
export type RpcHandler<A extends Shape, R extends Shape, From> =
  (values: ViewOf<A>, context: RpcContext<From>) => [R] extends [never] ? void : ViewOf<R>

type Outcome =
  | { readonly isOk: true; readonly values: Record<string, unknown> }
  | { readonly isOk: false; readonly reason: RpcRefusal }

export class RpcHandlers<From> {
  readonly #handlers = new Map<Rpc, (values: never, context: RpcContext<From>) => unknown>()
  readonly #onFault: (error: unknown, rpc: Rpc) => void

  constructor(onFault: (error: unknown, rpc: Rpc) => void) {
    this.#onFault = onFault
  }

  /** Lets `handler` answer a call from now on; a second one replaces the first. */
  on<A extends Shape, R extends Shape>(rpc: Rpc<A, R>, handler: RpcHandler<A, R, From>): void {
    this.#handlers.set(rpc, handler)
  }

  /** Reports what went wrong in somebody's handler. */
  report(error: unknown, rpc: Rpc): void {
    this.#onFault(error, rpc)
  }

  /** Runs whoever answers a call. Never throws. */
  run(rpc: Rpc, values: Record<string, unknown>, context: RpcContext<From>): Outcome {
    const handler = this.#handlers.get(rpc)
    if (handler === undefined) return { isOk: false, reason: 'refused' }
    try {
      return { isOk: true, values: (handler(values as never, context) ?? {}) as Record<string, unknown> }
    } catch (error) {
      this.report(error, rpc)
      return { isOk: false, reason: 'failed' }
    }
  }
}
