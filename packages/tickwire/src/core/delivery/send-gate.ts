/**
 * Whether a packet may go now, and how large: a congestion controller, a pacer and the path's size, as the packet flow
 * sees them.
 *
 * While the pacer is closed, one small packet may go in every tick all the same: what has priority (inputs, control)
 * stands first in a packet and fits. So a player on a bad path keeps steering, and what is large waits. Acks are never
 * asked about at all. Both are paid for: they make the next large packet wait.
 *
 * Invariant: `room` is above 0 exactly when `now >= opensAt` (PACE2).
 *
 * It does not choose what goes into the room.
 */

import { URGENT_PACKET_BYTES } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { CongestionController, RttSample } from './congestion/controller.ts'
import { Pacer } from './pacer.ts'
import { PathMtu } from './path-mtu.ts'

// Imported constants as the module's own: read through an import they are loaded anew each time.
const URGENT_BYTES = URGENT_PACKET_BYTES

/** What `SentPackets` tells of fates. */
export interface DeliveryWatcher {
  onRtt(now: Millis, rtt: RttSample): void
  onAcked(now: Millis, bytes: number): void
  onLost(now: Millis, bytes: number): void
}

/** Asked before every packet with frames, told of every packet. */
export class SendGate implements DeliveryWatcher {
  readonly controller: CongestionController
  readonly mtu: PathMtu = new PathMtu()
  #pacer: Pacer = new Pacer()
  #urgentGapMs: number
  readonly #urgentAt = new Float64Array([-Infinity])

  /** `ticksPerSecond`: small packets are never held below this rate. */
  constructor(controller: CongestionController, ticksPerSecond: number = 60) {
    this.controller = controller
    this.#urgentGapMs = 1000 / ticksPerSecond
  }

  /** When `room` is next above 0. */
  get opensAt(): Millis {
    return this.#pacer.opensAt < this.#urgentAt[0] ? this.#pacer.opensAt : this.#urgentAt[0]
  }

  /** Bytes the next packet may have: what the path carries, or a small packet's, or 0 for none. @hot */
  room(now: Millis): number {
    if (now >= this.#pacer.opensAt) return this.mtu.bytes
    return now >= this.#urgentAt[0] ? URGENT_BYTES : 0
  }

  /** A packet has gone out. @hot */
  onSent(now: Millis, bytes: number): void {
    this.#pacer.spend(now, bytes, this.controller.bytesPerSecond)
    this.#urgentAt[0] = now + this.#urgentGapMs
    this.controller.onSent(now, bytes)
  }

  /** There was room, and nothing to put into it: a small packet is not tried again before the next tick. */
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

  /** The path is another one. */
  reset(now: Millis): void {
    this.controller.reset(now)
    this.mtu.reset(now)
  }
}
