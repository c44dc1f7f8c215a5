/**
 * One peer: its state and its timers, from the first knock to the last goodbye.
 *
 * Bytes come in by `handle*` and go out by `pollTransmit`, again and again until it says false. Both take `now`;
 * timers are looked at in `pollTransmit`, and `pollTimeout` says when that is next worth while. What an open
 * connection carries is `packet-flow.ts`.
 *
 * Invariant: it moves only along edges of `states.ts`, and ends once, with one reason.
 *
 * It does not know any frame, does not move to a new address of its peer, and does not decide who is let in.
 */

import { assert } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import type { CongestionController } from '../delivery/congestion/controller.ts'
import { RttEstimator } from '../delivery/rtt.ts'
import { SendGate } from '../delivery/send-gate.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../packet/header.ts'
import type { PacketBuilder } from '../packet/packet-builder.ts'
import type { PacketReader } from '../packet/packet-reader.ts'
import { type CloseReason, type LeaveCode, closeReasonFromByte, closeReasonToByte } from './close-reason.ts'
import { writeRequest } from './handshake.ts'
import { PacketFlow } from './packet-flow.ts'
import { type ConnectionState, type ConnectionStep, nextState } from './states.ts'
import { ConnectionStats } from './stats.ts'
import type { ConnectionTimers } from './timers.ts'
import type { Transmit } from './transmit.ts'

/** A goodbye is said this often, spread over the grace time: a burst of loss must not swallow all of them. */
const DISCONNECT_COPIES = 3
const BROKEN: CloseReason = { by: 'protocol', code: 'broken' }

/** What all connections of one endpoint share, and whom they tell. */
export interface ConnectionContext {
  readonly timers: ConnectionTimers
  readonly entropy: Entropy
  readonly fingerprint: Uint8Array
  /** No packet is longer than this. */
  readonly packetBytesMax: number
  readonly congestion: () => CongestionController
  readonly builder: PacketBuilder
  readonly reader: PacketReader
  onOpened(connection: Connection): void
  onClosed(connection: Connection, reason: CloseReason): void
}

/** Whom a connection leads to. */
export interface ConnectionPeer {
  readonly address: string
  /** The id the server gave, low and high half; 0 while asking for one. */
  readonly idLo: number
  readonly idHi: number
  /** Drawn by whoever asked. */
  readonly saltLo: number
  readonly saltHi: number
  readonly user: Uint8Array
  readonly welcome: Uint8Array
}

/** One peer. Made by an endpoint; handed to `assemble` once, before its first packet. */
export class Connection implements ConnectionPeer {
  /** A handle of this endpoint: 1, 2, 3, … never reused. On the wire the connection has another name. */
  readonly id: number
  /** Where the peer is, in the transport's words. */
  readonly address: string
  /** We asked; the peer accepted. */
  readonly isInitiator: boolean
  /** What the side that asked said of itself. */
  readonly user: Uint8Array
  /** What the side that accepted answered. Empty until then. */
  welcome: Uint8Array
  idLo: number
  idHi: number
  readonly saltLo: number
  readonly saltHi: number
  readonly stats: ConnectionStats = new ConnectionStats()
  readonly rtt: RttEstimator = new RttEstimator()
  /** How much may be sent. */
  readonly gate: SendGate
  #context: ConnectionContext
  #flow: PacketFlow
  #header: PacketHeader = new PacketHeader()
  #state: ConnectionState = 'disconnected'
  #reason: CloseReason | undefined = undefined
  #now: Millis
  #startedAt: Millis
  #lastReceivedAt: Millis
  #lastSentAt: Millis = -Infinity
  /** When to repeat what has had no answer: a request, the first packet, a goodbye. */
  #retryAt: Millis
  #graceEndsAt: Millis = Infinity
  #copiesLeft: number = 0

  constructor(now: Millis, id: number, isInitiator: boolean, peer: ConnectionPeer, context: ConnectionContext) {
    this.id = id
    this.address = peer.address
    this.isInitiator = isInitiator
    this.user = peer.user
    this.welcome = peer.welcome
    this.idLo = peer.idLo
    this.idHi = peer.idHi
    this.saltLo = peer.saltLo
    this.saltHi = peer.saltHi
    this.#context = context
    this.gate = new SendGate(context.congestion())
    this.#flow = new PacketFlow(context.builder, context.reader, context.packetBytesMax, this.rtt, this.stats, this.gate)
    this.#now = now
    this.#startedAt = now
    this.#lastReceivedAt = now
    this.#retryAt = isInitiator ? now : Infinity
    this.#step(isInitiator ? 'connect' : 'admit')
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Frames travel both ways. */
  get isOpen(): boolean {
    return this.#state === 'connected'
  }

  /** Why it ended or is ending. */
  get closeReason(): CloseReason | undefined {
    return this.#reason
  }

  /** From now on `source` makes frames of `kind`. Called in `assemble`; what is added first has priority. */
  addSource(kind: number, source: FrameSource): void {
    this.#flow.addSource(kind, source)
  }

  /** From now on frames of `kind` go to `sink`. Called in `assemble`. */
  addSink(kind: number, sink: FrameSink): void {
    this.#flow.addSink(kind, sink)
  }

  /** Ends the connection gracefully: the peer is told. `closed` follows within the grace time. */
  close(now: Millis, code: LeaveCode = 'left'): void {
    this.#close(now, 'close', { by: 'local', code })
  }

  /** The server has said yes. */
  handleAccepted(now: Millis, idLo: number, idHi: number, welcome: Uint8Array): void {
    if (this.#state !== 'connecting') {
      this.stats.drops.state++
      return
    }
    this.idLo = idLo
    this.idHi = idHi
    this.welcome = welcome
    this.#lastReceivedAt = now
    this.#step('accepted')
    // Our first packet proves our address: it goes at once, and again until the server is heard.
    this.#retryAt = now
    this.#context.onOpened(this)
  }

  /** The server has said no. */
  handleRejected(reason: CloseReason): void {
    if (this.#state !== 'connecting') {
      this.stats.drops.state++
      return
    }
    this.#reason = reason
    this.#finish('rejected')
  }

  /** A packet that names this connection. Its bytes are done with on return. @hot */
  handlePacket(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const drops = this.stats.drops
    const isDisconnect = header.type === PACKET_TYPE.disconnect
    if (this.#state !== 'connected' && !(isDisconnect && this.#state === 'disconnecting')) drops.state++
    else if (header.epoch !== 0) drops.epoch++
    else if (isDisconnect) this.#handleDisconnect(now, header, bytes, length)
    else {
      const verdict = this.#flow.handle(now, header, bytes, length)
      // A sink may have closed us while it looked at its frame.
      if (verdict !== 'dropped' && this.isOpen) this.#hear(now, length)
      if (verdict === 'broken') this.#close(now, 'close', BROKEN)
    }
  }

  /** The transport says that the way to the peer is gone. */
  handlePathClosed(): void {
    if (this.#state === 'disconnecting') this.#finish('grace-over')
    else if (this.#state !== 'disconnected') this.#lose('path-closed')
  }

  /** Writes the next packet that is due, if any. Call until false. @hot */
  pollTransmit(now: Millis, out: Transmit): boolean {
    this.#now = now
    const isWritten = this.#state === 'connected' ? this.#pollPacket(now, out)
      : this.#state === 'connecting' ? this.#pollRequest(now, out)
      : this.#state === 'disconnecting' ? this.#pollDisconnect(now, out)
      : false
    if (!isWritten) return false
    out.to = this.address
    this.#lastSentAt = now
    this.stats.packetsSent++
    this.stats.bytesSent += out.length
    return true
  }

  /** When `pollTransmit` next has something to do: the very sums it compares with, or rounding would make it spin. */
  pollTimeout(): Millis {
    const { connectMs, timeoutMs, keepaliveMs } = this.#context.timers
    switch (this.#state) {
      case 'connecting': return Math.min(this.#retryAt, this.#startedAt + connectMs)
      case 'connected': return Math.min(
        this.#retryAt, this.#lastSentAt + keepaliveMs, this.#lastReceivedAt + timeoutMs, this.#flow.pollTimeout(this.#now),
      )
      case 'disconnecting': return this.#copiesLeft > 0 ? this.#retryAt : this.#graceEndsAt
      default: return Infinity
    }
  }

  #hear(now: Millis, length: number): void {
    this.#step('heard')
    // The first packet of a peer is answered at once: until he hears us he repeats himself.
    if (this.stats.packetsReceived++ === 0) this.#flow.hurry(now)
    this.stats.bytesReceived += length
    this.#lastReceivedAt = now
    this.#retryAt = Infinity
  }

  #handleDisconnect(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const reason = length === header.byteLength + 1 ? closeReasonFromByte(bytes[header.byteLength]) : undefined
    if (reason === undefined) this.stats.drops.malformed++
    else if (this.#state === 'disconnecting') this.#finish('acknowledged')
    else this.#close(now, 'closed-by-peer', reason)
  }

  #pollRequest(now: Millis, out: Transmit): boolean {
    if (now >= this.#startedAt + this.#context.timers.connectMs) {
      this.#lose('unreachable')
      return false
    }
    if (now < this.#retryAt) return false
    this.#retryAt = now + this.#drawRetryMs()
    out.length = writeRequest(out.bytes, this.saltLo, this.saltHi, this.#context.fingerprint, this.user)
    return true
  }

  #pollPacket(now: Millis, out: Transmit): boolean {
    const { timeoutMs, keepaliveMs } = this.#context.timers
    if (now >= this.#lastReceivedAt + timeoutMs) {
      this.#lose('timed-out')
      return false
    }
    const isOwed = now >= this.#retryAt || now >= this.#lastSentAt + keepaliveMs
    if (!this.#flow.poll(now, this.#name(), isOwed, out)) return false
    if (this.#retryAt !== Infinity) this.#retryAt = now + this.#drawRetryMs()
    return true
  }

  #pollDisconnect(now: Millis, out: Transmit): boolean {
    if (this.#copiesLeft === 0) {
      if (now >= this.#graceEndsAt) this.#finish('grace-over')
      return false
    }
    if (now < this.#retryAt) return false
    assert(this.#reason !== undefined, 'a closing connection knows why')
    this.#copiesLeft--
    this.#retryAt = now + this.#context.timers.graceMs / (DISCONNECT_COPIES + 1)
    const header = this.#name()
    header.type = PACKET_TYPE.disconnect
    header.sequence = this.#flow.takeSequence()
    const at = writeHeader(header, out.bytes)
    out.bytes[at] = closeReasonToByte(this.#reason)
    out.length = at + 1
    return true
  }

  #close(now: Millis, step: 'close' | 'closed-by-peer', reason: CloseReason): void {
    if (this.#state === 'disconnecting' || this.#state === 'disconnected') return
    this.#reason = reason
    if (this.#state !== 'connected') {
      // There is nobody yet to say goodbye to.
      this.#finish('close')
      return
    }
    this.#step(step)
    this.#flow.abandon(now)
    // An answer to a goodbye is said once, and waits for nothing.
    const isAnswer = step === 'closed-by-peer'
    this.#copiesLeft = isAnswer ? 1 : DISCONNECT_COPIES
    this.#retryAt = now
    this.#graceEndsAt = isAnswer ? now : now + this.#context.timers.graceMs
  }

  /** The peer is beyond reach: no goodbye. */
  #lose(code: 'unreachable' | 'timed-out' | 'path-closed'): void {
    this.#reason = { by: 'network', code }
    this.#step('silence')
    this.#flow.abandon(this.#now)
    this.#finish('told')
  }

  #finish(step: ConnectionStep): void {
    this.#step(step)
    assert(this.#reason !== undefined && this.#state === 'disconnected', 'a connection ends with a reason')
    this.#context.onClosed(this, this.#reason)
  }

  #step(step: ConnectionStep): void {
    this.#state = nextState(this.#state, step)
  }

  /** The header of our packets, but for type and sequence. */
  #name(): PacketHeader {
    this.#header.idLo = this.idLo
    this.#header.idHi = this.idHi
    return this.#header
  }

  #drawRetryMs(): Millis {
    const { retryMsMin, retryMsMax } = this.#context.timers
    this.#context.entropy.fill(dice)
    return retryMsMin + ((retryMsMax - retryMsMin) * dice[0]) / 255
  }
}

const dice = new Uint8Array(1)
