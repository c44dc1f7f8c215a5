/**
 * A packet relay: it forwards datagrams between the allocations of one session and never reads what is sealed in them.
 *
 * ```ts
 * if (relay.handleDatagram(now, from, bytes, length, out)) port.send(out.to, out.bytes, out.length)
 * while (relay.pollTransmit(now, out)) port.send(out.to, out.bytes, out.length)
 * ```
 *
 * One address serves all protocols, distinguished by the first bytes: Tickwire relay control ("TKW"), STUN and TURN
 * (0x00 to 0x3f and the cookie), and channel data (0x40 to 0x7f). "TKW" is not channel data: it would claim at
 * least 22,272 bytes.
 *
 * Invariants: one datagram in gives at most one datagram out; it goes to the sender, or to the proven address of
 * another allocation of the same session, and nowhere else. Nothing throws, whatever the bytes.
 */

import { DATAGRAM_BYTES_MAX, RELAY_SWEEP_MS } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Transmit } from '../connection/transmit.ts'
import { HEADER_BYTES_MIN, PACKET_TYPE, readUint32 } from '../packet/header.ts'
import type { Allocation, Binding } from './allocation.ts'
import { Allocations } from './allocations.ts'
import { portOf } from './net-address.ts'
import { RelayDesk } from './relay-desk.ts'
import { RelayGate } from './relay-gate.ts'
import {
  type PacketRelayConfig, type RelayCounts, type RelayOptions, completeRelay, createRelayCounts,
} from './relay-options.ts'
import { createRelayTokenCheck } from './relay-token.ts'
import { RelayMessage, isRelayControl, readRelay } from './relay-wire.ts'
import { STUN_METHOD, StunMessage, answerBinding, isStun, readStun, readUint16Be, writeUint16Be } from './stun.ts'
import { TurnDesk } from './turn-desk.ts'

const CHANNEL_HEAD_BYTES = 4
/** The kind of an Accepted, the first byte of the body of a handshake: it announces the id of a connection. */
const HANDSHAKE_ACCEPTED = 3

/** A relay without sockets. */
export class PacketRelay {
  /** The counters so far. */
  readonly counts: RelayCounts = createRelayCounts()
  readonly #options: RelayOptions
  readonly #table: Allocations
  readonly #gate: RelayGate
  readonly #desk: RelayDesk
  readonly #turn: TurnDesk
  #message: RelayMessage = new RelayMessage()
  #stun: StunMessage = new StunMessage()
  #sweepAt: Millis = -Infinity
  /** Allocations that are still to be notified of a drain. */
  #notices: Allocation[] = []
  #drainEndsAt: Millis = Infinity

  constructor(config: PacketRelayConfig) {
    const options = completeRelay(config)
    this.#options = options
    this.#table = new Allocations(options.entropy, options.allocationsMax, options.allocationsPerOrigin)
    this.#gate = new RelayGate(options, options.entropy)
    const check = createRelayTokenCheck(options.provider, options.issuers, options.audience)
    this.#desk = new RelayDesk(options, this.#table, this.#gate, check, this.counts)
    this.#turn = new TurnDesk(options, this.#table, this.#gate, check, this.#desk, this.counts)
  }

  /** Current allocations. */
  get allocations(): number {
    return this.#table.count
  }

  /** Whether new allocations are refused. */
  get isDraining(): boolean {
    return this.#desk.isDraining
  }

  /** A datagram arrived. True when `out` must be sent. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number, out: Transmit): boolean {
    if (length >= CHANNEL_HEAD_BYTES && bytes[0] >= 0x40 && bytes[0] < 0x80) {
      if (isRelayControl(bytes, length)) return this.#control(now, from, bytes, length, out)
      return this.#forward(now, from, bytes, length, out)
    }
    if (isStun(bytes, length)) return this.#handleStun(now, from, bytes, length, out)
    this.counts.malformed++
    return false
  }

  /** The next datagram that the relay sends by itself: notices of a drain. */
  pollTransmit(now: Millis, out: Transmit): boolean {
    if (now >= this.#sweepAt) {
      this.#sweepAt = now + RELAY_SWEEP_MS
      this.counts.expired += this.#table.sweep(now)
    }
    for (let next = this.#notices.pop(); next !== undefined; next = this.#notices.pop()) {
      if (next.isGone) continue
      out.to = next.address
      out.length = this.#desk.writeMoving(next, this.#drainEndsAt - now, out.bytes)
      return true
    }
    return false
  }

  /** When `pollTransmit` must be called next. */
  pollTimeout(now: Millis): Millis {
    return this.#notices.length > 0 ? now : this.#sweepAt
  }

  /** Refuses new allocations, and asks all peers to move to another relay within `ms`. */
  drain(now: Millis, ms: number): void {
    this.#desk.isDraining = true
    this.#drainEndsAt = now + ms
    // TURN has no such message: browsers find another path when this one falls silent.
    this.#notices = [...this.#table.values()].filter(({ turnPort }) => turnPort === 0)
  }

  /** The transport closed a path: its allocation is gone. Only for transports with connections. */
  handlePathClosed(address: string): void {
    const allocation = this.#table.ofAddress(address)
    if (allocation !== undefined) this.#table.remove(allocation)
  }

  #control(now: Millis, from: string, bytes: Uint8Array, length: number, out: Transmit): boolean {
    if (!readRelay(bytes, length, this.#message)) {
      this.counts.malformed++
      return false
    }
    out.to = from
    out.length = this.#desk.handle(now, from, this.#message, bytes, length, out.bytes)
    return out.length > 0
  }

  /** Data of a peer: to the other side of its binding. Native peers must have bound each other. @hot */
  #forward(now: Millis, from: string, bytes: Uint8Array, length: number, out: Transmit): boolean {
    const sender = this.#table.ofAddress(from)
    if (sender === undefined || now >= sender.expiresAt) {
      this.counts.unbound++
      return false
    }
    if (sender.turnPort !== 0) return this.#turn.forward(now, sender, bytes, length, out)
    const binding = sender.bindingAt(readUint16Be(bytes, 0))
    if (binding === undefined || binding.peerChannel === 0 || binding.peer.isGone) {
      this.counts.unbound++
      return false
    }
    const size = length - CHANNEL_HEAD_BYTES
    if (readUint16Be(bytes, 2) !== size || length > DATAGRAM_BYTES_MAX) {
      this.counts.malformed++
      return false
    }
    if (!this.#mayPass(bytes, size, sender, binding)) {
      this.counts.foreign++
      return false
    }
    if (!sender.take(now, length)) {
      this.counts.overQuota++
      return false
    }
    // Copying a whole buffer costs less than making a view of its front.
    if (bytes.length <= out.bytes.length) out.bytes.set(bytes)
    else for (let at = 2; at < length; at++) out.bytes[at] = bytes[at]
    writeUint16Be(out.bytes, 0, binding.peerChannel)
    out.to = binding.peer.address
    out.length = length
    this.counts.forwarded++
    this.counts.forwardedBytes += length
    return true
  }

  /**
   * Whether the inner datagram is a Tickwire packet of a handshake or of a connection of this pair. Relay control does
   * not pass: nothing can be sent through a relay to a relay. @hot
   */
  #mayPass(bytes: Uint8Array, size: number, sender: Allocation, binding: Binding): boolean {
    const at = CHANNEL_HEAD_BYTES
    const isOurs = size >= HEADER_BYTES_MIN && bytes[at] === 0x54 && bytes[at + 1] === 0x4b && bytes[at + 2] === 0x57
    const type = bytes[at + 4]
    if (!isOurs || type >= PACKET_TYPE.relayControl) return false
    const idLo = readUint32(bytes, at + 5)
    const idHi = readUint32(bytes, at + 9)
    const isHandshake = type === PACKET_TYPE.handshake || type === PACKET_TYPE.challengeResponse
    if ((idLo | idHi) === 0) return isHandshake
    if (binding.knows(idLo, idHi)) return true
    const back = binding.peer.bindingAt(binding.peerChannel)
    if (back !== undefined && back.peer === sender && back.knows(idLo, idHi)) return true
    // Handshakes have the sequence 0, in one byte, so the kind follows at a fixed place.
    if (type !== PACKET_TYPE.handshake || bytes[at + HEADER_BYTES_MIN] !== HANDSHAKE_ACCEPTED) return false
    binding.learn(idLo, idHi)
    return true
  }

  #handleStun(now: Millis, from: string, bytes: Uint8Array, length: number, out: Transmit): boolean {
    // A peer by WebSocket has no address with a port, which is the answer.
    if (!readStun(bytes, length, this.#stun) || portOf(this.#options.addressOf(from)) === 0) {
      this.counts.malformed++
      return false
    }
    if (this.#stun.method !== STUN_METHOD.binding) return this.#turn.handle(now, from, this.#stun, out)
    if (!this.#gate.mayStun(now, from)) {
      this.counts.limited++
      return false
    }
    out.to = from
    out.length = answerBinding(this.#stun, this.#options.addressOf(from), out.bytes)
    if (out.length > 0) this.counts.stun++
    return out.length > 0
  }
}
