/**
 * Requests whose answer has not come: each ends once, by its answer, a refusal, its deadline or the end of the connection.
 */

import { RPC_PENDING_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { RpcRefusal } from './rpc-codec.ts'
import type { Rpc } from './rpc.ts'

/** Why a request came to nothing. */
export type RpcFailure = RpcRefusal | 'timed-out' | 'closed' | 'too-large' | 'full'

/** How a request ended. */
export type RpcResult<Values> =
  | { readonly isOk: true; readonly values: Values }
  | { readonly isOk: false; readonly reason: RpcFailure }

/** Told how a request ended. */
export type RpcSettle = (result: RpcResult<Record<string, unknown>>) => void

interface Pending {
  readonly rpc: Rpc
  readonly deadline: Millis
  readonly settle: RpcSettle
}

export class PendingCalls {
  /** By call number, in the order they were made. */
  readonly #pending = new Map<number, Pending>()
  #last = 0

  get isFull(): boolean {
    return this.#pending.size >= RPC_PENDING_MAX
  }

  /** Remembers a request; returns its number. */
  add(rpc: Rpc, deadline: Millis, settle: RpcSettle): number {
    this.#pending.set(++this.#last, { rpc, deadline, settle })
    return this.#last
  }

  /** Ends a request. Nothing happens if it has ended, or is of another kind of call. */
  settle(call: number, rpc: Rpc, result: RpcResult<Record<string, unknown>>): void {
    const pending = this.#pending.get(call)
    if (pending === undefined || pending.rpc !== rpc) return
    this.#pending.delete(call)
    pending.settle(result)
  }

  /** Ends the requests whose time is over. */
  expire(now: Millis): void {
    for (const [call, { rpc, deadline }] of this.#pending) {
      if (deadline <= now) this.settle(call, rpc, { isOk: false, reason: 'timed-out' })
    }
  }

  /** When `expire` next has something to do. */
  nextAt(): Millis {
    let earliest = Infinity
    for (const { deadline } of this.#pending.values()) earliest = Math.min(earliest, deadline)
    return earliest
  }

  /** The connection is over: so are they all. */
  close(): void {
    for (const [call, { rpc }] of this.#pending) this.settle(call, rpc, { isOk: false, reason: 'closed' })
  }
}
