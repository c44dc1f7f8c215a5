/**
 * One socket-like thing, many connections. Bytes and time go in, bytes and events come out; it owns no socket.
 *
 * ```
 * handleDatagram(now, from, bytes, length)    bytes in: absorbed before it returns
 * pollTransmit(now, out)                      bytes out: until false
 * pollEvent()                                 'opened' and 'closed', in order, each once
 * pollTimeout()                               when to call pollTransmit again at the latest
 * ```
 *
 * `drain` does the last three. A server is an endpoint with `maxConnections`; a client calls `connect`; one may do both.
 *
 * Invariant: a stranger is never answered with more bytes than he sent, nor costs more than a slot until it expires.
 *
 * It does not encrypt, challenge strangers, or limit them per address.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import {
  CONNECTIONS_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE, OUTGOING_CONNECTIONS_MAX, PENDING_REPLIES_MAX,
  USER_BYTES_MAX, WELCOME_BYTES_MAX,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type CloseReason, type LeaveCode, type RuleCode, closeReasonFromByte, closeReasonToByte } from '../connection/close-reason.ts'
import { Connection, type ConnectionContext } from '../connection/connection.ts'
import {
  FINGERPRINT_BYTES, HandshakeMessage, readHandshake, writeAccepted, writeRejected,
} from '../connection/handshake.ts'
import { type ConnectionTimers, completeTimers } from '../connection/timers.ts'
import type { Transmit } from '../connection/transmit.ts'
import { PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readHeader, readUint32 } from '../packet/header.ts'
import { PacketBuilder } from '../packet/packet-builder.ts'
import { PacketReader } from '../packet/packet-reader.ts'
import { type Guest, Routes } from './routes.ts'

/** How long a slot is kept for who was accepted and has not yet used his id. */
const GUEST_MS = 3000
const NO_BYTES = new Uint8Array(0)

/** Someone asks to be let in. */
export interface ConnectRequest {
  /** The handle (`Connection.id`) his connection will have if he is let in and proves his address. */
  readonly connection: number
  readonly from: string
  /** What he says of himself: not yet proven, and his own words. */
  readonly user: Uint8Array
}

/** How an endpoint behaves. */
export interface EndpointConfig {
  /** Eight bytes that both sides must share: the schema's fingerprint. */
  readonly fingerprint: Uint8Array
  readonly entropy: Entropy
  /** How many may connect to us at once. 0, the default: nobody, we only connect ourselves. */
  readonly maxConnections?: number
  /** What the transport carries; packets are built to this size. At least 1200, the default. */
  readonly maxDatagramBytes?: number
  readonly timers?: Partial<ConnectionTimers>
  /**
   * Decides who is let in: the welcome bytes, at most 256, or undefined to refuse. It must keep nothing: he may never
   * come, and then nobody will say so. Absent: everyone, with an empty welcome.
   */
  readonly admit?: (request: ConnectRequest) => Uint8Array | undefined
  /** Attaches sources and sinks to a connection. Called once for each, before its first packet. */
  readonly assemble: (connection: Connection) => void
}

/** A fact about a connection. `opened` at most once and first, `closed` once and last. */
export type EndpointEvent =
  | { readonly type: 'opened'; readonly connection: Connection; readonly welcome: Uint8Array }
  | { readonly type: 'closed'; readonly connection: Connection; readonly reason: CloseReason }

/** Why a datagram led nowhere. */
export interface EndpointDrops {
  /** No header of ours, of our version. */
  header: number
  version: number
  /** A packet type that has no meaning here. */
  type: number
  /** A handshake that makes no sense, or answers no question of ours. */
  handshake: number
  /** Names a connection that is not here, or not from there. */
  unknownConnection: number
  /** An answer that had no room to wait. */
  replies: number
}

interface Reply {
  readonly to: string
  readonly saltLo: number
  readonly saltHi: number
  /** Whom we let in, or the byte that says why not. */
  readonly answer: Guest | number
}

/** Makes an endpoint; throws `ConfigError` on what cannot work. */
export function createEndpoint(config: EndpointConfig): Endpoint {
  return new Endpoint(config)
}

/** One socket-like thing, many connections. */
export class Endpoint {
  readonly drops: EndpointDrops = { header: 0, version: 0, type: 0, handshake: 0, unknownConnection: 0, replies: 0 }
  #config: EndpointConfig
  #context: ConnectionContext
  #routes: Routes
  #connections: Connection[] = []
  #events: EndpointEvent[] = []
  #replies: Reply[] = []
  #header: PacketHeader = new PacketHeader()
  #message: HandshakeMessage = new HandshakeMessage()
  #nextHandle: number = 1
  #pollIndex: number = 0
  #isClosed: boolean = false

  constructor(config: EndpointConfig) {
    checkConfig(config)
    this.#config = config
    this.#routes = new Routes(config.maxConnections ?? 0, config.entropy)
    this.#context = {
      timers: completeTimers(config.timers ?? {}),
      entropy: config.entropy,
      fingerprint: config.fingerprint.slice(),
      packetBytesMax: config.maxDatagramBytes ?? DATAGRAM_BYTES_SAFE,
      builder: new PacketBuilder(),
      reader: new PacketReader(),
      onOpened: (connection) => this.#events.push({ type: 'opened', connection, welcome: connection.welcome }),
      onClosed: (connection, reason) => this.#events.push({ type: 'closed', connection, reason }),
    }
  }

  /** Every connection that has not ended, oldest first. */
  get connections(): readonly Connection[] {
    return this.#connections
  }

  /** Asks whoever is at `to` to be let in. `user` is at most 64 bytes. The answer comes as an event. */
  connect(now: Millis, to: string, user: Uint8Array = NO_BYTES): Connection {
    if (user.length > USER_BYTES_MAX) {
      throw new ConfigError('connect.user', `${user.length} bytes`, `Give at most ${USER_BYTES_MAX}.`)
    }
    if (this.#isClosed || this.#routes.outgoing.length >= OUTGOING_CONNECTIONS_MAX) {
      throw new ConfigError('connect', 'this endpoint takes no more connections', 'Make another endpoint.')
    }
    const salt = new Uint8Array(8)
    this.#config.entropy.fill(salt)
    const connection = this.#add(new Connection(now, this.#nextHandle++, true, {
      address: to, idLo: 0, idHi: 0, saltLo: readUint32(salt, 0), saltHi: readUint32(salt, 4), user: user.slice(), welcome: NO_BYTES,
    }, this.#context))
    this.#routes.outgoing.push(connection)
    return connection
  }

  /** Absorbs one datagram. Never throws, whatever the bytes say. @hot */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    if (length > DATAGRAM_BYTES_MAX || readHeader(bytes, length, header) !== 'ok') {
      this.drops.header++
      return
    }
    if (header.type === PACKET_TYPE.handshake) {
      this.#handleHandshake(now, from, bytes, length)
    } else if (header.version !== PROTOCOL_VERSION) {
      this.drops.version++
    } else if (header.type > PACKET_TYPE.disconnect) {
      this.drops.type++
    } else {
      const connection = this.#routes.findConnection(from, header.idLo, header.idHi)
        ?? this.#welcomeGuest(now, from)
      if (connection === undefined || connection.address !== from) this.drops.unknownConnection++
      else connection.handlePacket(now, header, bytes, length)
    }
  }

  /** The transport says that nothing will come from or reach `address` any more. */
  handlePathClosed(address: string): void {
    for (const connection of this.#connections) if (connection.address === address) connection.handlePathClosed()
  }

  /** Writes the next datagram that is due into `out`. Call until false. @hot */
  pollTransmit(now: Millis, out: Transmit): boolean {
    const reply = this.#replies.shift()
    if (reply !== undefined) {
      writeReply(reply, out)
      return true
    }
    while (this.#pollIndex < this.#connections.length) {
      const connection = this.#connections[this.#pollIndex]
      if (connection.pollTransmit(now, out)) return true
      if (connection.state === 'disconnected') this.#remove(connection)
      else this.#pollIndex++
    }
    this.#pollIndex = 0
    return false
  }

  /** The next fact, or undefined. */
  pollEvent(): EndpointEvent | undefined {
    return this.#events.shift()
  }

  /** When `pollTransmit` next has something to do; Infinity when nothing is going on. */
  pollTimeout(): Millis {
    if (this.#replies.length > 0) return 0
    let earliest = Infinity
    for (let index = 0; index < this.#connections.length; index++) {
      const at = this.#connections[index].pollTimeout()
      if (at < earliest) earliest = at
    }
    return earliest
  }

  /** Closes every connection gracefully and lets nobody in. Go on draining until `connections` is empty. */
  close(now: Millis, code: LeaveCode = 'shutdown'): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.close(now, code)
  }

  #handleHandshake(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    const message = this.#message
    const isOurVersion = header.version === PROTOCOL_VERSION
    const kind = readHandshake(bytes, header.byteLength, length, isOurVersion, message)
    if (header.sequence !== 0 || header.epoch !== 0 || kind === 'malformed') this.drops.handshake++
    else if (kind === 'request') this.#handleRequest(now, from, isOurVersion)
    else this.#handleAnswer(now, from, kind)
  }

  #handleRequest(now: Millis, from: string, isOurVersion: boolean): void {
    // An endpoint that lets nobody in is silent, as if it were not there.
    if ((this.#config.maxConnections ?? 0) === 0) this.drops.handshake++
    else if (!isOurVersion) this.#reject(from, 'version')
    else if (!isEqual(this.#message.fingerprint, this.#context.fingerprint)) this.#reject(from, 'schema')
    else this.#admit(now, from)
  }

  #admit(now: Millis, from: string): void {
    const { saltLo, saltHi, bytes: user } = this.#message
    const known = this.#routes.findAsking(from, saltLo, saltHi, now)
    if (known instanceof Connection) return
    if (known !== undefined) {
      this.#reply({ to: from, saltLo, saltHi, answer: known })
      return
    }
    const slot = this.#isClosed ? -1 : this.#routes.freeSlot(now)
    if (slot < 0) {
      this.#reject(from, 'full')
      return
    }
    const handle = this.#nextHandle
    const welcome = this.#config.admit === undefined ? NO_BYTES : this.#config.admit({ connection: handle, from, user })
    if (welcome === undefined) {
      this.#reject(from, 'refused')
      return
    }
    if (welcome.length > WELCOME_BYTES_MAX) {
      throw new ConfigError('admit', `a welcome of ${welcome.length} bytes`, `Return at most ${WELCOME_BYTES_MAX}.`)
    }
    this.#nextHandle++
    const [idLo, idHi] = this.#routes.drawId(slot)
    const guest: Guest = {
      address: from, idLo, idHi, saltLo, saltHi, user, welcome: welcome.slice(), handle, expiresAt: now + GUEST_MS,
    }
    this.#routes.holdGuest(guest)
    this.#reply({ to: from, saltLo, saltHi, answer: guest })
  }

  #handleAnswer(now: Millis, from: string, kind: 'accepted' | 'rejected'): void {
    const { saltLo, saltHi, bytes: welcome, reason: byte } = this.#message
    const connection = this.#routes.outgoing.find(
      (asking) => asking.saltLo === saltLo && asking.saltHi === saltHi && asking.address === from,
    )
    const reason = kind === 'rejected' ? closeReasonFromByte(byte) : undefined
    if (connection === undefined) this.drops.handshake++
    else if (kind === 'accepted') connection.handleAccepted(now, this.#header.idLo, this.#header.idHi, welcome)
    else if (reason === undefined) this.drops.handshake++
    else connection.handleRejected(reason)
  }

  /** A guest uses his id: only he who was sent it can, so his address is proven. */
  #welcomeGuest(now: Millis, from: string): Connection | undefined {
    const guest = this.#routes.findGuest(from, this.#header.idLo, this.#header.idHi, now)
    if (guest === undefined || this.#isClosed) return undefined
    const connection = this.#add(new Connection(now, guest.handle, false, guest, this.#context))
    this.#routes.settleGuest(connection)
    this.#context.onOpened(connection)
    return connection
  }

  #add(connection: Connection): Connection {
    this.#connections.push(connection)
    this.#config.assemble(connection)
    return connection
  }

  #remove(connection: Connection): void {
    this.#connections.splice(this.#connections.indexOf(connection), 1)
    this.#routes.remove(connection)
  }

  #reject(to: string, code: RuleCode): void {
    const { saltLo, saltHi } = this.#message
    this.#reply({ to, saltLo, saltHi, answer: closeReasonToByte({ by: 'protocol', code }) })
  }

  #reply(reply: Reply): void {
    if (this.#replies.length < PENDING_REPLIES_MAX) this.#replies.push(reply)
    else this.drops.replies++
  }
}

function writeReply({ to, saltLo, saltHi, answer }: Reply, out: Transmit): void {
  out.to = to
  out.length = typeof answer === 'number'
    ? writeRejected(out.bytes, saltLo, saltHi, answer)
    : writeAccepted(out.bytes, answer.idLo, answer.idHi, saltLo, saltHi, answer.welcome)
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

function checkConfig(config: EndpointConfig): void {
  const { fingerprint, maxConnections = 0, maxDatagramBytes = DATAGRAM_BYTES_SAFE } = config
  if (fingerprint.length !== FINGERPRINT_BYTES) {
    throw new ConfigError('fingerprint', `${fingerprint.length} bytes`, `Give ${FINGERPRINT_BYTES}.`)
  }
  if (!Number.isInteger(maxConnections) || maxConnections < 0 || maxConnections > CONNECTIONS_MAX) {
    throw new ConfigError('maxConnections', `${maxConnections}`, `Give a whole number from 0 to ${CONNECTIONS_MAX}.`)
  }
  if (!(maxDatagramBytes >= DATAGRAM_BYTES_SAFE && maxDatagramBytes <= DATAGRAM_BYTES_MAX)) {
    throw new ConfigError(
      'maxDatagramBytes', `${maxDatagramBytes}`, `Give ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX}: requests are ${DATAGRAM_BYTES_SAFE} bytes.`,
    )
  }
}
