/**
 * The client side of an R-Type connection, without a socket.
 *
 * It repeats CLIENT_CONNECT every 500 ms for up to 10 s, sends a HEARTBEAT every second and a PING every two, and
 * acknowledges reliable packets. A server that sends nothing for 10 s is gone.
 */

import type { Millis } from '../base/time.ts'
import { decodeRtype, encodeRtype, type RtypeMessage } from '../rtype/codec.ts'
import type { RtypeEnvelopeOptions } from '../rtype/envelope.ts'
import type { RtypePacket, RtypePacketOf } from '../rtype/packet-table.ts'
import { RTYPE, RTYPE_VERSION } from '../rtype/values.ts'
import { Inbox, priorityOf } from './inbox.ts'
import { RtypeLink } from './link.ts'

const CONNECT_RETRY_MS = 500
const CONNECT_MS = 10_000
const HEARTBEAT_MS = 1000
const PING_MS = 2000
const SILENCE_MS = 10_000
const GOODBYE_MS = 1000
const RESEND_MS = 250

/** How a client connects. */
export interface RtypeClientOptions extends Omit<RtypeEnvelopeOptions, 'seal'> {
  /** 1 to 31 bytes. */
  readonly name: string
  /** Unique among clients. Draw it at random: a client that knows it can take this client's place. */
  readonly clientId: number
}

/** The state of a client. */
export type RtypeClientState = 'connecting' | 'open' | 'leaving' | 'closed'

/** One connection to a server. */
export class RtypeClient {
  /** `connecting` at first. */
  state: RtypeClientState = 'connecting'
  /** The packet that accepted this client. */
  accepted: RtypePacketOf<'SERVER_ACCEPT'> | undefined = undefined
  /** Why it was refused, if it was. */
  rejected: RtypePacketOf<'SERVER_REJECT'> | undefined = undefined
  /** The reason of the end: one of `RTYPE.DISCONNECT`, or undefined while it has none. */
  endReason: number | undefined = undefined
  /** The last measured round trip, in ms; undefined before the first. */
  rttMs: number | undefined = undefined
  /** Datagrams that had no effect. */
  drops: number = 0
  readonly #options: RtypeClientOptions
  readonly #startedAt: Millis
  readonly #inbox: Inbox<RtypeMessage> = new Inbox()
  #link: RtypeLink | undefined = undefined
  #connectAt: Millis
  #heartbeatAt: Millis = 0
  #pingAt: Millis = 0
  #receivedAt: Millis
  #endAt: Millis = Infinity

  constructor(now: Millis, options: RtypeClientOptions) {
    this.#options = options
    this.#startedAt = now
    this.#connectAt = now
    this.#receivedAt = now
  }

  /** The id that the server assigned; 0 before. */
  get playerId(): number {
    return this.accepted?.assignedPlayerId ?? 0
  }

  /** Handles one datagram of the server. */
  handleDatagram(now: Millis, bytes: Uint8Array, length: number): void {
    if (this.#link === undefined) return this.#handleAnswer(now, bytes, length)
    const read = this.#link.receive(now, bytes, length, () => true)
    if (typeof read === 'string') {
      this.drops++
      return
    }
    this.#receivedAt = now
    const { packet, header } = read
    if (packet.type === 'ACKNOWLEDGMENT') this.#link.handleAck(packet.ackedSequence)
    else if (packet.type === 'PONG') this.rttMs = Math.max(0, this.#link.timestamp(now) - packet.clientTimestamp)
    else if (packet.type === 'CLIENT_DISCONNECT') {
      this.endReason = packet.reason
      this.state = 'leaving'
      this.#endAt = now + GOODBYE_MS
    } else if (packet.type !== 'SERVER_ACCEPT') this.#inbox.add(priorityOf(header), read)
  }

  /** The next packet of the server, those of the highest priority first. */
  poll(): RtypeMessage | undefined {
    return this.#inbox.poll()
  }

  /** Sends the state of the player's controls: bits of `RTYPE.INPUT`, and the aim in thousandths. */
  sendInput(now: Millis, inputState: number, aimX: number = 1000, aimY: number = 0): void {
    this.send(now, { type: 'PLAYER_INPUT', playerId: this.playerId, inputState, aimX, aimY })
  }

  /** Sends any packet, once the connection is open. */
  send(now: Millis, packet: RtypePacket, flags: number = 0): void {
    if (this.state === 'open') this.#link?.send(now, packet, flags)
  }

  /** Leaves. The packet that says so is repeated for a second. */
  disconnect(now: Millis, reason: number = RTYPE.DISCONNECT.NORMAL): void {
    if (this.state === 'connecting') this.#end(reason)
    if (this.state !== 'open') return
    this.send(now, { type: 'CLIENT_DISCONNECT', clientId: this.#options.clientId, reason })
    this.state = 'leaving'
    this.endReason = reason
    this.#endAt = now + GOODBYE_MS
  }

  /** Sends what is due and returns the time of the next call at the latest. */
  drain(now: Millis, send: (bytes: Uint8Array, length: number) => void): Millis {
    if (this.state === 'closed') return Infinity
    if (this.#link === undefined) return this.#drainConnecting(now, send)
    if (now - this.#receivedAt >= SILENCE_MS && this.state === 'open') this.#end(RTYPE.DISCONNECT.TIMEOUT)
    if (this.state === 'open') this.#keepAlive(now, this.#link)
    for (let bytes = this.#link.poll(now); bytes !== undefined; bytes = this.#link.poll(now)) send(bytes, bytes.length)
    if (this.state === 'leaving' && (now >= this.#endAt || this.#link.unacked === 0)) this.state = 'closed'
    return Math.min(this.#heartbeatAt, this.#pingAt, this.#link.nextAt(), this.#receivedAt + SILENCE_MS, this.#endAt)
  }

  #keepAlive(now: Millis, link: RtypeLink): void {
    if (now >= this.#heartbeatAt) {
      link.send(now, { type: 'HEARTBEAT', playerId: this.playerId })
      this.#heartbeatAt = now + HEARTBEAT_MS
    }
    if (now >= this.#pingAt) {
      link.send(now, { type: 'PING', clientTimestamp: link.timestamp(now), clientId: this.#options.clientId })
      this.#pingAt = now + PING_MS
    }
  }

  #drainConnecting(now: Millis, send: (bytes: Uint8Array, length: number) => void): Millis {
    if (now - this.#startedAt >= CONNECT_MS) {
      this.#end(RTYPE.DISCONNECT.TIMEOUT)
      return Infinity
    }
    if (now >= this.#connectAt) {
      const { name, clientId } = this.#options
      const bytes = new Uint8Array(49)
      const packet = { type: 'CLIENT_CONNECT', protocolVersion: RTYPE_VERSION, playerName: name, clientId } as const
      send(bytes, encodeRtype(packet, 1, 0, bytes))
      this.#connectAt = now + CONNECT_RETRY_MS
    }
    return Math.min(this.#connectAt, this.#startedAt + CONNECT_MS)
  }

  #handleAnswer(now: Millis, bytes: Uint8Array, length: number): void {
    const read = this.state === 'connecting' ? decodeRtype(bytes, length, this.#options) : 'stranger'
    if (typeof read === 'string') this.drops++
    else if (read.packet.type === 'SERVER_REJECT') {
      this.rejected = read.packet
      this.#end(RTYPE.DISCONNECT.GENERIC_ERROR)
    } else if (read.packet.type === 'SERVER_ACCEPT') {
      this.accepted = read.packet
      this.state = 'open'
      this.#receivedAt = now
      this.#heartbeatAt = now
      this.#pingAt = now
      this.#link = new RtypeLink(now, this.#options.clientId, 2, RESEND_MS, this.#options)
    } else this.drops++
  }

  #end(reason: number): void {
    this.state = 'closed'
    this.endReason ??= reason
  }
}
