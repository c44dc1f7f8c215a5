/** The lanes of a client of a lockstep match: sends messages to the other players, and receives theirs. */

import { LANE_MESSAGE_BYTES_MAX, ORDER_LARGE_BYTES_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import type { SendResult } from '../channel/channel.ts'
import { ChannelSet } from '../channel/channel-set.ts'
import { ApartSource, LANE_SPECS, LANE_NAMES, type Lane } from '../channel/lanes.ts'
import type { Connection } from '../connection/connection.ts'
import { VarintReader } from '../order/leb128.ts'
import { LOCKSTEP_KIND } from '../order/lockstep-kinds.ts'

/** Called with the player that sent a message, and its bytes. They are a copy. */
export type LaneListener = (from: PeerId, bytes: Uint8Array) => void

export class LockstepLanes {
  #channels: ChannelSet | undefined
  readonly #listeners = new Map<Lane, Set<LaneListener>>()
  readonly #bytes = new Uint8Array(LANE_MESSAGE_BYTES_MAX + 1024)
  readonly #varint = new VarintReader()

  /** A connection to the relay. `taken`: the newest packet with orders. */
  attach(connection: Connection, taken: () => number): void {
    const channels = new ChannelSet(LANE_SPECS)
    this.#channels = channels
    connection.addSink(LOCKSTEP_KIND.lanes, channels)
    for (const source of channels.sources) connection.addSource(LOCKSTEP_KIND.lanes, new ApartSource(source, taken))
  }

  /** The connection is over. */
  detach(): void {
    this.#channels?.close()
    this.#channels?.release()
    this.#channels = undefined
  }

  /** Sends a message to all other players. */
  send(lane: Lane, bytes: Uint8Array): SendResult {
    if (bytes.length > LANE_MESSAGE_BYTES_MAX) return 'too-large'
    return this.#channels?.send(LANE_NAMES.indexOf(lane), bytes) ?? 'closed'
  }

  /** Sends an order that is too large for a frame of orders. */
  sendOrder(type: number, data: Uint8Array): SendResult {
    if (data.length > ORDER_LARGE_BYTES_MAX) return 'too-large'
    const bytes = new Uint8Array(1 + data.length)
    bytes[0] = type
    bytes.set(data, 1)
    return this.#channels?.send(LANE_NAMES.indexOf('orders'), bytes) ?? 'closed'
  }

  /** Calls `listener` for every message on a lane. Returns what ends that. */
  on(lane: Lane, listener: LaneListener): () => void {
    const listeners = this.#listeners.get(lane) ?? new Set()
    this.#listeners.set(lane, listeners)
    listeners.add(listener)
    return () => { listeners.delete(listener) }
  }

  /** Calls the listeners with what has arrived. Without listeners, messages are dropped. */
  drain(): void {
    const channels = this.#channels
    if (channels?.hasArrivals !== true) return
    for (const [number, name] of LANE_NAMES.entries()) {
      for (let length = channels.receive(number, this.#bytes); length >= 0;
        length = channels.receive(number, this.#bytes)) {
        const from = this.#varint.read(this.#bytes, 0, length)
        if (name === 'orders' || this.#varint.end < 0) continue
        const bytes = this.#bytes.slice(this.#varint.end, length)
        for (const listener of this.#listeners.get(name) ?? []) listener(from, bytes)
      }
    }
    channels.settle()
  }
}
