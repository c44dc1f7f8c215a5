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
 * Invariant: no datagram makes it throw, and none from a stranger makes it keep anything before his address is proven and
 * his first sealed word has opened.
 */

import { ConfigError } from '../base/assert.ts'
import { DATAGRAM_BYTES_MAX, OUTGOING_CONNECTIONS_MAX, USER_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type CloseReason, type LeaveCode, closeReasonFromByte } from '../connection/close-reason.ts'
import type { ConnectionContext } from '../connection/connection-peer.ts'
import { Connection } from '../connection/connection.ts'
import { ClientHandshake } from '../connection/client-handshake.ts'
import { HandshakeMessage, readHandshake } from '../connection/handshake.ts'
import type { Transmit } from '../connection/transmit.ts'
import { type ConnectToken, parseToken } from '../crypto/connect-token.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readHeader } from '../packet/header.ts'
import { PacketBuilder } from '../packet/packet-builder.ts'
import { PacketReader } from '../packet/packet-reader.ts'
import { Admission, type AdmissionDrops } from './admission.ts'
import {
  type ClientEndpointConfig, type CoreEndpointConfig, type EndpointConfig, type Verdict, completeClientConfig, completeConfig,
} from './endpoint-config.ts'
import { Routes } from './routes.ts'

const NO_BYTES = new Uint8Array(0)

// Imported constants as the module's own: read through an import they are loaded anew each time.
const BYTES_MAX = DATAGRAM_BYTES_MAX
const HANDSHAKE = PACKET_TYPE.handshake
const RESPONSE = PACKET_TYPE.challengeResponse
const DISCONNECT = PACKET_TYPE.disconnect
const VERSION = PROTOCOL_VERSION

/** A fact about a connection. `opened` at most once and first, `closed` once and last. */
export type EndpointEvent =
  | { readonly type: 'opened'; readonly connection: Connection; readonly welcome: Uint8Array }
  | { readonly type: 'closed'; readonly connection: Connection; readonly reason: CloseReason }

/** What a client shows at the door, and whom it means to find behind it. */
export interface ConnectPass {
  /** From whoever issues them; it names the server too. */
  readonly token?: Uint8Array
  /** The identity key of the server, 32 bytes, when there is no token to name it. Neither: any server will do. */
  readonly server?: Uint8Array
}

/** Why a datagram led nowhere. */
export interface EndpointDrops {
  /** No header of ours. */
  header: number
  /** A header of another version. */
  version: number
  /** A packet type that has no meaning here. */
  type: number
  /** A handshake that makes no sense, or answers no question of ours. */
  handshake: number
  /** Names a connection that is not here. */
  unknownConnection: number
  /** The first packet of a guest that does not open. */
  guest: number
}

/** Makes an endpoint; throws `ConfigError` on what cannot work. */
export function createEndpoint(config: EndpointConfig): Endpoint {
  const complete = completeConfig(config)
  return new Endpoint(complete, (routes, takeHandle) => new Admission(complete, routes, takeHandle))
}

/** The same without anybody at the door: it only connects to others, and a page need not carry what lets people in. */
export function createClientEndpoint(config: ClientEndpointConfig): Endpoint {
  return new Endpoint(completeClientConfig(config), undefined)
}

/** Nobody is at the door. */
const NO_DROPS: AdmissionDrops = { replies: 0, oversizedWelcomes: 0, cookie: 0, forged: 0, limited: 0, flooded: 0, tokens: 0 }

/** One socket-like thing, many connections. Made by `createEndpoint`. */
export class Endpoint {
  readonly drops: EndpointDrops = { header: 0, version: 0, type: 0, handshake: 0, unknownConnection: 0, guest: 0 }
  #config: CoreEndpointConfig
  #context: ConnectionContext
  #routes: Routes
  #admission: Admission | undefined
  #isClosed: boolean = false
  #connections: Connection[] = []
  /** When each of them is to be asked again; -Infinity: at the next flush. */
  #askAt: Float64Array = new Float64Array(8)
  #events: EndpointEvent[] = []
  #header: PacketHeader = new PacketHeader()
  #message: HandshakeMessage = new HandshakeMessage()
  #nextHandle: number = 1
  /** When `pollTransmit` was last called. */
  readonly #polledAt = new Float64Array(1)
  #pollIndex: number = 0

  /** `openDoor` makes who lets strangers in. */
  constructor(config: CoreEndpointConfig, openDoor: ((routes: Routes, takeHandle: () => number) => Admission) | undefined) {
    this.#config = config
    this.#routes = new Routes(config.maxConnections, config.entropy)
    this.#admission = openDoor?.(this.#routes, () => this.#nextHandle++)
    this.#context = {
      timers: config.timers,
      entropy: config.entropy,
      provider: config.security.provider,
      packetBytesMax: config.maxDatagramBytes,
      congestion: config.congestion,
      tickRate: config.tickRate,
      peerPacketsPerSecond: config.peerPacketsPerSecond,
      builder: new PacketBuilder(),
      reader: new PacketReader(),
      onWake: (connection) => {
        this.#askAt[connection.place] = -Infinity
      },
      onOpened: (connection) => this.#events.push({ type: 'opened', connection, welcome: connection.welcome }),
      onClosed: (connection, reason) => this.#events.push({ type: 'closed', connection, reason }),
    }
  }

  /** Strangers who got no answer, or a refusal they did not deserve. */
  get admissionDrops(): Readonly<AdmissionDrops> {
    return this.#admission?.drops ?? NO_DROPS
  }

  /** Every connection that has not ended, oldest first. */
  get connections(): readonly Connection[] {
    return this.#connections
  }

  /** Asks whoever is at `to` to be let in. `user` is at most 64 bytes. The answer comes as an event. */
  connect(now: Millis, to: string, user: Uint8Array = NO_BYTES, pass: ConnectPass = {}): Connection {
    if (user.length > USER_BYTES_MAX) {
      throw new ConfigError('connect.user', `has ${user.length} bytes`, `Give at most ${USER_BYTES_MAX}.`)
    }
    if (this.#isClosed || this.#routes.outgoing.length >= OUTGOING_CONNECTIONS_MAX) {
      throw new ConfigError('connect', 'this endpoint takes no more connections', 'Make another endpoint.')
    }
    const handshake = this.#prepare(user, pass)
    const connection = new Connection(now, this.#nextHandle++, true, {
      address: to, idLo: 0, idHi: 0, clientKey: handshake.clientKey, user: user.slice(), welcome: NO_BYTES, keys: handshake, suite: '',
    }, this.#context)
    this.#routes.outgoing.push(connection)
    this.#add(connection)
    return connection
  }

  /** Absorbs one datagram, opening it in place. Never throws, whatever the bytes say. @hot */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    if (length > BYTES_MAX || readHeader(bytes, length, header) !== 'ok') this.drops.header++
    else if (header.type === HANDSHAKE) this.#handleHandshake(now, from, bytes, length)
    else if (header.version !== VERSION) this.drops.version++
    else if (header.type === RESPONSE) this.#handleHandshake(now, from, bytes, length)
    else if (header.type > DISCONNECT) this.drops.type++
    else {
      const connection = this.#routes.findConnection(from, header.idLo, header.idHi)
      if (connection !== undefined) {
        connection.handlePacket(now, from, header, bytes, length)
        this.#askAt[connection.place] = -Infinity
      } else this.#handleGuest(now, from, bytes, length)
    }
  }

  /** The transport says that nothing will come from or reach `address` any more. */
  handlePathClosed(address: string): void {
    for (const connection of this.#connections) if (connection.address === address) connection.handlePathClosed()
  }

  /** Writes the next datagram that is due into `out`. Call until false. @hot */
  pollTransmit(now: Millis, out: Transmit): boolean {
    this.#polledAt[0] = now
    if (this.#admission?.pollReply(out) === true) return true
    const connections = this.#connections
    for (; this.#pollIndex < connections.length; this.#pollIndex++) {
      const at = this.#pollIndex
      const connection = connections[at]
      if (this.#askAt[at] > now && !connection.isRestless) continue
      if (connection.pollTransmit(now, out)) return true
      if (connection.state === 'disconnected') this.#remove(connection)
      else {
        connection.updateTimeout(now)
        this.#askAt[at] = connection.timeout[0]
      }
    }
    this.#pollIndex = 0
    return false
  }

  /** The next fact, or undefined. */
  pollEvent(): EndpointEvent | undefined {
    return this.#events.shift()
  }

  /** When `pollTransmit` next has something to do; Infinity when nothing is going on. @hot */
  pollTimeout(now: Millis = this.#polledAt[0]): Millis {
    if (this.#admission?.hasReplies === true) return -Infinity
    let earliest = Infinity
    for (let index = 0; index < this.#connections.length; index++) {
      const connection = this.#connections[index]
      if (connection.isRestless && this.#askAt[index] !== -Infinity) {
        connection.updateTimeout(now)
        earliest = Math.min(earliest, connection.timeout[0])
      } else earliest = Math.min(earliest, this.#askAt[index])
    }
    return earliest
  }

  /** Says what becomes of somebody whom `admit` left for later. False when he has gone. Drain after it. */
  settle(now: Millis, connection: number, verdict: Verdict): boolean {
    return this.#admission?.settle(now, connection, verdict) === true
  }

  /** From now on nobody is let in, and whoever asks is told `full`. Who is here stays. */
  refuseNewcomers(): void {
    this.#isClosed = true
    if (this.#admission !== undefined) this.#admission.isClosed = true
  }

  /** Closes every connection gracefully and lets nobody in. Go on draining until `connections` is empty. */
  close(now: Millis, code: LeaveCode = 'shutdown'): void {
    this.#isClosed = true
    if (this.#admission !== undefined) this.#admission.isClosed = true
    for (const connection of this.#connections) connection.close(now, code)
  }

  #prepare(user: Uint8Array, { token, server }: ConnectPass): ClientHandshake {
    const { provider, suites, rekey } = this.#config.security
    const parsed: ConnectToken | undefined = token === undefined ? undefined : parseToken(token)
    if (token !== undefined && parsed === undefined) {
      throw new ConfigError('connect.token', 'is none', 'Hand over the bytes that the issuer gave, unchanged.')
    }
    if (server !== undefined && server.length !== CRYPTO_BYTES.publicKey) {
      throw new ConfigError('connect.server', `has ${server.length} bytes`, `Give the ${CRYPTO_BYTES.publicKey} of its identity key.`)
    }
    const offered = parsed === undefined ? suites : suites.filter(({ id }) => id === parsed.suite)
    if (offered.length === 0) throw new ConfigError('connect.token', 'asks for a cipher that is not among `security.suites`', 'Allow it.')
    return new ClientHandshake({
      provider, rekey, suites: offered, entropy: this.#config.entropy, token: token?.slice() ?? NO_BYTES, server: server ?? parsed?.server,
      hello: { fingerprint: this.#config.fingerprint, user: user.slice() },
    })
  }

  #handleHandshake(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const message = this.#message
    const kind = readHandshake(this.#header, bytes, length, message)
    const door = this.#config.maxConnections > 0 ? this.#admission : undefined
    if (kind === 'request' || kind === 'response') {
      // An endpoint that lets nobody in is silent, as if it were not there.
      if (door === undefined) this.drops.handshake++
      else if (kind === 'request') door.handleRequest(now, from, message, this.#header.version === VERSION)
      else door.handleResponse(now, from, message, bytes, length)
    } else if (kind === 'malformed') this.drops.handshake++
    else if (kind === 'reset') this.#handleReset(from)
    else this.#handleAnswer(now, from, kind, bytes, length)
  }

  #handleReset(from: string): void {
    const connection = this.#routes.findConnection(from, this.#header.idLo, this.#header.idHi)
    if (connection?.isInitiator !== true) this.drops.handshake++
    else connection.handleReset(this.#message.resetToken)
  }

  #handleAnswer(
    now: Millis, from: string, kind: 'challenge' | 'accepted' | 'rejected' | 'refused', bytes: Uint8Array, length: number,
  ): void {
    const message = this.#message
    const connection = this.#routes.findAsked(from, message.saltLo, message.saltHi)
    if (connection === undefined) {
      this.drops.handshake++
      return
    }
    this.#askAt[connection.place] = -Infinity
    switch (kind) {
      case 'challenge': return connection.handleChallenge(now, message)
      case 'accepted': return connection.handleAccepted(now, this.#header, message, bytes, length)
      case 'refused': return connection.handleRefused(now, this.#header, message, bytes, length)
      case 'rejected': {
        const reason = closeReasonFromByte(message.reason)
        // In the clear only this can be said, and nothing else is believed.
        if (reason?.code === 'version') connection.handleRejected(reason)
        else this.drops.handshake++
        return
      }
      default: return kind satisfies never
    }
  }

  /** A guest uses his keys: now he is a connection at the address he has proven, if there is a seat. Whoever is nobody is told so, within bounds. */
  #handleGuest(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    const guest = this.#routes.findGuest(header.idLo, header.idHi, now)
    if (guest === undefined || this.#isClosed) {
      this.drops.unknownConnection++
      if (this.#config.maxConnections > 0) this.#admission?.handleStray(now, from, header.idLo, header.idHi, length)
      return
    }
    if (guest.keys.open(now, header.epoch, header.sequence, bytes, header.byteLength, length) !== 'ok') {
      this.drops.guest++
      return
    }
    if (!this.#routes.hasSeat()) {
      this.#admission?.turnAway(guest)
      return
    }
    const connection = new Connection(now, guest.handle, false, guest, this.#context)
    this.#routes.settleGuest(connection)
    this.#add(connection)
    this.#context.onOpened(connection)
    connection.handleOpened(now, from, header, bytes, length)
  }

  #add(connection: Connection): void {
    connection.place = this.#connections.push(connection) - 1
    if (this.#askAt.length < this.#connections.length) {
      const askAt = new Float64Array(this.#askAt.length * 2)
      askAt.set(this.#askAt)
      this.#askAt = askAt
    }
    this.#askAt[connection.place] = -Infinity
    this.#config.assemble(connection)
  }

  #remove(connection: Connection): void {
    const { place } = connection
    this.#connections.splice(place, 1)
    this.#askAt.copyWithin(place, place + 1)
    for (let at = place; at < this.#connections.length; at++) this.#connections[at].place = at
    // The one that has moved up is asked in this flush too.
    this.#pollIndex = place - 1
    this.#routes.remove(connection)
  }
}
