/**
 * Requests that wait for an answer. Each ends once: by its answer, a refusal, its deadline or the end of the
 * connection.
 */

import { RPC_PENDING_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { RpcRefusal } from './rpc-codec.ts'
import type { Rpc } from './rpc.ts'

/** Why a request failed. */
export type RpcFailure = RpcRefusal | 'timed-out' | 'closed' | 'too-large' | 'full'

/** How a request ended. */
export type RpcResult<Values> =
  | { readonly isOk: true; readonly values: Values }
  | { readonly isOk: false; readonly reason: RpcFailure }

/** Called with the result of a request. */
export type RpcSettle = (result: RpcResult<Record<string, unknown>>) => void

interface Pending {
  readonly rpc: Rpc
  readonly deadline: Millis
  readonly settle: RpcSettle
}

export class PendingCalls {
  /** Indexed by call number, in the order the calls were made. */
  readonly #pending = new Map<number, Pending>()
  #last = 0

  get count(): number {
    return this.#pending.size
  }

  get isFull(): boolean {
    return this.#pending.size >= RPC_PENDING_MAX
  }

  /** Adds a request. Returns its call number. */
  add(rpc: Rpc, deadline: Millis, settle: RpcSettle): number {
    this.#pending.set(++this.#last, { rpc, deadline, settle })
    return this.#last
  }

  /** Ends a request. Does nothing if it has ended, or if its number belongs to another kind of call. */
  settle(call: number, rpc: Rpc, result: RpcResult<Record<string, unknown>>): void {
    const pending = this.#pending.get(call)
    if (pending === undefined || pending.rpc !== rpc) return
    this.#pending.delete(call)
    pending.settle(result)
  }

  /** Ends the requests whose deadline has passed. */
  expire(now: Millis): void {
    for (const [call, { rpc, deadline }] of this.#pending) {
      if (deadline <= now) this.settle(call, rpc, { isOk: false, reason: 'timed-out' })
    }
  }

  /** The earliest deadline: when `expire` next has work to do. */
  nextAt(): Millis {
    let earliest = Infinity
    for (const { deadline } of this.#pending.values()) earliest = Math.min(earliest, deadline)
    return earliest
  }

  /** The connection is over: ends all requests. */
  close(): void {
    for (const [call, { rpc }] of this.#pending) this.settle(call, rpc, { isOk: false, reason: 'closed' })
  }
}
