/**
 * Which kind of message travels how, and which update is too old to matter: decided by the host, for both ends alike.
 *
 * A policy names a channel, and with it a promise and a lane. What has no policy of its own travels by the fallback,
 * which should be reliable and ordered: a message nobody thought about must not get lost.
 *
 * The stale filter is for latest-wins updates that carry their own tick or number: of one stream (a player, an object)
 * it lets through only what is newer than what it let through before. Reliable messages pass it untouched.
 *
 * It does not read messages and does not know sessions: both work without a connection.
 */

import { STALE_STREAMS_MAX } from '../base/limits.ts'

/** How a kind of message travels. */
export interface DeliveryPolicy {
  /** The number of its channel. */
  readonly channel: number
  /** Only the newest update of a stream matters. Never said of a reliable channel. */
  readonly isLatestWins: boolean
}

/** Kinds of messages, mapped to policies. A kind may be anything: a number, a name, a definition. */
export class PolicyMap<Kind> {
  #fallback: DeliveryPolicy
  #policies: Map<Kind, DeliveryPolicy> = new Map()

  constructor(fallback: DeliveryPolicy, policies: Iterable<readonly [Kind, DeliveryPolicy]> = []) {
    this.#fallback = fallback
    for (const [kind, policy] of policies) this.assign(kind, policy)
  }

  /** From now on messages of this kind travel so. */
  assign(kind: Kind, policy: DeliveryPolicy): void {
    this.#policies.set(kind, policy)
  }

  /** How a message of this kind travels now. @hot */
  resolve(kind: Kind): DeliveryPolicy {
    return this.#policies.get(kind) ?? this.#fallback
  }
}

/** Remembers the newest update of every stream of one peer. */
export class StaleFilter {
  /** Updates that were not let through. */
  staleCount: number = 0
  #newest: Map<number, number> = new Map()

  /**
   * Whether an update of `stream`, made at `order` (a tick or a number that grows), is newer than all before. An equal
   * one is a repetition, and is not. A policy that is not latest-wins is always let through. @hot
   */
  admits(policy: DeliveryPolicy, stream: number, order: number): boolean {
    if (!policy.isLatestWins) return true
    const newest = this.#newest.get(stream)
    if (newest !== undefined && order <= newest) {
      this.staleCount++
      return false
    }
    if (newest === undefined && this.#newest.size >= STALE_STREAMS_MAX) this.#forgetOldest()
    this.#newest.set(stream, order)
    return true
  }

  /** The stream is over; its number may begin anew. */
  forget(stream: number): void {
    this.#newest.delete(stream)
  }

  /** A peer that invents streams costs a bounded amount, and forgets his own. */
  #forgetOldest(): void {
    for (const stream of this.#newest.keys()) {
      this.#newest.delete(stream)
      return
    }
  }
}
