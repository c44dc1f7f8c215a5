/**
 * Up to 16 logical channels of one connection under one frame kind, each with a promise and a queue.
 *
 * For sending there is one source of frames for each priority among the queues, so that other sources (inputs,
 * snapshots) can be placed between them. For receiving there is one sink. The frame format is in `queue-source.ts`.
 *
 * Invariant: both sides agree on the promise of a channel; a frame with a different promise is broken (LANE5).
 *
 * It does not know what a message means: `policy.ts` maps kinds of messages to channels.
 */

import { ConfigError } from '../base/assert.ts'
import { CHANNELS_MAX, LARGE_CHANNELS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { FragmentPool, FragmentQuota } from '../delivery/fragment-pool.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'
import { type Channel, CHANNEL_PROMISES, type ChannelPromise, type SendResult } from './channel.ts'
import { checkSendQueue, type SendQueue } from './send-queue.ts'
import { QueueSource } from './queue-source.ts'
import { LargeChannel, type LargeProgress } from './large-channel.ts'
import { ReliableOrderedChannel } from './reliable-ordered.ts'
import { ReliableUnorderedChannel } from './reliable-unordered.ts'
import { UnreliableChannel } from './unreliable.ts'

/** The specification of a channel. Its index in the list is its number. */
export interface ChannelSpec {
  /** What the channel guarantees. */
  readonly promise: ChannelPromise
  /** Its queue: which messages are sent first. */
  readonly queue: SendQueue
  /** Carries messages of up to 260,864 bytes. Costs one more byte for every message. Default: false. */
  readonly isLarge?: boolean
}

/** The channels of one connection. */
export class ChannelSet implements FrameSink {
  /** The channels. Indexed by channel number. */
  readonly specs: readonly ChannelSpec[]
  /**
   * Whether a message may wait to be received. True from the arrival of a frame until `settle` finds that nothing is
   * left, so that connections without messages are passed over.
   */
  hasArrivals: boolean = false
  #channels: readonly Channel[]
  #sources: readonly QueueSource[]
  #priorities: readonly number[]

  /**
   * `quota`: how much memory this peer may use for large messages; all peers should share its pool. `limits`: the
   * longest large message that this peer may send. Indexed by the first byte of the message.
   */
  constructor(
    specs: readonly ChannelSpec[],
    quota: FragmentQuota = new FragmentQuota(new FragmentPool()),
    limits?: Uint32Array,
  ) {
    if (specs.length < 1 || specs.length > CHANNELS_MAX) {
      throw new ConfigError(
        'channels',
        `wrong number of channels (expected 1 to ${CHANNELS_MAX}, got ${specs.length})`,
        'merge channels, or add one.',
      )
    }
    if (specs.filter(({ isLarge }) => isLarge).length > LARGE_CHANNELS_MAX) {
      throw new ConfigError(
        'channels',
        `too many channels carry large messages (expected at most ${LARGE_CHANNELS_MAX})`,
        'send large messages on fewer channels.',
      )
    }
    for (const { queue } of specs) checkSendQueue(queue)
    this.specs = specs
    this.#channels = specs.map(({ promise, isLarge }) => {
      const channel = createChannel(promise)
      return isLarge ? new LargeChannel(channel, quota, limits) : channel
    })
    const all = specs.map(({ queue }, number) => ({ number, queue, channel: this.channel(number) }))
    this.#priorities = [...new Set(specs.map(({ queue }) => queue.priority))].sort((a, b) => a - b)
    this.#sources = this.#priorities.map(
      (priority) => new QueueSource(all.filter(({ queue }) => queue.priority === priority)),
    )
  }

  /** One source for each priority, in the order in which they are served. */
  get sources(): readonly QueueSource[] {
    return this.#sources
  }

  /** The sources with a priority from `first` up to, not including, `end`: to be placed around other sources. */
  sourcesOf(first: number, end: number = Infinity): readonly FrameSource[] {
    return this.#sources.filter((_, at) => this.#priorities[at] >= first && this.#priorities[at] < end)
  }

  /** The channel with a number. */
  channel(number: number): Channel {
    const channel = this.#channels[number]
    if (channel === undefined)
      throw new RangeError(`channel ${number}: there are ${this.#channels.length}, counted from 0`)
    return channel
  }

  /** Sends on a channel, if its queue has room: see `Channel.send`. */
  send(number: number, message: Uint8Array): SendResult {
    const channel = this.channel(number)
    const { bufferBytes } = this.specs[number].queue
    if (message.length > bufferBytes) return 'too-large'
    while (this.#waitingBytes(number) + message.length > bufferBytes) {
      // Reliable channels never drop; unreliable ones may find the queue filled by other channels.
      if (!channel.dropOldest()) return 'full'
    }
    return channel.send(message)
  }

  /** Receives from a channel: see `Channel.receive`. */
  receive(number: number, out: Uint8Array): number {
    return this.channel(number).receive(out)
  }

  /** All channels were received from until they had nothing. A fragment without room may get it without a new frame. */
  settle(): void {
    this.hasArrivals = this.#channels.some((channel) => channel instanceof LargeChannel && channel.isStalled)
  }

  /** Large messages in progress, on all channels. */
  get progress(): { readonly outgoing: readonly LargeProgress[]; readonly incoming: readonly LargeProgress[] } {
    const large = this.#channels.filter((channel) => channel instanceof LargeChannel)
    return { outgoing: large.flatMap(({ outgoing }) => outgoing), incoming: large.flatMap(({ incoming }) => incoming) }
  }

  /** @hot */
  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    const head = frame.readBits(8)
    const channel = this.#channels[head >>> 4]
    if (frame.failed || channel === undefined || (head & 3) !== 0) return 'broken'
    if (CHANNEL_PROMISES[(head >>> 2) & 3] !== channel.promise) return 'broken'
    this.hasArrivals = true
    return channel.accept(now, sequence, frame)
  }

  /** The connection is over: `send` refuses, messages that have arrived can still be received. */
  close(): void {
    for (const channel of this.#channels) channel.close()
  }

  /** No more messages will be received: returns the shared memory. */
  release(): void {
    for (const channel of this.#channels) if (channel instanceof LargeChannel) channel.release()
  }

  /** Bytes that wait in the queue of a channel. */
  #waitingBytes(number: number): number {
    const { queue } = this.specs[number]
    let bytes = 0
    for (let at = 0; at < this.#channels.length; at++) {
      if (this.specs[at].queue === queue) bytes += this.#channels[at].waitingBytes
    }
    return bytes
  }
}

function createChannel(promise: ChannelPromise): Channel {
  switch (promise) {
    case 'ordered': return new ReliableOrderedChannel()
    case 'unordered': return new ReliableUnorderedChannel()
    case 'unreliable':
    case 'sequenced': return new UnreliableChannel(promise)
  }
}
