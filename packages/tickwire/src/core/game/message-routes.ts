/**
 * The channel of each message of a game, derived from its declared `delivery`.
 *
 * Every game has channels 0 to 2: reliable ordered, reliable unordered, and unreliable. Channel 3 is reliable ordered
 * and carries large messages, in games that have any (message-sizes.ts). After that, each message declared `latest` has
 * its own channel, so that a newer message of another type does not make it stale. If there are more such messages than
 * channels, they share.
 *
 * Invariant: both sides derive the same routes from the same list of messages.
 */

import { FragmentPool, FragmentQuota } from '../delivery/fragment-pool.ts'
import { CHANNELS_MAX } from '../base/limits.ts'
import { ChannelSet, type ChannelSpec } from '../channel/channel-set.ts'
import { SEND_QUEUES } from '../channel/send-queue.ts'
import { type DeliveryPolicy, PolicyMap } from '../channel/policy.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Message, MessageDelivery } from '../schema/definition.ts'
import { bytesMaxOf, isLargeCall, isLargeMessage, receiveLimits } from './message-sizes.ts'

const COMMON: readonly ChannelSpec[] = [
  { promise: 'ordered', queue: SEND_QUEUES.control },
  { promise: 'unordered', queue: SEND_QUEUES.control },
  { promise: 'unreliable', queue: SEND_QUEUES.state },
]
/** The lowest priority: small messages do not wait for large ones. */
const LARGE_SPEC: ChannelSpec = { promise: 'ordered', queue: SEND_QUEUES.bulk, isLarge: true }
const LARGE: DeliveryPolicy = { channel: COMMON.length }
const RELIABLE: DeliveryPolicy = { channel: 0 }
const POLICIES: Readonly<Record<Exclude<MessageDelivery, 'latest'>, DeliveryPolicy>> = {
  reliable: RELIABLE,
  unordered: { channel: 1 },
  unreliable: { channel: 2 },
}

/** The channel of an RPC. */
export function channelOf(rpc: Rpc): number {
  return isLargeCall(rpc) ? LARGE.channel : POLICIES[rpc.delivery].channel
}

/** The side of the connection, and the memory pool it shares. */
export interface RouteOptions {
  readonly isAuthority?: boolean
  readonly fragments?: FragmentPool | undefined
}

/** The routes of a game's messages. */
export class MessageRoutes {
  readonly policies: PolicyMap<Message>
  readonly #specs: readonly ChannelSpec[]
  /** Shared by all connections: the memory for large messages is bounded for the whole process. */
  readonly #fragments: FragmentPool
  readonly #limits: Uint32Array | undefined

  constructor(
    messages: readonly Message[],
    rpcs: readonly Rpc[] = [],
    { isAuthority = false, fragments = new FragmentPool() }: RouteOptions = {},
  ) {
    const hasLarge = messages.some(isLargeMessage) || rpcs.some(isLargeCall)
    const specs = hasLarge ? [...COMMON, LARGE_SPEC] : [...COMMON]
    const firstLatest = specs.length
    this.#fragments = fragments
    this.#limits = hasLarge ? receiveLimits(messages, rpcs, isAuthority) : undefined
    this.policies = new PolicyMap(RELIABLE)
    let latestCount = 0
    for (const message of messages) {
      if (message.delivery !== 'latest') {
        this.policies.assign(message, isLargeMessage(message) ? LARGE : POLICIES[message.delivery])
        continue
      }
      const channel = firstLatest + (latestCount++ % (CHANNELS_MAX - firstLatest))
      if (channel === specs.length) specs.push({ promise: 'sequenced', queue: SEND_QUEUES.state })
      this.policies.assign(message, { channel })
    }
    this.#specs = specs
  }

  /** The size of the longest message that can arrive. */
  get bytesMax(): number {
    return bytesMaxOf(this.#limits !== undefined)
  }

  /** Creates the channels of one connection. */
  createChannels(): ChannelSet {
    return new ChannelSet(this.#specs, new FragmentQuota(this.#fragments), this.#limits)
  }
}
