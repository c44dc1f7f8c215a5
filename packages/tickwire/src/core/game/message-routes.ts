/**
 * Which channel each message of a game travels by, from the `delivery` it was declared with.
 *
 * Channels 0 to 2 are there in every game: reliable in order, reliable in any order, and unreliable. From 3 on every
 * message declared `latest` has one of its own, so that a newer one of another kind does not make it stale; when there
 * are more of them than channels, they share.
 *
 * Invariant: both sides derive the same from the same list of messages.
 */

import { FragmentPool, FragmentQuota } from '../delivery/fragment-pool.ts'
import { CHANNELS_MAX } from '../base/limits.ts'
import { ChannelSet, type ChannelSpec } from '../channel/channel-set.ts'
import { LANES } from '../channel/lane.ts'
import { type DeliveryPolicy, PolicyMap } from '../channel/policy.ts'
import type { Message, MessageDelivery } from '../schema/definition.ts'

const COMMON: readonly ChannelSpec[] = [
  { promise: 'ordered', lane: LANES.control },
  { promise: 'unordered', lane: LANES.control },
  { promise: 'unreliable', lane: LANES.state },
]
const RELIABLE: DeliveryPolicy = { channel: 0, isLatestWins: false }
const POLICIES: Readonly<Record<Exclude<MessageDelivery, 'latest'>, DeliveryPolicy>> = {
  reliable: RELIABLE,
  unordered: { channel: 1, isLatestWins: false },
  unreliable: { channel: 2, isLatestWins: false },
}

/** The channel of what is declared with a delivery that many share. */
export function channelOf(delivery: Exclude<MessageDelivery, 'latest'>): number {
  return POLICIES[delivery].channel
}

/** The routes of a game's messages. */
export class MessageRoutes {
  readonly policies: PolicyMap<Message>
  readonly #specs: readonly ChannelSpec[]
  /** Of all connections: what large messages may hold of the process is one sum. */
  readonly #fragments = new FragmentPool()

  constructor(messages: readonly Message[]) {
    const specs = [...COMMON]
    this.policies = new PolicyMap(RELIABLE)
    let latestCount = 0
    for (const message of messages) {
      if (message.delivery !== 'latest') {
        this.policies.assign(message, POLICIES[message.delivery])
        continue
      }
      const channel = COMMON.length + (latestCount++ % (CHANNELS_MAX - COMMON.length))
      if (channel === specs.length) specs.push({ promise: 'sequenced', lane: LANES.state })
      this.policies.assign(message, { channel, isLatestWins: true })
    }
    this.#specs = specs
  }

  /** The channels of one connection. */
  createChannels(): ChannelSet {
    return new ChannelSet(this.#specs, new FragmentQuota(this.#fragments))
  }
}
