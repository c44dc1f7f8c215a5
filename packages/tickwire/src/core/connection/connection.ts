/**
 * A connection to one peer: its state and its timers, from the first request to the last Disconnect.
 *
 * Bytes come in through `handle*` and go out through `pollTransmit`, which is called until it returns false. Both take
 * `now`. Timers are checked in `pollTransmit`, and `updateTimeout` computes when it is next due. The packets of an open
 * connection are handled by `packet-flow.ts`, its beginning by `opening.ts`, its end by `farewell.ts`.
 * Invariant: it moves only along edges of `states.ts`, and ends once, with one reason.
 * A server cannot change its address. A client that we accepted can, once the new address is validated
 * (`path-check.ts`). This file knows only control frames, and does not decide which clients are admitted.
 */

import { assert } from '../base/assert.ts'
import type { Millis } from '../base/time.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { Rekey } from '../crypto/rekey.ts'
import { InboundLimit } from '../delivery/inbound-limit.ts'
import { RttEstimator } from '../delivery/rtt.ts'
import { SendGate } from '../delivery/send-gate.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { PACKET_TYPE, type PacketHeader } from '../packet/header.ts'
import type { PacketWatch } from '../packet/packet-watch.ts'
import {
  type CloseReason, type LeaveCode, type RuleCode, closedHere, closeReasonFromByte, closeReasonToByte,
} from './close-reason.ts'
import type { ConnectionContext, ConnectionPeer, ConnectionSecurity } from './connection-peer.ts'
import { Control } from './control.ts'
import { Farewell } from './farewell.ts'
import type { HandshakeMessage } from './handshake.ts'
import { Heartbeat } from './heartbeat.ts'
import { Opening } from './opening.ts'
import { PacketFlow } from './packet-flow.ts'
import { PathCheck } from './path-check.ts'
import { type ConnectionState, type ConnectionTrigger, nextState } from './states.ts'
import { ConnectionStats } from './stats.ts'
import type { ConnectionTimers } from './timers.ts'
import type { Transmit } from './transmit.ts'

const DISCONNECT = PACKET_TYPE.disconnect
const BROKEN: CloseReason = { by: 'protocol', code: 'broken' }
const FLOODING: CloseReason = { by: 'protocol', code: 'flooding' }

/** A connection to one peer. Created by an endpoint; passed to `assemble` once, before its first packet. */
export class Connection {
  /** A handle within this endpoint: 1, 2, 3, … never reused. Different from the connection id on the wire. */
  readonly id: number
  /** The peer's address, in the transport's format. Changes when the peer moves. */
  address: string
  /** The local side sent the request; the peer accepted. */
  readonly isInitiator: boolean
  /** User bytes from the initiating side. */
  readonly user: Uint8Array
  /** Welcome bytes from the accepting side. Empty until accepted. */
  welcome: Uint8Array
  /** The low 32 bits of the connection id on the wire. */
  idLo: number
  /** The high 32 bits of the connection id on the wire. */
  idHi: number
  /** The client's public key of this connection. */
  readonly clientKey: Uint8Array
  /** How the server was authenticated, and which cipher is used. */
  readonly security: ConnectionSecurity
  /** Counters of packets, bytes and errors. */
  readonly stats: ConnectionStats = new ConnectionStats()
  /** Estimates of the round trip, in ms. */
  readonly rtt: RttEstimator
  /** Limits how much may be sent. */
  readonly gate: SendGate
  /** Index of this connection in the endpoint's arrays. */
  place: number = 0
  /** Result of `updateTimeout`. In a typed array, because a returned double is boxed. */
  readonly timeout: Float64Array = new Float64Array(1)
  #context: ConnectionContext
  /** Must be called when a source may need a packet earlier than it last said: see `FrameSource.attach`. */
  readonly wake: () => void
  #flow: PacketFlow
  #control: Control = new Control()
  #path: PathCheck = new PathCheck()
  #opening: Opening
  #ring: KeyRing | undefined = undefined
  #newestSequence: number = 0
  /** The longest datagram that the peer accepts, if it is known. */
  #peerBytesMax: number = Infinity
  #state: ConnectionState = 'disconnected'
  #reason: CloseReason | undefined = undefined
  #now: Millis
  #heartbeat: Heartbeat
  #farewell: Farewell = new Farewell()

  constructor(now: Millis, id: number, isInitiator: boolean, peer: ConnectionPeer, context: ConnectionContext) {
    this.id = id
    this.address = peer.address
    this.isInitiator = isInitiator
    this.user = peer.user
    this.welcome = peer.welcome
    this.idLo = peer.idLo
    this.idHi = peer.idHi
    this.clientKey = peer.clientKey
    this.security = { suite: peer.suite, identity: 'unverified' }
    this.#context = context
    this.rtt = new RttEstimator(context.timers)
    this.wake = () => context.onWake(this)
    this.gate = new SendGate(context.congestion(), context.tickRate)
    // A server may send as much as it needs to: it has a whole world to send.
    const inbound = new InboundLimit(isInitiator ? Infinity : context.peerPacketsPerSecond)
    const { builder, reader } = context
    this.#flow = new PacketFlow(builder, reader, this.rtt, this.stats, this.gate, this.#control, inbound)
    this.#now = now
    this.#heartbeat = new Heartbeat(now, context.timers, isInitiator)
    this.#opening = new Opening(now, 'role' in peer.keys ? undefined : peer.keys, context)
    if ('role' in peer.keys) this.#secure(peer.keys)
    this.#transition(isInitiator ? 'connect' : 'admit')
  }

  /** The state of the connection. */
  get state(): ConnectionState { return this.#state }
  /** Its timeouts, in ms. */
  get timers(): ConnectionTimers { return this.#context.timers }
  /** How often its keys were replaced. */
  get keyEpoch(): number { return this.#ring?.newestEpoch ?? 0 }
  /** Frames can be sent and received. */
  get isOpen(): boolean { return this.#state === 'connected' }
  /** The connection must be polled at every flush, whatever `timeout` is. */
  get isRestless(): boolean { return this.#flow.isRestless }
  /** Receives a decrypted copy of every packet, for inspection. Undefined removes it. */
  set watch(watch: PacketWatch | undefined) { this.#flow.watch = watch }

  /** Why it ended or is ending. */
  get closeReason(): CloseReason | undefined { return this.#reason }

  /** Adds a source of frames of `kind`. Call it in `assemble`. Earlier ones go first; adjacent ones share by weight. */
  addSource(kind: number, source: FrameSource, weight: number = 0): void {
    this.#flow.addSource(kind, source, weight, this.wake)
  }

  /** From now on sources of frames of kind `from` make frames of kind `to`. */
  changeKind(from: number, to: number): void { this.#flow.changeKind(from, to) }

  /** Adds the sink of frames of `kind`. Call it in `assemble`. */
  addSink(kind: number, sink: FrameSink): void {
    this.#flow.addSink(kind, sink)
  }

  /** Ends the connection gracefully and notifies the peer. `closed` follows within the grace period. */
  close(now: Millis, code: LeaveCode | RuleCode = 'left'): void {
    this.#close(now, 'close', closedHere(code))
  }

  /** Whether this connection sent a request with this salt. */
  hasAsked(saltLo: number, saltHi: number): boolean {
    return this.#opening.hasAsked(saltLo, saltHi)
  }

  /** The server has answered the request with a challenge. */
  handleChallenge(now: Millis, message: HandshakeMessage): void {
    if (!this.#isAsking()) this.stats.drops.state++
    else if (!this.#opening.handleChallenge(now, message)) this.stats.drops.handshake++
    else this.#transition('challenged')
  }

  /** The server has accepted the client, if the packet decrypts. */
  handleAccepted(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): void {
    const session =
      this.#state === 'handshake' ? this.#opening.handleAccepted(now, header, message, bytes, length) : undefined
    if (session === undefined) {
      this.stats.drops.handshake++
      return
    }
    this.idLo = header.idLo
    this.idHi = header.idHi
    this.welcome = session.welcome
    this.security.suite = session.suite.name
    this.security.identity = session.isVerified ? 'verified' : 'unverified'
    this.#peerBytesMax = session.datagramBytesMax
    this.#secure(session.ring)
    this.#heartbeat.onReceived(now)
    this.#transition('accepted')
    this.#context.onOpened(this)
  }

  /** The server has refused the client in a sealed packet. */
  handleRefused(now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number): void {
    const reason =
      this.#state === 'handshake' ? this.#opening.handleRefused(now, header, message, bytes, length) : undefined
    if (reason === undefined) this.stats.drops.handshake++
    else this.#reject(reason)
  }

  /** An unsealed packet says that the server has a different protocol version. */
  handleRejected(reason: CloseReason): void {
    // After a challenge the server is known to have the same version, so this packet is forged.
    if (this.#state !== 'connecting') this.stats.drops.state++
    else this.#reject(reason)
  }

  /** The server no longer knows this connection, if `token` is the reset token that it gave. */
  handleReset(token: Uint8Array): void {
    if (!this.#opening.isResetToken(token) || (this.#state !== 'connected' && this.#state !== 'disconnecting')) {
      this.stats.drops.reset++
      return
    }
    // A connection that is already closing keeps its own reason.
    this.#reason ??= { by: 'network', code: 'reset' }
    this.#flow.abandon(this.#now)
    this.#finish('reset')
  }

  /** A packet with this connection's id. The caller may reuse `bytes` on return. @hot */
  handlePacket(now: Millis, from: string, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const isDisconnect = header.type === DISCONNECT
    const isOpen = this.#state === 'connected' || (isDisconnect && this.#state === 'disconnecting')
    const verdict = isOpen ? this.#flow.open(now, header, bytes, length) : 'dropped'
    if (!isOpen) this.stats.drops.state++
    else if (verdict === 'ok') this.handleOpened(now, from, header, bytes, length)
    else if (verdict === 'flooding') this.#close(now, 'close', FLOODING)
  }

  /** A packet of this connection that was decrypted in place. @hot */
  handleOpened(now: Millis, from: string, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const isNewest = header.sequence > this.#newestSequence
    if (isNewest) this.#newestSequence = header.sequence
    if (header.type === DISCONNECT) {
      this.#handleDisconnect(now, header, bytes, length)
      return
    }
    const verdict = this.#flow.absorb(now, header, bytes, length)
    // A sink may have closed the connection while it processed its frame.
    if (verdict !== 'dropped' && this.isOpen) this.#handleOpened(now, from, length, isNewest)
    if (verdict === 'broken') this.#close(now, 'close', BROKEN)
  }

  /** The transport reports that the path to the peer is closed. */
  handlePathClosed(): void {
    if (this.#state === 'disconnecting') this.#finish('grace-over')
    else if (this.#state !== 'disconnected') this.#lose('path-closed')
  }

  /** Writes the next packet that is due, if any. Call until false. @hot */
  pollTransmit(now: Millis, out: Transmit): boolean {
    this.#now = now
    const isWritten = this.#state === 'connected' ? this.#pollPacket(now, out)
      : this.#state === 'disconnecting' ? this.#pollDisconnect(now, out)
      : this.#isAsking() && this.#pollOpening(now, out)
    if (!isWritten || out.length === 0) return false
    if (this.#state !== 'connected') out.to = this.address
    this.#heartbeat.onSent(now)
    this.stats.packetsSent++
    this.stats.bytesSent += out.length
    return true
  }

  /** When `pollTransmit` is next due: exactly the sums that it compares with, or rounding would make it spin. @hot */
  updateTimeout(now: Millis): void {
    const { timeout } = this
    if (this.#state === 'connected') {
      this.#flow.updateTimeout(now)
      timeout[0] = Math.min(this.#opening.retryAt, this.#flow.timeout[0])
      this.#heartbeat.lower(timeout)
      this.#path.lower(timeout)
      this.#control.rekey?.lower(timeout)
    } else if (this.#isAsking()) timeout[0] = this.#opening.nextAt
    else timeout[0] = this.#state === 'disconnecting' ? this.#farewell.nextAt : Infinity
  }

  #isAsking(): boolean {
    return this.#state === 'connecting' || this.#state === 'handshake'
  }

  #secure(ring: KeyRing): void {
    this.#ring = ring
    this.#flow.secure(ring, this.idLo, this.idHi)
    this.#control.rekey = new Rekey(ring, this.#context.provider, this.#context.entropy)
  }

  #handleOpened(now: Millis, from: string, length: number, isNewest: boolean): void {
    this.#transition('received')
    // A path reply counts only for the packet that carried it, not for a later packet.
    const isReply = this.#control.takeReply(this.#path.nonce)
    if (from !== this.address) this.#handleElsewhere(now, from, length, isNewest, isReply)
    // The first packet of a peer is answered at once: the peer repeats itself until it receives an answer.
    if (this.stats.packetsReceived++ === 0) {
      this.#flow.hurry(now)
      this.gate.mtu.start(now, Math.min(this.#context.packetBytesMax, this.#peerBytesMax))
    }
    this.stats.bytesReceived += length
    if (isNewest) this.#heartbeat.onReceived(now)
    this.#opening.retryAt = Infinity
  }

  /** The peer has moved, or its packets are relayed: the connection moves after a path reply from the new address. */
  #handleElsewhere(now: Millis, from: string, length: number, isNewest: boolean, isReply: boolean): void {
    if (!isReply || from !== this.#path.address) {
      this.#path.onPacket(now, from, length, isNewest, this.#context.entropy)
      return
    }
    this.#transition('moved')
    this.#path.clear()
    this.address = from
    this.stats.pathMoves++
    // The measurements belong to the old path.
    this.rtt.reset()
    this.gate.reset(now)
    this.#flow.hurry(now)
  }

  #handleDisconnect(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const reason =
      length === header.byteLength + 1 + CRYPTO_BYTES.tag ? closeReasonFromByte(bytes[header.byteLength]) : undefined
    if (reason === undefined) this.stats.drops.malformed++
    else if (this.#state === 'disconnecting') this.#finish('acknowledged')
    else this.#close(now, 'closed-by-peer', reason)
  }

  #pollOpening(now: Millis, out: Transmit): boolean {
    if (!this.#opening.isOver(now)) return this.#opening.poll(now, out)
    if (this.#opening.hasMetImpostor) this.#reject({ by: 'protocol', code: 'identity' })
    else this.#lose('unreachable')
    return false
  }

  #pollPacket(now: Millis, out: Transmit): boolean {
    if (this.#heartbeat.isGone(now)) {
      this.#lose('timed-out')
      return false
    }
    if (this.#control.poll(now) === 'broken' || this.#ring?.isWornOut === true) {
      this.#close(now, 'close', BROKEN)
      return this.#pollDisconnect(now, out)
    }
    if (this.#path.isDue(now)) {
      out.to = this.#path.address
      this.#flow.buildPathCheck(now, this.#path, out)
      return true
    }
    out.to = this.address
    const isOwed = now >= this.#opening.retryAt || this.#heartbeat.isOwed(now)
    if (!this.#flow.poll(now, isOwed, out)) return false
    if (this.#opening.retryAt !== Infinity) this.#opening.onRepeated(now)
    return true
  }

  #pollDisconnect(now: Millis, out: Transmit): boolean {
    if (this.#farewell.isOver(now)) this.#finish('grace-over')
    else if (this.#farewell.take(now)) {
      assert(this.#reason !== undefined, 'a closing connection knows why')
      this.#flow.buildDisconnect(closeReasonToByte(this.#reason), out)
      return true
    }
    return false
  }

  #close(now: Millis, trigger: 'close' | 'closed-by-peer', reason: CloseReason): void {
    this.wake()
    if (this.#state === 'disconnecting' || this.#state === 'disconnected') return
    this.#reason = reason
    if (this.#state !== 'connected') {
      // There is no peer to notify yet.
      this.#finish('close')
      return
    }
    this.#transition(trigger)
    this.#flow.abandon(now)
    this.#farewell.begin(now, trigger === 'closed-by-peer', this.#context.timers.graceMs)
  }

  #reject(reason: CloseReason): void {
    this.#reason = reason
    this.#finish('rejected')
  }

  /** The peer is unreachable: no Disconnect is sent. */
  #lose(code: 'unreachable' | 'timed-out' | 'path-closed'): void {
    this.#reason = { by: 'network', code }
    this.#transition('silence')
    this.#flow.abandon(this.#now)
    this.#finish('reported')
  }

  #finish(trigger: ConnectionTrigger): void {
    this.#transition(trigger)
    assert(this.#reason !== undefined && this.#state === 'disconnected', 'a connection ends with a reason')
    this.#opening.wipe()
    this.#control.rekey?.wipe()
    this.#ring?.wipe()
    this.wake()
    this.#context.onClosed(this, this.#reason)
  }

  #transition(trigger: ConnectionTrigger): void {
    this.#state = nextState(this.#state, trigger)
  }
}
