/**
 * One peer: its state and its timers, from the first knock to the last goodbye.
 *
 * Bytes come in by `handle*` and go out by `pollTransmit`, again and again until it says false. Both take `now`;
 * timers are looked at in `pollTransmit`, and `updateTimeout` says when that is next worth while. What an open
 * connection carries is `packet-flow.ts`.
 *
 * Invariant: it moves only along edges of `states.ts`, and ends once, with one reason.
 *
 * A peer that accepted us cannot change its address; one that we accepted can, once the new one is checked
 * (`path-check.ts`). It does not know any frame but its own, and does not decide who is let in.
 */

import { assert } from '../base/assert.ts'
import type { Millis } from '../base/time.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { KeyRing } from '../crypto/key-ring.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { Rekey } from '../crypto/rekey.ts'
import { InboundLimit } from '../delivery/inbound-limit.ts'
import { RttEstimator } from '../delivery/rtt.ts'
import { SendGate } from '../delivery/send-gate.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { PACKET_TYPE, type PacketHeader } from '../packet/header.ts'
import type { PacketWatch } from '../packet/packet-watch.ts'
import { type CloseReason, type LeaveCode, closeReasonFromByte, closeReasonToByte } from './close-reason.ts'
import type { ClientHandshake } from './client-handshake.ts'
import type { ConnectionContext, ConnectionPeer, ConnectionSecurity } from './connection-peer.ts'
import { Control } from './control.ts'
import { Farewell } from './farewell.ts'
import type { HandshakeMessage } from './handshake.ts'
import { Heartbeat } from './heartbeat.ts'
import { PathCheck } from './path-check.ts'
import { PacketFlow } from './packet-flow.ts'
import { type ConnectionState, type ConnectionStep, nextState } from './states.ts'
import { ConnectionStats } from './stats.ts'
import { drawRetryMs } from './timers.ts'
import type { Transmit } from './transmit.ts'

const DISCONNECT = PACKET_TYPE.disconnect
const BROKEN: CloseReason = { by: 'protocol', code: 'broken' }
const FLOODING: CloseReason = { by: 'protocol', code: 'flooding' }

/** One peer. Made by an endpoint; handed to `assemble` once, before its first packet. */
export class Connection {
  /** A handle of this endpoint: 1, 2, 3, … never reused. On the wire the connection has another name. */
  readonly id: number
  /** Where the peer is, in the transport's words. Changes when he moves. */
  address: string
  /** We asked; the peer accepted. */
  readonly isInitiator: boolean
  /** What the side that asked said of itself. */
  readonly user: Uint8Array
  /** What the side that accepted answered. Empty until then. */
  welcome: Uint8Array
  idLo: number
  idHi: number
  readonly clientKey: Uint8Array
  readonly security: ConnectionSecurity
  readonly stats: ConnectionStats = new ConnectionStats()
  readonly rtt: RttEstimator = new RttEstimator()
  /** How much may be sent. */
  readonly gate: SendGate
  /** Its place among its endpoint's: where the endpoint keeps when to ask it. */
  place: number = 0
  /** As of `updateTimeout`: in a cell, for a double that is returned is boxed. */
  readonly timeout: Float64Array = new Float64Array(1)
  #context: ConnectionContext
  /** To be called when a source may want a packet earlier than it last said: see `FrameSource.attach`. */
  readonly wake: () => void
  #flow: PacketFlow
  #control: Control = new Control()
  #path: PathCheck = new PathCheck()
  /** What we ask with, and what we were promised a reset would show. Only of the side that asked. */
  #handshake: ClientHandshake | undefined = undefined
  #resetToken: Uint8Array | undefined = undefined
  #ring: KeyRing | undefined = undefined
  #newestSequence: number = 0
  /** The longest datagram that the peer takes, as far as it said. */
  #peerBytesMax: number = Infinity
  #state: ConnectionState = 'disconnected'
  #reason: CloseReason | undefined = undefined
  #now: Millis
  #startedAt: Millis
  #heartbeat: Heartbeat
  /** When to repeat what has had no answer: a request, the first packet. */
  #retryAt: Millis
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
    this.security = { suite: peer.suite, isServerVerified: false }
    this.#context = context
    this.wake = () => context.onWake(this)
    this.gate = new SendGate(context.congestion(), context.tickRate)
    // Whom we asked we trust to say much: a server has a world to tell.
    const inbound = new InboundLimit(isInitiator ? Infinity : context.peerPacketsPerSecond)
    this.#flow = new PacketFlow(context.builder, context.reader, this.rtt, this.stats, this.gate, this.#control, inbound)
    this.#now = now
    this.#startedAt = now
    this.#heartbeat = new Heartbeat(now, context.timers, isInitiator)
    this.#retryAt = isInitiator ? now : Infinity
    if ('role' in peer.keys) this.#secure(peer.keys)
    else this.#handshake = peer.keys
    this.#step(isInitiator ? 'connect' : 'admit')
  }

  get state(): ConnectionState { return this.#state }
  /** How often its keys were replaced. */
  get keyEpoch(): number { return this.#ring?.newestEpoch ?? 0 }
  /** Frames travel both ways. */
  get isOpen(): boolean { return this.#state === 'connected' }
  /** It must be asked at every flush, whatever it says. */
  get isRestless(): boolean { return this.#flow.isRestless }
  /** Shows every packet in the clear to somebody who looks on; undefined ends it. */
  set watch(watch: PacketWatch | undefined) { this.#flow.watch = watch }

  /** Why it ended or is ending. */
  get closeReason(): CloseReason | undefined { return this.#reason }

  /** From now on `source` makes frames of `kind`. Called in `assemble`; what is added first goes first, but neighbours with weights share. */
  addSource(kind: number, source: FrameSource, weight: number = 0): void {
    this.#flow.addSource(kind, source, weight, this.wake)
  }

  /** From now on sources that made frames of the kind `from` make frames of the kind `to`. */
  changeKind(from: number, to: number): void { this.#flow.changeKind(from, to) }

  /** From now on frames of `kind` go to `sink`. Called in `assemble`. */
  addSink(kind: number, sink: FrameSink): void {
    this.#flow.addSink(kind, sink)
  }

  /** Ends the connection gracefully: the peer is told. `closed` follows within the grace time. */
  close(now: Millis, code: LeaveCode = 'left'): void {
    this.#close(now, 'close', { by: 'local', code })
  }

  /** Whether an answer with this salt answers us. */
  hasAsked(saltLo: number, saltHi: number): boolean {
    return this.#handshake?.saltLo === saltLo && this.#handshake.saltHi === saltHi
  }

  /** The server has answered our request: now there are keys. */
  handleChallenge(now: Millis, message: HandshakeMessage): void {
    if (!this.#isAsking() || this.#handshake === undefined) this.stats.drops.state++
    else if (!this.#handshake.handleChallenge(now, message)) this.stats.drops.handshake++
    else {
      this.#step('challenged')
      this.#retryAt = now
    }
  }

  /** The server has said yes, if it opens. */
  handleAccepted(now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number): void {
    const session = this.#state === 'handshake' ? this.#handshake?.handleAccepted(now, header, message, bytes, length) : undefined
    if (session === undefined) {
      this.stats.drops.handshake++
      return
    }
    this.#handshake = undefined
    this.idLo = header.idLo
    this.idHi = header.idHi
    this.welcome = session.welcome
    Object.assign(this.security, { suite: session.suite.name, isServerVerified: session.isVerified })
    this.#resetToken = session.resetToken
    this.#peerBytesMax = session.datagramBytesMax
    this.#secure(session.ring)
    this.#heartbeat.onHeard(now)
    this.#step('accepted')
    // Our first packet proves that we have the keys: it goes at once, and again until the server is heard.
    this.#retryAt = now
    this.#context.onOpened(this)
  }

  /** The server has said no, under keys. */
  handleRefused(now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number): void {
    const reason = this.#state === 'handshake' ? this.#handshake?.handleRefused(now, header, message, bytes, length) : undefined
    if (reason === undefined) this.stats.drops.handshake++
    else this.#reject(reason)
  }

  /** The server has said, in the clear, that it speaks another version. */
  handleRejected(reason: CloseReason): void {
    // Once challenged we know better: it does speak ours, and this is somebody else.
    if (this.#state !== 'connecting') this.stats.drops.state++
    else this.#reject(reason)
  }

  /** The server no longer knows us, if it can show the token it gave us for that. */
  handleReset(token: Uint8Array): void {
    const isGenuine = this.#resetToken !== undefined && isEqualConstantTime(this.#resetToken, token)
    if (!isGenuine || (this.#state !== 'connected' && this.#state !== 'disconnecting')) {
      this.stats.drops.reset++
      return
    }
    // Whoever is leaving anyway leaves for his own reason.
    this.#reason ??= { by: 'network', code: 'reset' }
    this.#flow.abandon(this.#now)
    this.#finish('reset')
  }

  /** A packet that names this connection. Its bytes are done with on return. @hot */
  handlePacket(now: Millis, from: string, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const isDisconnect = header.type === DISCONNECT
    const isHeard = this.#state === 'connected' || (isDisconnect && this.#state === 'disconnecting')
    const verdict = isHeard ? this.#flow.open(now, header, bytes, length) : 'dropped'
    if (!isHeard) this.stats.drops.state++
    else if (verdict === 'ok') this.handleOpened(now, from, header, bytes, length)
    else if (verdict === 'flooding') this.#close(now, 'close', FLOODING)
  }

  /** A packet of this connection that was opened, in place. @hot */
  handleOpened(now: Millis, from: string, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const isNewest = header.sequence > this.#newestSequence
    if (isNewest) this.#newestSequence = header.sequence
    if (header.type === DISCONNECT) {
      this.#handleDisconnect(now, header, bytes, length)
      return
    }
    const verdict = this.#flow.absorb(now, header, bytes, length)
    // A sink may have closed us while it looked at its frame.
    if (verdict !== 'dropped' && this.isOpen) this.#hear(now, from, length, isNewest)
    if (verdict === 'broken') this.#close(now, 'close', BROKEN)
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
      : this.#state === 'disconnecting' ? this.#pollDisconnect(now, out)
      : this.#isAsking() && this.#pollHandshake(now, out)
    if (!isWritten) return false
    if (this.#state !== 'connected') out.to = this.address
    this.#heartbeat.onSent(now)
    this.stats.packetsSent++
    this.stats.bytesSent += out.length
    return true
  }

  /** When `pollTransmit` next has something to do: the very sums it compares with, or rounding would make it spin. @hot */
  updateTimeout(now: Millis): void {
    const { timeout } = this
    if (this.#state === 'connected') {
      this.#flow.updateTimeout(now)
      timeout[0] = Math.min(this.#retryAt, this.#flow.timeout[0])
      this.#heartbeat.lower(timeout)
      this.#path.lower(timeout)
      this.#control.rekey?.lower(timeout)
    } else if (this.#isAsking()) timeout[0] = Math.min(this.#retryAt, this.#startedAt + this.#context.timers.connectMs)
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

  #hear(now: Millis, from: string, length: number, isNewest: boolean): void {
    this.#step('heard')
    // An answer to a check counts on the packet that brought it, and on no later one.
    const isReply = this.#control.takeReply(this.#path.nonce)
    if (from !== this.address) this.#hearElsewhere(now, from, length, isNewest, isReply)
    // The first packet of a peer is answered at once: until he hears us he repeats himself.
    if (this.stats.packetsReceived++ === 0) {
      this.#flow.hurry(now)
      this.gate.mtu.start(now, Math.min(this.#context.packetBytesMax, this.#peerBytesMax))
    }
    this.stats.bytesReceived += length
    if (isNewest) this.#heartbeat.onHeard(now)
    this.#retryAt = Infinity
  }

  /** He is somewhere else, or somebody carries his packets about: he moves when he has answered from there. */
  #hearElsewhere(now: Millis, from: string, length: number, isNewest: boolean, isReply: boolean): void {
    if (!isReply || from !== this.#path.address) {
      this.#path.hear(now, from, length, isNewest, this.#context.entropy)
      return
    }
    this.#step('moved')
    this.#path.clear()
    this.address = from
    this.stats.pathMoves++
    // What was measured was another path.
    Object.assign(this.rtt, new RttEstimator())
    this.gate.reset(now)
    this.#flow.hurry(now)
  }

  #handleDisconnect(now: Millis, header: PacketHeader, bytes: Uint8Array, length: number): void {
    const reason = length === header.byteLength + 1 + CRYPTO_BYTES.tag ? closeReasonFromByte(bytes[header.byteLength]) : undefined
    if (reason === undefined) this.stats.drops.malformed++
    else if (this.#state === 'disconnecting') this.#finish('acknowledged')
    else this.#close(now, 'closed-by-peer', reason)
  }

  #pollHandshake(now: Millis, out: Transmit): boolean {
    const handshake = this.#handshake
    assert(handshake !== undefined, 'whoever asks has what to ask with')
    if (now >= this.#startedAt + this.#context.timers.connectMs) {
      if (handshake.hasMetImpostor) this.#reject({ by: 'protocol', code: 'identity' })
      else this.#lose('unreachable')
      return false
    }
    if (now >= this.#retryAt) this.#retryAt = now + drawRetryMs(this.#context.timers, this.#context.entropy)
    else if (!handshake.isRequestDue) return false
    out.length = handshake.write(now, out.bytes)
    return true
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
    const isOwed = now >= this.#retryAt || this.#heartbeat.isOwed(now)
    if (!this.#flow.poll(now, isOwed, out)) return false
    if (this.#retryAt !== Infinity) this.#retryAt = now + drawRetryMs(this.#context.timers, this.#context.entropy)
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

  #close(now: Millis, step: 'close' | 'closed-by-peer', reason: CloseReason): void {
    this.wake()
    if (this.#state === 'disconnecting' || this.#state === 'disconnected') return
    this.#reason = reason
    if (this.#state !== 'connected') {
      // There is nobody yet to say goodbye to.
      this.#finish('close')
      return
    }
    this.#step(step)
    this.#flow.abandon(now)
    this.#farewell.begin(now, step === 'closed-by-peer', this.#context.timers.graceMs)
  }

  #reject(reason: CloseReason): void {
    this.#reason = reason
    this.#finish('rejected')
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
    this.#handshake?.wipe()
    this.#control.rekey?.wipe()
    this.#ring?.wipe()
    this.wake()
    this.#context.onClosed(this, this.#reason)
  }

  #step(step: ConnectionStep): void {
    this.#state = nextState(this.#state, step)
  }
}
