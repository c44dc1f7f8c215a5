/**
 * Which kind of message is sent on which channel: decided by the host, the same for both ends.
 *
 * A policy names a channel, and with it a promise and a send queue. A kind without its own policy uses the fallback,
 * which should be reliable and ordered: a message that no policy names must not get lost.
 *
 * It does not read messages and does not know sessions. Stale updates are dropped by their receiver: a sequenced
 * channel (`unreliable.ts`), the inputs of a player (`time/input-buffer.ts`) and the rows of an object
 * (`replication/held-objects.ts`).
 */

/** How a kind of message is sent. */
export interface DeliveryPolicy {
  /** The number of its channel. */
  readonly channel: number
}

/** Kinds of messages, mapped to policies. A kind may be anything: a number, a name, a definition. */
export class PolicyMap<Kind> {
  #fallback: DeliveryPolicy
  #policies: Map<Kind, DeliveryPolicy> = new Map()

  constructor(fallback: DeliveryPolicy, policies: Iterable<readonly [Kind, DeliveryPolicy]> = []) {
    this.#fallback = fallback
    for (const [kind, policy] of policies) this.assign(kind, policy)
  }

  /** Sets the policy of a kind from now on. */
  assign(kind: Kind, policy: DeliveryPolicy): void {
    this.#policies.set(kind, policy)
  }

  /** The current policy of a kind. @hot */
  resolve(kind: Kind): DeliveryPolicy {
    return this.#policies.get(kind) ?? this.#fallback
  }
}
