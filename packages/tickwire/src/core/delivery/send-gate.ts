/**
 * Decides whether a packet may be sent now, and how large: combines a congestion controller, a pacer and the path MTU.
 *
 * While the pacer is closed, one small packet may still be sent in every tick. Data with priority (inputs, control)
 * comes first in a packet and fits. So a player on a bad path keeps control, and large data waits. Acks are never
 * limited. Both are paid for: they delay the next large packet.
 *
 * Invariant: `room` is above 0 exactly when `now >= opensAt` (PACE2).
 *
 * This class does not choose what is sent.
 */

import { URGENT_PACKET_BYTES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { CongestionController, RttSample } from './congestion/controller.ts'
import { Pacer } from './pacer.ts'
import { PathMtu } from './path-mtu.ts'

/** Notified by `SentPackets` of round trips, deliveries and losses. */
export interface DeliveryWatcher {
  onRtt(now: Millis, rtt: RttSample): void
  onAcked(now: Millis, bytes: number): void
  onLost(now: Millis, bytes: number): void
}

/** Asked before every packet with frames, notified of every packet. */
export class SendGate implements DeliveryWatcher {
  readonly controller: CongestionController
  readonly mtu: PathMtu = new PathMtu()
  #pacer: Pacer = new Pacer()
  #urgentGapMs: number
  readonly #urgentAt = new Float64Array([-Infinity])

  /** `ticksPerSecond`: small packets are never limited below this rate. */
  constructor(controller: CongestionController, ticksPerSecond: number = 60) {
    this.controller = controller
    this.#urgentGapMs = 1000 / ticksPerSecond
  }

  /** When `room` is next above 0. */
  get opensAt(): Millis {
    return this.#pacer.opensAt < this.#urgentAt[0] ? this.#pacer.opensAt : this.#urgentAt[0]
  }

  /** The maximum size of the next packet: the path MTU, the size of a small packet, or 0 for none. @hot */
  room(now: Millis): number {
    if (now >= this.#pacer.opensAt) return this.mtu.bytes
    return now >= this.#urgentAt[0] ? URGENT_PACKET_BYTES : 0
  }

  /** A packet was sent. @hot */
  onSent(now: Millis, bytes: number): void {
    this.#pacer.spend(now, bytes, this.controller.bytesPerSecond)
    this.#urgentAt[0] = now + this.#urgentGapMs
    this.controller.onSent(now, bytes)
  }

  /** There was room but no data: a small packet is not tried again before the next tick. */
  onUnused(now: Millis): void {
    this.#urgentAt[0] = now + this.#urgentGapMs
  }

  /** @hot */
  onRtt(now: Millis, rtt: RttSample): void {
    this.controller.onRtt(now, rtt)
  }

  /** @hot */
  onAcked(now: Millis, bytes: number): void {
    this.controller.onAcked(now, bytes)
    this.mtu.onPacketArrived(bytes)
  }

  /** @hot */
  onLost(now: Millis, bytes: number): void {
    this.controller.onLost(now, bytes)
    this.mtu.onPacketLost(now, bytes)
  }

  /** The path has changed. */
  reset(now: Millis): void {
    this.controller.reset(now)
    this.mtu.reset(now)
  }
}
