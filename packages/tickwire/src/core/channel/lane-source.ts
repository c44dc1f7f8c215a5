/**
 * All channels whose lanes have one priority, as one source of frames.
 *
 * ```
 * frame body:  ┌────────────┬────────────┬──────┬──────────────────────┐
 *              │ channel, 4 │ promise, 2 │ 00   │ the channel's frame  │
 *              └────────────┴────────────┴──────┴──────────────────────┘
 * ```
 *
 * Which lane goes next: every lane has a clock that a frame moves by its bytes over the lane's weight, and the one that
 * is furthest behind is served. A lane that was idle does not save up: it starts where the others are (start-time fair
 * queueing). What does not fit the packet lets others go first, and goes first in the next.
 *
 * Invariant: a channel hears of the fate of every packet that carried a frame of its own, and of no other.
 */

import { SENT_PACKETS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import { type Channel, CHANNEL_PROMISES } from './channel.ts'
import type { Lane } from './lane.ts'

const MASK = SENT_PACKETS_MAX - 1
const HEAD_BITS = 8

/** A channel, its number and its lane. */
export interface LaneChannel {
  readonly number: number
  readonly channel: Channel
  readonly lane: Lane
}

/** Serves the channels of one priority. */
export class LaneSource implements FrameSource {
  #channels: readonly LaneChannel[]
  /** For each channel: the place of its lane, and the byte that stands before its frames. */
  #laneOf: Uint8Array
  #heads: Uint8Array
  #weights: Float64Array
  #clocks: Float64Array
  #nowClock: number = 0
  /** Which channels had a frame in a packet, bit i for the i-th; and in which packet. */
  #riders: Uint16Array = new Uint16Array(SENT_PACKETS_MAX)
  #ridersOf: Float64Array = new Float64Array(SENT_PACKETS_MAX)
  /** Bytes sent for each lane, by its place in `lanes`. */
  readonly sentBytes: Float64Array
  readonly lanes: readonly Lane[]

  constructor(channels: readonly LaneChannel[]) {
    this.#channels = channels
    this.lanes = [...new Set(channels.map(({ lane }) => lane))]
    this.#laneOf = Uint8Array.from(channels, ({ lane }) => this.lanes.indexOf(lane))
    this.#heads = Uint8Array.from(channels, ({ number, channel }) => number * 16 + CHANNEL_PROMISES.indexOf(channel.promise) * 4)
    this.#weights = Float64Array.from(this.lanes, ({ weight }) => weight)
    this.#clocks = new Float64Array(this.lanes.length)
    this.sentBytes = new Float64Array(this.lanes.length)
  }

  attach(wake: () => void): void {
    for (const { channel } of this.#channels) channel.attach(wake)
  }

  begin(now: Millis): void {
    for (let at = 0; at < this.#channels.length; at++) this.#channels[at].channel.begin(now)
  }

  /** @hot */
  wantsAt(now: Millis): Millis {
    let earliest = Infinity
    for (let at = 0; at < this.#channels.length; at++) {
      const wantsAt = this.#channels[at].channel.wantsAt(now)
      if (wantsAt < earliest) earliest = wantsAt
    }
    return earliest
  }

  /** @hot */
  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    if (out.bitsLeft <= HEAD_BITS) return false
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
    for (let at = 0; at < this.#channels.length; at++) {
      if ((riders >>> at) & 1) this.#channels[at].channel.onDelivered(now, sequence)
    }
  }

  /** @hot */
  onLost(now: Millis, sequence: number): void {
    const riders = this.#forget(sequence)
    for (let at = 0; at < this.#channels.length; at++) {
      if ((riders >>> at) & 1) this.#channels[at].channel.onLost(now, sequence)
    }
  }

  /** The channel to serve next: one that wants to, was not tried, and whose lane is furthest behind; -1 for none. */
  #pick(now: Millis, tried: number): number {
    let best = -1
    let bestStart = Infinity
    for (let at = 0; at < this.#channels.length; at++) {
      if ((tried >>> at) & 1 || this.#channels[at].channel.wantsAt(now) > now) continue
      const clock = this.#clocks[this.#laneOf[at]]
      const start = clock > this.#nowClock ? clock : this.#nowClock
      if (start >= bestStart) continue
      best = at
      bestStart = start
    }
    return best
  }

  #charge(at: number, bytes: number): void {
    const lane = this.#laneOf[at]
    const start = this.#clocks[lane] > this.#nowClock ? this.#clocks[lane] : this.#nowClock
    this.#nowClock = start
    this.#clocks[lane] = start + bytes / this.#weights[lane]
    this.sentBytes[lane] += bytes
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
