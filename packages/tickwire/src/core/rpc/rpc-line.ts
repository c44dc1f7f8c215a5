/**
 * The calls of one connection, in both directions: requests that wait for an answer, and received calls that wait for
 * their tick.
 *
 * A received call is checked at once and run at its tick: on the authority before the step of that tick, on a client
 * when the view reaches it. So it takes effect between the states of the ticks around the one in which it was made. A
 * late call is run at the next opportunity, with its original tick.
 *
 * Invariant: a call that is not allowed has no effect except a count and, if an answer was requested, a refusal.
 */

import { RPC_INBOX_BYTES_MAX, RPC_INBOX_MAX } from '../base/limits.ts'
import type { Millis, ObjectId, PeerId, Tick } from '../base/time.ts'
import { PendingCalls, type RpcFailure, type RpcSettle } from './pending-calls.ts'
import { RpcCodec, type ReceivedRpc, type RpcRefusal } from './rpc-codec.ts'
import type { RpcHandlers } from './rpc-handlers.ts'
import type { Rpc } from './rpc.ts'
import { TickQueue } from './tick-queue.ts'

/** What a line needs from its host. */
export interface RpcHost {
  /** The tick stamped on calls made now. */
  readonly tick: Tick
  /** Whether this side is the authority. */
  readonly isAuthority: boolean
  /** The owner of an object; -1 when there is none. */
  ownerOf(object: ObjectId): PeerId
}

/** Sends bytes on the channel of a call. */
export type RpcSend = (rpc: Rpc, bytes: Uint8Array) => 'queued' | RpcFailure

/** Refused calls by reason. They are counted, never thrown. */
export class RpcRefusals {
  /** Calls that only the authority may make, or that are meant for another target. */
  forged = 0
  /** Calls about objects that the caller does not own, or that do not exist. */
  notOwner = 0
  /** Calls for which the inbox had no room. */
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
  readonly #inbox = new TickQueue<{ readonly received: ReceivedRpc; readonly length: number }>(RPC_INBOX_MAX)
  #inboxBytes = 0

  /** `from` and `peer`: the other end of the connection. */
  constructor(from: From, peer: PeerId, codec: RpcCodec, handlers: RpcHandlers<From>, host: RpcHost, send: RpcSend) {
    this.#from = from
    this.#peer = peer
    this.#codec = codec
    this.#handlers = handlers
    this.#host = host
    this.#send = send
  }

  /** Makes a call without an answer. */
  call(rpc: Rpc, values: Record<string, unknown>, object: ObjectId = 0): 'queued' | RpcFailure {
    const bytes = this.#codec.encode({ rpc, kind: 'say', tick: this.#host.tick, object, call: 0 }, values)
    return bytes === undefined ? 'too-large' : this.#send(rpc, bytes)
  }

  /** Makes a request. `settle` is called once, before or after this returns. */
  request(rpc: Rpc, values: Record<string, unknown>, object: ObjectId, deadline: Millis, settle: RpcSettle): void {
    if (this.#pending.isFull) return settle({ isOk: false, reason: 'full' })
    const call = this.#pending.add(rpc, deadline, settle)
    const bytes = this.#codec.encode({ rpc, kind: 'ask', tick: this.#host.tick, object, call }, values)
    const sent = bytes === undefined ? 'too-large' : this.#send(rpc, bytes)
    if (sent !== 'queued') this.#pending.settle(call, rpc, { isOk: false, reason: sent })
  }

  /**
   * Takes received bytes. `here` says whether calls of this kind travel on this channel. Returns false when the bytes
   * are malformed or on the wrong channel, which ends the connection.
   */
  accept(bytes: Uint8Array, length: number, here: (rpc: Rpc) => boolean = () => true): boolean {
    const received = this.#codec.decode(bytes, length)
    if (received === undefined || !here(received.rpc)) return false
    const { rpc, kind, call, values, refusal } = received
    if (kind === 'answer') this.#pending.settle(call, rpc, { isOk: true, values })
    else if (refusal !== undefined) this.#pending.settle(call, rpc, { isOk: false, reason: refusal })
    else this.#judge(received, length)
    return true
  }

  /** Runs the received calls for ticks up to this one. Returns whether there were any. */
  deliver(tick: Tick): boolean {
    let hasRun = false
    for (let next = this.#inbox.take(tick); next !== undefined; next = this.#inbox.take(tick)) {
      this.#inboxBytes -= next.length
      this.#run(next.received)
      hasRun = true
    }
    return hasRun
  }

  /** Whether requests wait for an answer. */
  get isWaiting(): boolean {
    return this.#pending.count > 0
  }

  /** Ends the requests whose deadline has passed. */
  expire(now: Millis): void {
    this.#pending.expire(now)
  }

  /** The earliest deadline: when `expire` next has work to do. */
  nextAt(): Millis {
    return this.#pending.nextAt()
  }

  /** The connection is over. */
  close(): void {
    this.#pending.close()
  }

  #judge(received: ReceivedRpc, length: number): void {
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
    // Calls for future ticks wait here, and large ones could be many megabytes.
    const hasRoom = this.#inbox.size === 0 || this.#inboxBytes + length <= RPC_INBOX_BYTES_MAX
    if (hasRoom && this.#inbox.add(received.tick, { received, length })) {
      this.#inboxBytes += length
      return
    }
    refusals.busy++
    this.#refuse(received, 'busy')
  }

  #run(received: ReceivedRpc): void {
    const { rpc, tick, object, values } = received
    const outcome = this.#handlers.run(rpc, values, { from: this.#from, tick, object }, this.#peer)
    if (received.kind !== 'ask') return
    if (outcome.isOk) this.#answer(received, outcome.values)
    else this.#refuse(received, outcome.reason)
  }

  #answer({ rpc, object, call }: ReceivedRpc, values: Record<string, unknown>): void {
    const head = { rpc, kind: 'answer', tick: this.#host.tick, object, call } as const
    try {
      const bytes = this.#codec.encode(head, values)
      if (bytes === undefined) throw new RangeError(`${rpc.args.name}: the reply is longer than a message may be.`)
      if (this.#send(rpc, bytes) === 'full') this.#refuse({ ...head, kind: 'ask' }, 'busy')
    } catch (error) {
      // The handler returned values that the reply cannot hold.
      this.#handlers.report(error, rpc, this.#peer)
      this.#refuse({ ...head, kind: 'ask' }, 'failed')
    }
  }

  #refuse({ rpc, kind, object, call }: Pick<ReceivedRpc, 'rpc' | 'kind' | 'object' | 'call'>, why: RpcRefusal): void {
    if (kind !== 'ask') return
    const bytes = this.#codec.encodeRefusal({ rpc, kind: 'refusal', tick: this.#host.tick, object, call }, why)
    if (bytes !== undefined) this.#send(rpc, bytes)
  }
}
