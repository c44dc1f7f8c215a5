/**
 * Counts what a connection carries, both ways, packet by packet and frame by frame.
 *
 * Every byte of a datagram belongs to exactly one lane: a frame with its head to the lane of what it carries, and the rest
 * (header, acks, padding, seal) to `packets`. So the sum of the lanes is what the connection's own counters say.
 *
 * It is handed packets in the clear (`PacketWatch`) and keeps numbers only.
 */

import type { Millis } from '../core/base/time.ts'
import { BitReader } from '../core/bits/bit-reader.ts'
import type { ChannelSet } from '../core/channel/channel-set.ts'
import { CONTROL_KIND } from '../core/connection/control.ts'
import { CRYPTO_BYTES } from '../core/crypto/provider.ts'
import { FRAME_KIND } from '../core/game/frame-kinds.ts'
import { AckBlock, readAckBlock } from '../core/packet/ack-block.ts'
import type { PacketHeader } from '../core/packet/header.ts'
import { FRAME_HEAD_BITS } from '../core/packet/packet-builder.ts'
import type { PacketWatch } from '../core/packet/packet-watch.ts'
import { PacketFates } from './packet-fates.ts'

/** Places of lanes: kinds of frames, channels behind them, and what is no frame. */
const KINDS = 16
const PACKETS = 2 * KINDS
export const LANE_PLACES: number = PACKETS + 1

const NAMES: ReadonlyMap<number, string> = new Map<number, string>([
  [FRAME_KIND.inputs, 'inputs'], [FRAME_KIND.snapshot, 'snapshots'], [FRAME_KIND.wantedRows, 'wanted rows'],
  [FRAME_KIND.timing, 'timing'], [FRAME_KIND.peerInputs, "others' inputs"], [FRAME_KIND.retrained, 'snapshots, retrained'],
  [FRAME_KIND.tables, 'tables'], [CONTROL_KIND, 'connection'], [PACKETS, 'packets'],
])

/** What a lane is called. Channels have the names of the lanes they were given. */
export function laneName(place: number, channels: ChannelSet): string {
  if (place < KINDS || place === PACKETS) return NAMES.get(place) ?? `kind ${place}`
  const { promise, lane } = channels.specs[place - KINDS]
  return `${lane.name}, ${promise}`
}

export class NetMeter implements PacketWatch {
  readonly fates: PacketFates = new PacketFates()
  /** By place of the lane. */
  readonly bytesIn: Float64Array = new Float64Array(LANE_PLACES)
  readonly bytesOut: Float64Array = new Float64Array(LANE_PLACES)
  packetsIn = 0
  packetsOut = 0
  readonly #reader = new BitReader(new Uint8Array(0))
  readonly #acks = new AckBlock()

  handleReceived(_now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    this.packetsIn++
    this.fates.note(header.sequence, length)
    this.#count(this.bytesIn, bytes, header.byteLength, length)
  }

  handleSent(_now: Millis, _header: PacketHeader, bytes: Uint8Array, bodyAt: number, length: number): void {
    this.packetsOut++
    this.#count(this.bytesOut, bytes, bodyAt, length)
  }

  #count(lanes: Float64Array, bytes: Uint8Array, at: number, length: number): void {
    const reader = this.#reader
    reader.reset(bytes, at, length - at)
    readAckBlock(reader, this.#acks)
    let rest = length + CRYPTO_BYTES.tag
    while (!reader.failed && reader.bitsLeft >= FRAME_HEAD_BITS) {
      const head = reader.readBits(FRAME_HEAD_BITS)
      const kind = head >>> 18
      const frameBytes = head & 0x3fff
      const place = kind === FRAME_KIND.channels && frameBytes > 0 ? KINDS + (reader.peekBits(8) >>> 4) : kind
      reader.skipBits(frameBytes * 8)
      const cost = frameBytes + FRAME_HEAD_BITS / 8
      lanes[Math.min(place, PACKETS)] += cost
      rest -= cost
    }
    lanes[PACKETS] += rest
  }
}
