/**
 * All channels whose queues have the same priority, as one source of frames.
 *
 * ```
 * frame body:  ┌────────────┬────────────┬──────┬──────────────────────┐
 *              │ channel, 4 │ promise, 2 │ 00   │ the channel's frame  │
 *              └────────────┴────────────┴──────┴──────────────────────┘
 * ```
 *
 * Choice of the next queue: every queue has a clock, which a frame advances by its bytes divided by the queue's weight.
 * The queue whose clock is furthest behind is served. An idle queue does not save up credit: it starts where the others
 * are (start-time fair queueing). A message that does not fit the packet lets others go first, and goes first in the
 * next packet.
 *
 * Invariant: a channel is notified of every packet that carried a frame of its own, and of no other.
 */

import { SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { type Channel, CHANNEL_PROMISES, isReliablePromise } from './channel.ts'
import type { SendQueue } from './send-queue.ts'

const MASK = SENT_PACKETS_MAX - 1
const HEAD_BITS = 8

/** A channel, its number and its queue. */
export interface QueuedChannel {
  readonly number: number
  readonly channel: Channel
  readonly queue: SendQueue
}

/** Serves the channels of one priority. */
export class QueueSource implements FrameSource {
  #channels: readonly QueuedChannel[]
  /** Channels that need the time: only messages of unreliable channels become too old. */
  #timed: readonly QueuedChannel[]
  /** Indexed by channel: the index of its queue, and the byte before its frames. */
  #queueOf: Uint8Array
  #heads: Uint8Array
  #weights: Float64Array
  #clocks: Float64Array
  #nowClock: number = 0
  /** Channels have announced nothing since the last time none of them had data: then none is asked. */
  #isIdle: boolean = false
  #isAttached: boolean = false
  /** Indexed by packet: which channels had a frame in it, bit i for channel i; and the packet's sequence. */
  #riders: Uint16Array = new Uint16Array(SENT_PACKETS_MAX)
  #ridersOf: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  /** Bytes sent for each queue. Indexed as `queues`. */
  readonly sentBytes: Float64Array
  readonly queues: readonly SendQueue[]

  constructor(channels: readonly QueuedChannel[]) {
    this.#channels = channels
    this.#timed = channels.filter(({ channel }) => !isReliablePromise(channel.promise))
    this.queues = [...new Set(channels.map(({ queue }) => queue))]
    this.#queueOf = Uint8Array.from(channels, ({ queue }) => this.queues.indexOf(queue))
    this.#heads = Uint8Array.from(
      channels,
      ({ number, channel }) => number * 16 + CHANNEL_PROMISES.indexOf(channel.promise) * 4,
    )
    this.#weights = Float64Array.from(this.queues, ({ weight }) => weight)
    this.#clocks = new Float64Array(this.queues.length)
    this.sentBytes = new Float64Array(this.queues.length)
  }

  attach(wake: () => void): void {
    this.#isAttached = true
    const wakeBoth = (): void => {
      this.#isIdle = false
      wake()
    }
    for (const { channel } of this.#channels) channel.attach(wakeBoth)
  }

  begin(now: Millis): void {
    for (let at = 0; at < this.#timed.length; at++) this.#timed[at].channel.begin(now)
  }

  /** @hot */
  wantsAt(now: Millis): Millis {
    let earliest = Infinity
    if (this.#isIdle) return earliest
    for (let at = 0; at < this.#channels.length; at++) {
      const wantsAt = this.#channels[at].channel.wantsAt(now)
      if (wantsAt < earliest) earliest = wantsAt
    }
    this.#isIdle = this.#isAttached && earliest === Infinity
    return earliest
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#isIdle || out.bitsLeft <= HEAD_BITS) return false
    let tried = 0
    for (let left = this.#channels.length; left > 0; left--) {
      const at = this.#pick(now, tried)
      if (at < 0) return false
      tried |= 1 << at
      out.writeBits(this.#heads[at], HEAD_BITS)
      if (this.#channels[at].channel.fill(now, sequence, out)) {
        this.#charge(at, (out.bitLength + 7) >>> 3)
        this.#remember(sequence, at)
        return true
      }
      out.rewind(0)
    }
    return false
  }

  /** @hot */
  onDelivered(now: Millis, sequence: number): void {
    const riders = this.#forget(sequence)
    this.#isIdle = false
    for (let at = 0; at < this.#channels.length; at++) {
      if ((riders >>> at) & 1) this.#channels[at].channel.onDelivered(now, sequence)
    }
  }

  /** @hot */
  onLost(now: Millis, sequence: number): void {
    const riders = this.#forget(sequence)
    this.#isIdle = false
    for (let at = 0; at < this.#channels.length; at++) {
      if ((riders >>> at) & 1) this.#channels[at].channel.onLost(now, sequence)
    }
  }

  /** The channel to serve next: it has data, was not tried, and its queue is furthest behind; -1 for none. */
  #pick(now: Millis, tried: number): number {
    let best = -1
    let bestStart = Infinity
    for (let at = 0; at < this.#channels.length; at++) {
      if ((tried >>> at) & 1 || this.#channels[at].channel.wantsAt(now) > now) continue
      const clock = this.#clocks[this.#queueOf[at]]
      const start = clock > this.#nowClock ? clock : this.#nowClock
      if (start >= bestStart) continue
      best = at
      bestStart = start
    }
    return best
  }

  #charge(at: number, bytes: number): void {
    const queue = this.#queueOf[at]
    const start = this.#clocks[queue] > this.#nowClock ? this.#clocks[queue] : this.#nowClock
    this.#nowClock = start
    this.#clocks[queue] = start + bytes / this.#weights[queue]
    this.sentBytes[queue] += bytes
  }

  #remember(sequence: number, at: number): void {
    const slot = sequence & MASK
    if (this.#ridersOf[slot] !== sequence) this.#riders[slot] = 0
    this.#ridersOf[slot] = sequence
    this.#riders[slot] |= 1 << at
  }

  #forget(sequence: number): number {
    const slot = sequence & MASK
    return this.#ridersOf[slot] === sequence ? this.#riders[slot] : 0
  }
}
