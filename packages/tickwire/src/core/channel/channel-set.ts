/**
 * Up to 16 logical channels of one connection under one kind of frame, each with a promise and a lane.
 *
 * Sending, it is one source of frames for each priority among its lanes, so that others (inputs, snapshots) can stand
 * between them. Receiving, it is one sink. Frames are drawn in `lane-source.ts`.
 *
 * Invariant: both sides agree on the promise of a channel; a frame that says otherwise is broken (LANE5).
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
import { checkLane, type Lane } from './lane.ts'
import { LaneSource } from './lane-source.ts'
import { LargeChannel } from './large-channel.ts'
import { ReliableOrderedChannel } from './reliable-ordered.ts'
import { ReliableUnorderedChannel } from './reliable-unordered.ts'
import { UnreliableChannel } from './unreliable.ts'

/** A channel to be. Its place in the list is its number. */
export interface ChannelSpec {
  readonly promise: ChannelPromise
  readonly lane: Lane
  /** Carries messages of up to 260,864 bytes, for a byte more on every message. */
  readonly isLarge?: boolean
}

/** The channels of one connection. */
export class ChannelSet implements FrameSink {
  readonly specs: readonly ChannelSpec[]
  #channels: readonly Channel[]
  #sources: readonly LaneSource[]
  #priorities: readonly number[]

  /** `quota`: what this peer may have us hold of large messages; share its pool between all peers. */
  constructor(specs: readonly ChannelSpec[], quota: FragmentQuota = new FragmentQuota(new FragmentPool())) {
    if (specs.length < 1 || specs.length > CHANNELS_MAX) {
      throw new ConfigError('channels', `${specs.length} of them`, `Give 1 to ${CHANNELS_MAX}.`)
    }
    if (specs.filter(({ isLarge }) => isLarge).length > LARGE_CHANNELS_MAX) {
      throw new ConfigError('channels', 'too many carry large messages', `Let at most ${LARGE_CHANNELS_MAX} do.`)
    }
    for (const { lane } of specs) checkLane(lane)
    this.specs = specs
    this.#channels = specs.map(({ promise, isLarge }) => {
      const channel = createChannel(promise)
      return isLarge ? new LargeChannel(channel, quota) : channel
    })
    const all = specs.map(({ lane }, number) => ({ number, lane, channel: this.channel(number) }))
    this.#priorities = [...new Set(specs.map(({ lane }) => lane.priority))].sort((a, b) => a - b)
    this.#sources = this.#priorities.map((priority) => new LaneSource(all.filter(({ lane }) => lane.priority === priority)))
  }

  /** One source for each priority, the first to be served first. */
  get sources(): readonly LaneSource[] {
    return this.#sources
  }

  /** The sources with a priority from `first` to, not including, `end`: to stand before or after sources of others. */
  sourcesOf(first: number, end: number = Infinity): readonly FrameSource[] {
    return this.#sources.filter((_, at) => this.#priorities[at] >= first && this.#priorities[at] < end)
  }

  /** The channel with a number. */
  channel(number: number): Channel {
    const channel = this.#channels[number]
    if (channel === undefined) throw new RangeError(`channel ${number}: there are ${this.#channels.length}, counted from 0`)
    return channel
  }

  /** Sends on a channel, if its lane has room: see `Channel.send`. */
  send(number: number, message: Uint8Array): SendResult {
    const channel = this.channel(number)
    const { bufferBytes } = this.specs[number].lane
    if (message.length > bufferBytes) return 'too-large'
    while (this.#waitingBytes(number) + message.length > bufferBytes) {
      // Reliable ones never drop; unreliable ones may find the lane filled by others.
      if (!channel.dropOldest()) return 'full'
    }
    return channel.send(message)
  }

  /** Receives from a channel: see `Channel.receive`. */
  receive(number: number, out: Uint8Array): number {
    return this.channel(number).receive(out)
  }

  /** @hot */
  accept(now: Millis, sequence: number, frame: BitReader): FrameVerdict {
    const head = frame.readBits(8)
    const channel = this.#channels[head >>> 4]
    if (frame.failed || channel === undefined || (head & 3) !== 0) return 'broken'
    if (CHANNEL_PROMISES[(head >>> 2) & 3] !== channel.promise) return 'broken'
    return channel.accept(now, sequence, frame)
  }

  /** The connection is over: `send` refuses, what has arrived can still be received. */
  close(): void {
    for (const channel of this.#channels) channel.close()
  }

  /** Nobody will receive any more: shared memory is given back. */
  release(): void {
    for (const channel of this.#channels) if (channel instanceof LargeChannel) channel.release()
  }

  /** What waits in the lane of a channel. */
  #waitingBytes(number: number): number {
    const { lane } = this.specs[number]
    let bytes = 0
    for (let at = 0; at < this.#channels.length; at++) {
      if (this.specs[at].lane === lane) bytes += this.#channels[at].waitingBytes
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
