/**
 * Counts what a connection carries in each direction, packet by packet and frame by frame.
 *
 * Every byte of a datagram belongs to exactly one kind of traffic: a frame with its header to that of its content, and
 * the rest (header, acks, padding, tag) to `packets`. So the sum of all kinds equals the connection's own counters.
 *
 * It receives decrypted packets (`PacketWatch`) and keeps only numbers.
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

/** Indexes of traffic: kinds of frames, then channels, then everything that is not a frame. */
const KINDS = 16
const PACKETS = 2 * KINDS
export const TRAFFIC_PLACES: number = PACKETS + 1

const NAMES: ReadonlyMap<number, string> = new Map<number, string>([
  [FRAME_KIND.inputs, 'inputs'],
  [FRAME_KIND.snapshot, 'snapshots'],
  [FRAME_KIND.wantedRows, 'wanted rows'],
  [FRAME_KIND.timing, 'timing'],
  [FRAME_KIND.peerInputs, "others' inputs"],
  [FRAME_KIND.retrained, 'snapshots, retrained'],
  [FRAME_KIND.tables, 'tables'],
  [CONTROL_KIND, 'connection'],
  [PACKETS, 'packets'],
])

/** The name of a kind of traffic. A channel is named by its send queue and its delivery. */
export function trafficName(place: number, channels: ChannelSet): string {
  if (place < KINDS || place === PACKETS) return NAMES.get(place) ?? `kind ${place}`
  const { promise, queue } = channels.specs[place - KINDS]
  return `${queue.name}, ${promise}`
}

export class NetMeter implements PacketWatch {
  readonly fates: PacketFates = new PacketFates()
  /** Indexed by kind of traffic. */
  readonly bytesIn: Float64Array = new Float64Array(TRAFFIC_PLACES)
  readonly bytesOut: Float64Array = new Float64Array(TRAFFIC_PLACES)
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

  #count(traffic: Float64Array, bytes: Uint8Array, at: number, length: number): void {
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
      traffic[Math.min(place, PACKETS)] += cost
      rest -= cost
    }
    traffic[PACKETS] += rest
  }
}
