/**
 * One peer: its state, its timers, its packets. It knows that packets hold frames and not what any frame means.
 *
 * In: `handlePacket` (replay window, acks, frames to their sinks). Out: `pollTransmit`, again and again until it says
 * false; it asks the sources in the order they were added, so that order is their priority. Both take `now`; timers
 * are looked at in `pollTransmit`, and `pollTimeout` says when that is next worth while.
 *
 * Invariant: it moves only along edges of `states.ts`, and ends once, with one reason.
 *
 * Seam: packets are sealed between `PacketBuilder.finish` and return, and opened between `ReplayWindow.peek` and
 * `PacketReader.read`, both in place. Until then nothing here is secret and nothing is authenticated.
 *
 * It does not pace, probe the path, or move to a new address of the peer.
 */

import { assert, ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { FRAME_KINDS_MAX, PACKETS_PER_FLUSH_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { AckWindow } from '../delivery/ack-window.ts'
import { ReplayWindow } from '../delivery/replay-window.ts'
import { RttEstimator } from '../delivery/rtt.ts'
import { SentPackets } from '../delivery/sent-packets.ts'
import { AckBlock } from '../packet/ack-block.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../packet/header.ts'
import type { PacketBuilder } from '../packet/packet-builder.ts'
import type { PacketReader } from '../packet/packet-reader.ts'
import { type CloseReason, type LeaveCode, closeReasonFromByte, closeReasonToByte } from './close-reason.ts'
import { writeRequest } from './handshake.ts'
import { type ConnectionState, type ConnectionStep, nextState } from './states.ts'
import { ConnectionStats } from './stats.ts'
import type { ConnectionTimers } from './timers.ts'
import type { Transmit } from './transmit.ts'

/** A source that wants a packet and then has nothing for it is asked again after this, not at once for ever. */
const FLUSH_GAP_MS = 1
const DISCONNECT_COPIES = 3

/** What all connections of one endpoint share, and whom they tell. */
export interface ConnectionContext {
  readonly timers: ConnectionTimers
  readonly entropy: Entropy
  readonly fingerprint: Uint8Array
  /** No packet is longer than this. */
  readonly packetBytesMax: number
  readonly builder: PacketBuilder
  readonly reader: PacketReader
  onOpened(connection: Connection): void
  onClosed(connection: Connection, reason: CloseReason): void
}

/** Whom a connection leads to. */
export interface ConnectionPeer {
  readonly address: string
  /** The id the server gave; 0 while asking for one. */
  readonly idLo: number
  readonly idHi: number
  /** Drawn by whoever asked. */
  readonly saltLo: number
  readonly saltHi: number
  readonly user: Uint8Array
  readonly welcome: Uint8Array
}

/** One peer. Made by an endpoint; handed to `assemble` once, before its first packet. */
export class Connection {
  /** A handle of this endpoint: 1, 2, 3, … never reused. The peer knows it by another name. */
  readonly id: number
  /** Where the peer is, in the transport's words. */
  readonly address: string
  /** We asked; the peer accepted. */
  readonly isInitiator: boolean
  /** What the side that asked said of itself. */
  readonly user: Uint8Array
  /** What the side that accepted answered. Empty until then. */
  welcome: Uint8Array
  readonly stats: ConnectionStats = new ConnectionStats()
  readonly rtt: RttEstimator = new RttEstimator()
  /** The name of this connection on the wire. */
  idLo: number
  idHi: number
  readonly saltLo: number
  readonly saltHi: number
  #context: ConnectionContext
  #state: ConnectionState = 'disconnected'
  #reason: CloseReason | undefined = undefined
  #sources: FrameSource[] = []
  #kinds: Uint8Array = new Uint8Array(FRAME_KINDS_MAX)
  #sinks: (FrameSink | undefined)[] = new Array<FrameSink | undefined>(FRAME_KINDS_MAX).fill(undefined)
  #header: PacketHeader = new PacketHeader()
  #ackBlock: AckBlock = new AckBlock()
  #acks: AckWindow = new AckWindow()
  #replay: ReplayWindow = new ReplayWindow()
  #sent: SentPackets
  #nextSequence: number = 1
  #now: Millis
  #startedAt: Millis
  #lastReceivedAt: Millis
  #lastSentAt: Millis = -Infinity
  #retryAt: Millis = Infinity
  #fillFrom: Millis = -Infinity
  #flushPackets: number = 0
  #closingAt: Millis = Infinity
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
    this.#sent = new SentPackets(this.#sources, this.rtt)
    this.#now = now
    this.#startedAt = now
    this.#lastReceivedAt = now
    if (isInitiator) {
      this.#step('connect')
      this.#retryAt = now
    } else {
      this.#step('admit')
    }
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

  /** Packets delivered and given up, as far as known. */
  get packetsDelivered(): number {
    return this.#sent.deliveredCount
  }

  get packetsLost(): number {
    return this.#sent.lostCount
  }

  /** From now on `source` makes frames of `kind`. Called in `assemble`; earlier ones have priority. */
  addSource(kind: number, source: FrameSource): void {
    checkKind('addSource', kind)
    if (this.#sources.length === FRAME_KINDS_MAX) {
      throw new ConfigError('connection.addSource', `more than ${FRAME_KINDS_MAX} sources`, 'Let one source serve several.')
    }
    this.#kinds[this.#sources.length] = kind
    this.#sources.push(source)
  }

  /** From now on frames of `kind` go to `sink`. Called in `assemble`. */
  addSink(kind: number, sink: FrameSink): void {
    checkKind('addSink', kind)
    if (this.#sinks[kind] !== undefined) {
      throw new ConfigError('connection.addSink', `kind ${kind} already has a sink`, 'Give each kind one sink.')
    }
    this.#sinks[kind] = sink
  }

  /** Ends the connection gracefully: the peer is told. The last event follows within the grace time. */
  close(now: Millis, code: LeaveCode = 'left'): void {
    this.#close(now, 'close', { by: 'local', code })
  }

  /** The transport says that the way to the peer is gone. */
  handlePathClosed(): void {
    if (this.#state === 'disconnected') return
    this.#end({ by: 'network', code: 'path-closed' })
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
    this.#acks.hurry(now)
    this.#retryAt = now + this.#drawRetryMs()
    this.#context.onOpened(this)
  }

  /** The server has said no. */
  handleRejected(reason: CloseReason): void {
    if (this.#state !== 'connecting') {
      this.stats.drops.state++
      return
    }
    this.#reason = reason
    this.#step('rejected')
    this.#context.onClosed(this, reason)
  }

  /** A packet that names this connection. Its bytes are done with on return. @hot */
  handlePacket(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const drops = this.stats.drops
    if (this.#state !== 'connected' && this.#state !== 'disconnecting') drops.state++
    else if (header.epoch !== 0) drops.epoch++
    else if (header.type === PACKET_TYPE.disconnect) this.#handleDisconnect(now, header, bytes, length)
    else if (this.#state === 'disconnecting') drops.state++
    else this.#handleBody(now, header, bytes, length)
  }

  /** Writes the next packet that is due, if any. Call until false. @hot */
  pollTransmit(now: Millis, out: Transmit): boolean {
    this.#now = now
    switch (this.#state) {
      case 'connecting': return this.#pollRequest(now, out)
      case 'connected': return this.#pollPacket(now, out)
      case 'disconnecting': return this.#pollDisconnect(now, out)
      default: return false
    }
  }

  /** When `pollTransmit` next has something to do. */
  pollTimeout(): Millis {
    const timers = this.#context.timers
    switch (this.#state) {
      case 'connecting': return Math.min(this.#retryAt, this.#startedAt + timers.connectMs)
      case 'connected': return Math.min(
        this.#lastReceivedAt + timers.timeoutMs, this.#lastSentAt + timers.keepaliveMs, this.#retryAt,
        this.#acks.dueAt, this.#sent.nextLossAt(), Math.max(this.#wantsAt(this.#now), this.#fillFrom),
      )
      case 'disconnecting': return this.#copiesLeft > 0 ? this.#retryAt : this.#closingAt
      default: return Infinity
    }
  }

  #handleBody(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const { drops } = this.stats
    const freshness = this.#replay.peek(header.sequence)
    if (freshness !== 'new') {
      drops[freshness]++
      return
    }
    const reader = this.#context.reader
    const verdict = reader.read(bytes, header.byteLength, length, this.#sinks)
    const hasFrames = reader.frameCount > 0
    if (verdict === 'unknown-frame') drops.unknownFrame++
    else if (verdict === 'malformed' || hasFrames !== (header.type === PACKET_TYPE.payload)) drops.malformed++
    else if (!this.#sent.isHonest(reader.acks)) drops.dishonestAck++
    else {
      this.#replay.mark(header.sequence)
      this.#hear(now, length)
      this.#sent.handleAck(now, reader.acks)
      const frames = reader.deliver(now, header.sequence, this.#sinks)
      if (frames === 'ok') this.#acks.mark(now, header.sequence, hasFrames)
      else if (frames === 'no-ack') this.stats.packetsNotAcked++
      else this.#close(now, 'close', { by: 'protocol', code: 'broken' })
    }
  }

  #handleDisconnect(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const reason = closeReasonFromByte(bytes[header.byteLength])
    if (reason === undefined || length !== header.byteLength + 1) this.stats.drops.malformed++
    else if (this.#state === 'disconnecting') this.#finish('acknowledged')
    else this.#close(now, 'closed-by-peer', reason)
  }

  #hear(now: Millis, length: number): void {
    this.#step('heard')
    // The first packet of a peer is answered at once: until he hears us he repeats himself.
    if (this.stats.packetsReceived++ === 0) this.#acks.hurry(now)
    this.stats.bytesReceived += length
    this.#lastReceivedAt = now
    this.#retryAt = Infinity
  }

  #pollRequest(now: Millis, out: Transmit): boolean {
    if (now - this.#startedAt >= this.#context.timers.connectMs) {
      this.#end({ by: 'network', code: 'unreachable' })
      return false
    }
    if (now < this.#retryAt) return false
    this.#retryAt = now + this.#drawRetryMs()
    out.length = writeRequest(out.bytes, this.saltLo, this.saltHi, this.#context.fingerprint, this.user)
    return this.#countSent(now, out)
  }

  #pollPacket(now: Millis, out: Transmit): boolean {
    if (now - this.#lastReceivedAt >= this.#context.timers.timeoutMs) {
      this.#end({ by: 'network', code: 'timed-out' })
      return false
    }
    this.#sent.detectLoss(now)
    const isOwed = now >= this.#acks.dueAt || now >= this.#retryAt
      || now - this.#lastSentAt >= this.#context.timers.keepaliveMs
    const isWanted = now >= this.#fillFrom && this.#wantsAt(now) <= now
    if (isWanted && this.#flushPackets === 0) for (const source of this.#sources) source.begin(now)
    if ((isWanted || isOwed) && this.#buildPacket(now, out, isWanted, isOwed)) return true
    this.#flushPackets = 0
    return false
  }

  #buildPacket(now: Millis, out: Transmit, isWanted: boolean, isOwed: boolean): boolean {
    const sequence = this.#nextSequence
    const builder = this.#context.builder
    this.#acks.fill(now, this.#ackBlock)
    builder.begin(out.bytes, this.#writeHeader(out, PACKET_TYPE.keepalive), this.#context.packetBytesMax, this.#ackBlock)
    const sourceSet = isWanted ? builder.fill(now, sequence, this.#sources, this.#kinds) : 0
    this.#flushPackets++
    if ((isWanted && sourceSet === 0) || this.#flushPackets >= PACKETS_PER_FLUSH_MAX) this.#fillFrom = now + FLUSH_GAP_MS
    if (sourceSet === 0 && !isOwed) return false
    if (sourceSet !== 0) this.#writeHeader(out, PACKET_TYPE.payload)
    out.length = builder.finish()
    this.#sent.add(now, sequence, sourceSet)
    this.#nextSequence++
    this.#acks.settle()
    if (this.#retryAt !== Infinity) this.#retryAt = now + this.#drawRetryMs()
    return this.#countSent(now, out)
  }

  #pollDisconnect(now: Millis, out: Transmit): boolean {
    const reason = this.#reason
    assert(reason !== undefined, 'a closing connection knows why')
    if (this.#copiesLeft > 0 && now >= this.#retryAt) {
      this.#copiesLeft--
      this.#retryAt = now + this.#context.timers.graceMs / (DISCONNECT_COPIES + 1)
      const at = this.#writeHeader(out, PACKET_TYPE.disconnect)
      this.#nextSequence++
      out.bytes[at] = closeReasonToByte(reason)
      out.length = at + 1
      return this.#countSent(now, out)
    }
    if (this.#copiesLeft === 0 && now >= this.#closingAt) this.#finish('grace-over')
    return false
  }

  #close(now: Millis, step: 'close' | 'closed-by-peer', reason: CloseReason): void {
    if (this.#state === 'disconnecting' || this.#state === 'disconnected') return
    this.#reason = reason
    this.#step(step)
    if (this.state === 'disconnected') {
      // There was nobody to tell yet.
      this.#context.onClosed(this, reason)
      return
    }
    const isAnswer = step === 'closed-by-peer'
    this.#copiesLeft = isAnswer ? 1 : DISCONNECT_COPIES
    this.#retryAt = now
    this.#closingAt = isAnswer ? now : now + this.#context.timers.graceMs
    this.#sent.abandon(now)
  }

  /** The peer is beyond reach: no goodbye. */
  #end(reason: CloseReason): void {
    const wasClosing = this.#state === 'disconnecting'
    if (wasClosing) {
      this.#finish('grace-over')
      return
    }
    this.#reason = reason
    this.#step('silence')
    this.#sent.abandon(this.#now)
    this.#finish('told')
  }

  #finish(step: ConnectionStep): void {
    this.#step(step)
    assert(this.#reason !== undefined, 'a connection ends with a reason')
    this.#context.onClosed(this, this.#reason)
  }

  #step(step: ConnectionStep): void {
    this.#state = nextState(this.#state, step)
  }

  #wantsAt(now: Millis): Millis {
    let earliest = Infinity
    for (let index = 0; index < this.#sources.length; index++) {
      const at = this.#sources[index].wantsAt(now)
      if (at < earliest) earliest = at
    }
    return earliest
  }

  #writeHeader(out: Transmit, type: number): number {
    const header = this.#header
    header.type = type
    header.idLo = this.idLo
    header.idHi = this.idHi
    header.sequence = this.#nextSequence
    return writeHeader(header, out.bytes)
  }

  #countSent(now: Millis, out: Transmit): true {
    out.to = this.address
    this.#lastSentAt = now
    this.stats.packetsSent++
    this.stats.bytesSent += out.length
    return true
  }

  #drawRetryMs(): Millis {
    const { retryMsMin, retryMsMax } = this.#context.timers
    this.#context.entropy.fill(dice)
    return retryMsMin + ((retryMsMax - retryMsMin) * dice[0]) / 255
  }
}

const dice = new Uint8Array(1)

function checkKind(call: string, kind: number): void {
  if (Number.isInteger(kind) && kind >= 0 && kind < FRAME_KINDS_MAX) return
  throw new ConfigError(`connection.${call}`, `frame kind ${kind}`, `Kinds are 0 to ${FRAME_KINDS_MAX - 1}.`)
}
