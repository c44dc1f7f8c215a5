/**
 * The calls of one connection, both ways: what was asked and waits for its answer, what came and waits for its tick.
 *
 * A call that arrives is judged at once and run at its tick: on the authority before the step of that tick, on a player's
 * side when the view gets there. So it is seen between the states of the ticks around the one it was made in. One that
 * comes late is run at the next opportunity, with the tick it was made in.
 *
 * Invariant: a call that was not allowed has no effect but a count and, if an answer was wanted, a refusal.
 */

import { RPC_INBOX_MAX } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import { PendingCalls, type RpcFailure, type RpcSettle } from './pending-calls.ts'
import { RpcCodec, type ReceivedRpc, type RpcRefusal } from './rpc-codec.ts'
import type { RpcHandlers } from './rpc-handlers.ts'
import type { Rpc } from './rpc.ts'
import { TickQueue } from './tick-queue.ts'

/** What a line needs of the host it is in. */
export interface RpcHost {
  /** The tick that calls made now are stamped with. */
  readonly tick: Tick
  /** Whether this side is the authority. */
  readonly isAuthority: boolean
  /** Who owns an object; -1 when there is none. */
  ownerOf(object: ObjectId): PeerId
}

/** Hands bytes to the channel that a call travels by. */
export type RpcSend = (rpc: Rpc, bytes: Uint8Array) => 'queued' | RpcFailure

/** What was refused, and why. Counted, never thrown. */
export class RpcRefusals {
  /** Calls that only the authority may make, or that are for another. */
  forged = 0
  /** Calls about objects that are not the caller's, or not there. */
  notOwner = 0
  /** Calls that found no room to wait. */
  busy = 0
}

export class RpcLine<From> {
  readonly refusals: RpcRefusals = new RpcRefusals()
  readonly #from: From
  readonly #peer: PeerId
  readonly #codec: RpcCodec
  readonly #handlers: RpcHandlers<From>
  readonly #host: RpcHost
  readonly #send: RpcSend
  readonly #pending = new PendingCalls()
  readonly #inbox = new TickQueue<ReceivedRpc>(RPC_INBOX_MAX)

  /** `from` and `peer`: who is at the other end. */
  constructor(from: From, peer: PeerId, codec: RpcCodec, handlers: RpcHandlers<From>, host: RpcHost, send: RpcSend) {
    this.#from = from
    this.#peer = peer
    this.#codec = codec
    this.#handlers = handlers
    this.#host = host
    this.#send = send
  }

  /** Makes a call that nobody answers. */
  call(rpc: Rpc, values: Record<string, unknown>, object: ObjectId = 0): 'queued' | RpcFailure {
    const bytes = this.#codec.encode({ rpc, kind: 'say', tick: this.#host.tick, object, call: 0 }, values)
    return bytes === undefined ? 'too-large' : this.#send(rpc, bytes)
  }

  /** Makes a request; `settle` is called once, before or after this returns. */
  request(rpc: Rpc, values: Record<string, unknown>, object: ObjectId, deadline: Millis, settle: RpcSettle): void {
    if (this.#pending.isFull) return settle({ isOk: false, reason: 'full' })
    const call = this.#pending.add(rpc, deadline, settle)
    const bytes = this.#codec.encode({ rpc, kind: 'ask', tick: this.#host.tick, object, call }, values)
    const sent = bytes === undefined ? 'too-large' : this.#send(rpc, bytes)
    if (sent !== 'queued') this.#pending.settle(call, rpc, { isOk: false, reason: sent })
  }

  /** Takes in what arrived; false when it makes no sense, which ends the connection. */
  accept(bytes: Uint8Array, length: number): boolean {
    const received = this.#codec.decode(bytes, length)
    if (received === undefined) return false
    const { rpc, kind, call, values, refusal } = received
    if (kind === 'answer') this.#pending.settle(call, rpc, { isOk: true, values })
    else if (refusal !== undefined) this.#pending.settle(call, rpc, { isOk: false, reason: refusal })
    else this.#judge(received)
    return true
  }

  /** Runs what came for ticks up to this one. Whether there was anything. */
  deliver(tick: Tick): boolean {
    let hasRun = false
    for (let next = this.#inbox.take(tick); next !== undefined; next = this.#inbox.take(tick)) {
      this.#run(next)
      hasRun = true
    }
    return hasRun
  }

  /** Ends the requests whose time is over. */
  expire(now: Millis): void {
    this.#pending.expire(now)
  }

  /** When `expire` next has something to do. */
  nextAt(): Millis {
    return this.#pending.nextAt()
  }

  /** The connection is over. */
  close(): void {
    this.#pending.close()
  }

  #judge(received: ReceivedRpc): void {
    const { rpc, object } = received
    const { refusals } = this
    // Calls to the authority come from players, all others from the authority: anything else is forged.
    if ((rpc.target === 'server') !== this.#host.isAuthority) {
      refusals.forged++
      return this.#refuse(received, 'refused')
    }
    const owner = object === 0 ? -1 : this.#host.ownerOf(object)
    if (this.#host.isAuthority && (rpc.by === 'owner' ? owner !== this.#peer : object !== 0 && owner < 0)) {
      refusals.notOwner++
      return this.#refuse(received, 'refused')
    }
    if (this.#inbox.add(received.tick, received)) return
    refusals.busy++
    this.#refuse(received, 'busy')
  }

  #run(received: ReceivedRpc): void {
    const { rpc, tick, object, values } = received
    const outcome = this.#handlers.run(rpc, values, { from: this.#from, tick, object })
    if (received.kind !== 'ask') return
    if (outcome.isOk) this.#answer(received, outcome.values)
    else this.#refuse(received, outcome.reason)
  }

  #answer({ rpc, object, call }: ReceivedRpc, values: Record<string, unknown>): void {
    const head = { rpc, kind: 'answer', tick: this.#host.tick, object, call } as const
    try {
      const bytes = this.#codec.encode(head, values)
      if (bytes !== undefined) this.#send(rpc, bytes)
    } catch (error) {
      // The handler replied what the reply cannot hold.
      this.#handlers.report(error, rpc)
      this.#refuse({ ...head, kind: 'ask' }, 'failed')
    }
  }

  #refuse({ rpc, kind, object, call }: Pick<ReceivedRpc, 'rpc' | 'kind' | 'object' | 'call'>, why: RpcRefusal): void {
    if (kind !== 'ask') return
    const bytes = this.#codec.encodeRefusal({ rpc, kind: 'refusal', tick: this.#host.tick, object, call }, why)
    if (bytes !== undefined) this.#send(rpc, bytes)
  }
}
