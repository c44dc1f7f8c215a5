/**
 * The five message lanes of a lockstep connection, beside orders and ticks: which traffic waits for which.
 *
 *   number  lane      priority  weight  waiting   promise
 *   0       orders    0         1        4 KiB    ordered      orders that are too large for a frame of orders
 *   1       control   0         1        2 KiB    sequenced    the latest wins: pings on a map, cursors
 *   2       chat      1         1        8 KiB    ordered
 *   3       voice     1         2       16 KiB    unreliable   never sent again
 *   4       bulk      2         1       64 KiB    unreliable   what the others leave
 *
 * Lanes share no packet with orders or ticks: those packets stay below 476 bytes.
 */

import type { Millis } from '../base/time.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import type { ChannelPromise } from './channel.ts'
import type { ChannelSpec } from './channel-set.ts'

/** The names of the lanes, by their numbers. */
export const LANE_NAMES = ['orders', 'control', 'chat', 'voice', 'bulk'] as const

/** A message lane that games send messages on. `orders` is used by orders that are large. */
export type Lane = Exclude<(typeof LANE_NAMES)[number], 'orders'>

function lane(
  name: (typeof LANE_NAMES)[number], priority: number, weight: number, bufferBytes: number, promise: ChannelPromise,
): ChannelSpec {
  return { promise, queue: { name, priority, weight, bufferBytes }, ...(name === 'orders' && { isLarge: true }) }
}

/** The channels of a lockstep connection. Indexed by the number of the lane. */
export const LANE_SPECS: readonly ChannelSpec[] = [
  lane('orders', 0, 1, 4096, 'ordered'),
  lane('control', 0, 1, 2048, 'sequenced'),
  lane('chat', 1, 1, 8192, 'ordered'),
  lane('voice', 1, 2, 16_384, 'unreliable'),
  lane('bulk', 2, 1, 65_536, 'unreliable'),
]

/** A source that shares no packet with another one. */
export class ApartSource implements FrameSource {
  readonly #source: FrameSource
  readonly #taken: () => number

  /** `taken`: the newest packet that the other source has written to. */
  constructor(source: FrameSource, taken: () => number) {
    this.#source = source
    this.#taken = taken
  }

  attach(wake: () => void): void {
    this.#source.attach?.(wake)
  }

  begin(now: Millis): void {
    this.#source.begin(now)
  }

  wantsAt(now: Millis): Millis {
    return this.#source.wantsAt(now)
  }

  fill(now: Millis, sequence: number, out: BitWriter): boolean {
    return sequence !== this.#taken() && this.#source.fill(now, sequence, out)
  }

  onDelivered(now: Millis, sequence: number): void {
    this.#source.onDelivered(now, sequence)
  }

  onLost(now: Millis, sequence: number): void {
    this.#source.onLost(now, sequence)
  }
}
