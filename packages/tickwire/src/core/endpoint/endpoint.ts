/**
 * An endpoint is like a socket with many connections. Bytes and time go in, bytes and events come out; it owns no
 * socket.
 *
 * ```
 * handleDatagram(now, from, bytes, length)    bytes in: processed before it returns
 * pollTransmit(now, out)                      bytes out: until false
 * pollEvent()                                 'opened' and 'closed', in order, each once
 * pollTimeout()                               when to call pollTransmit again at the latest
 * ```
 *
 * `drain` does the last three. A server is an endpoint with `maxConnections`. A client calls `connect`. An endpoint may
 * do both.
 *
 * Invariant: no datagram makes it throw. No datagram from an unknown sender makes it store anything before the sender's
 * address is proven and its first sealed message has opened.
 */

import { ConfigError } from '../base/assert.ts'
import { DATAGRAM_BYTES_MAX, OUTGOING_CONNECTIONS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type CloseReason, type LeaveCode, closeReasonFromByte } from '../connection/close-reason.ts'
import type { ConnectionContext } from '../connection/connection-peer.ts'
import { checkHelloSizes } from '../connection/handshake-body.ts'
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
  type ClientEndpointConfig, type CoreEndpointConfig, type EndpointConfig, type Verdict, completeClientConfig,
  completeConfig,
} from './endpoint-config.ts'
import { Routes } from './routes.ts'

const NO_BYTES = new Uint8Array(0)

// Imported constants as module constants: a constant read through an import is loaded again at every use.
const HANDSHAKE = PACKET_TYPE.handshake
const RESPONSE = PACKET_TYPE.challengeResponse
const DISCONNECT = PACKET_TYPE.disconnect

/** An event of a connection. `opened` occurs at most once and first, `closed` once and last. */
export type EndpointEvent =
  | { readonly type: 'opened'; readonly connection: Connection; readonly welcome: Uint8Array }
  | { readonly type: 'closed'; readonly connection: Connection; readonly reason: CloseReason }

/** The client's token, and which server it expects. */
export interface ConnectPass {
  /** A token from the issuer. It also names the server. Default: none. */
  readonly token?: Uint8Array
  /** The server's identity key, 32 bytes, for use without a token. Without both, any server is accepted. */
  readonly server?: Uint8Array
  /** The join data of the game, at most 1,024 bytes, and less beside a token. Default: none. */
  readonly data?: Uint8Array
}

/** Counts of dropped datagrams, by reason. */
export interface EndpointDrops {
  /** No valid Tickwire header. */
  header: number
  /** The header has a different protocol version. */
  version: number
  /** An unknown packet type. */
  type: number
  /** A malformed handshake packet, or an answer to a request that was never sent. */
  handshake: number
  /** The packet names a connection that does not exist. */
  unknownConnection: number
  /** The first packet of a guest that does not decrypt. */
  guest: number
}

/** Creates an endpoint; throws `ConfigError` on invalid settings. */
export function createEndpoint(config: EndpointConfig): Endpoint {
  const complete = completeConfig(config)
  const isServer = complete.maxConnections > 0
  return new Endpoint(
    complete,
    isServer ? (routes, takeHandle) => new Admission(complete, routes, takeHandle) : undefined,
  )
}

/** Creates an endpoint that only connects to others, so that a page need not bundle the code of admission. */
export function createClientEndpoint(config: ClientEndpointConfig): Endpoint {
  return new Endpoint(completeClientConfig(config), undefined)
}

/** The counters of an endpoint without admission. */
const NO_DROPS: AdmissionDrops = {
  replies: 0,
  oversizedWelcomes: 0,
  cookie: 0,
  forged: 0,
  limited: 0,
  flooded: 0,
  tokens: 0,
}

/** Many connections over one transport. Created by `createEndpoint`. */
export class Endpoint {
  /** Datagrams that were dropped, by reason. */
  readonly drops: EndpointDrops = { header: 0, version: 0, type: 0, handshake: 0, unknownConnection: 0, guest: 0 }
  #config: CoreEndpointConfig
  #context: ConnectionContext
  #routes: Routes
  #admission: Admission | undefined
  #isClosed: boolean = false
  #connections: Connection[] = []
  /** When to poll each connection again; -Infinity: at the next flush. Indexed by `Connection.place`. */
  #askAt: Float64Array = new Float64Array(8)
  #events: EndpointEvent[] = []
  #header: PacketHeader = new PacketHeader()
  #message: HandshakeMessage = new HandshakeMessage()
  #nextHandle: number = 1
  /** `now` of the last `pollTransmit`. */
  readonly #polledAt = new Float64Array(1)
  #pollIndex: number = 0

  /** `openDoor` creates the admission of a server. */
  constructor(
    config: CoreEndpointConfig,
    openDoor: ((routes: Routes, takeHandle: () => number) => Admission) | undefined,
  ) {
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

  /** Counts of clients that received no answer, or that were refused through a fault of the host. */
  get admissionDrops(): Readonly<AdmissionDrops> {
    return this.#admission?.drops ?? NO_DROPS
  }

  /** Every connection that has not ended, oldest first. */
  get connections(): readonly Connection[] {
    return this.#connections
  }

  /** Starts connecting to the server at `to`. `user` has at most 64 bytes. The result is delivered as an event. */
  connect(now: Millis, to: string, user: Uint8Array = NO_BYTES, pass: ConnectPass = {}): Connection {
    if (this.#isClosed || this.#routes.outgoing.length >= OUTGOING_CONNECTIONS_MAX) {
      throw new ConfigError('connect', 'no connection is free', 'use another endpoint, or raise maxConnections.')
    }
    const handshake = this.#prepare(user, pass)
    const connection = new Connection(
      now,
      this.#nextHandle++,
      true,
      {
        address: to,
        idLo: 0,
        idHi: 0,
        clientKey: handshake.clientKey,
        user: user.slice(),
        welcome: NO_BYTES,
        keys: handshake,
        suite: '',
      },
      this.#context,
    )
    this.#routes.outgoing.push(connection)
    this.#add(connection)
    return connection
  }

  /** Processes one datagram and decrypts it in place. Never throws, whatever the bytes are. @hot */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    if (length > DATAGRAM_BYTES_MAX || readHeader(bytes, length, header) !== 'ok') this.drops.header++
    else if (header.type === HANDSHAKE) this.#handleHandshake(now, from, bytes, length)
    else if (header.version !== PROTOCOL_VERSION) this.drops.version++
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

  /** The transport reports that `address` can no longer send or be reached. */
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

  /** The next event, or undefined. */
  pollEvent(): EndpointEvent | undefined {
    return this.#events.shift()
  }

  /** When `pollTransmit` next has something to do; Infinity when nothing is pending. @hot */
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

  /**
   * Decides about a client for which `admit` returned 'later'. False when it no longer waits. Call `drain` after it.
   */
  settle(now: Millis, connection: number, verdict: Verdict): boolean {
    return this.#admission?.settle(now, connection, verdict) === true
  }

  /** From now on new clients are refused with `full`. Existing connections stay. */
  refuseNewcomers(): void {
    this.#isClosed = true
    if (this.#admission !== undefined) this.#admission.isClosed = true
  }

  /** Closes every connection gracefully and refuses new clients. Continue to `drain` until `connections` is empty. */
  close(now: Millis, code: LeaveCode = 'shutdown'): void {
    this.#isClosed = true
    if (this.#admission !== undefined) this.#admission.isClosed = true
    for (const connection of this.#connections) connection.close(now, code)
  }

  #prepare(user: Uint8Array, { token, server, data = NO_BYTES }: ConnectPass): ClientHandshake {
    checkHelloSizes(token?.length ?? 0, user.length, data.length)
    const { provider, suites, rekey } = this.#config.security
    const parsed: ConnectToken | undefined = token === undefined ? undefined : parseToken(token)
    if (token !== undefined && parsed === undefined) {
      throw new ConfigError('connect.token', 'not a valid token', 'pass the bytes that the issuer gave, unchanged.')
    }
    if (server !== undefined && server.length !== CRYPTO_BYTES.publicKey) {
      throw new ConfigError(
        'connect.server',
        `wrong size (expected ${CRYPTO_BYTES.publicKey} bytes, got ${server.length})`,
        'give the public identity key of the server.',
      )
    }
    const offered = parsed === undefined ? suites : suites.filter(({ id }) => id === parsed.suite)
    if (offered.length === 0)
      throw new ConfigError('connect.token', 'requires a cipher that is not among `security.suites`', 'add its suite.')
    return new ClientHandshake({
      provider, rekey, suites: offered, entropy: this.#config.entropy, server: server ?? parsed?.server,
      hello: {
        fingerprint: this.#config.fingerprint, token: token?.slice() ?? NO_BYTES,
        user: user.slice(), data: data.slice(),
      },
    })
  }

  #handleHandshake(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const message = this.#message
    const kind = readHandshake(this.#header, bytes, length, message)
    const door = this.#admission
    if (kind === 'request' || kind === 'response') {
      // An endpoint without admission does not answer, as if it did not exist.
      if (door === undefined) this.drops.handshake++
      else if (kind === 'request') door.handleRequest(now, from, message, this.#header.version === PROTOCOL_VERSION)
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
    now: Millis,
    from: string,
    kind: 'challenge' | 'accepted' | 'rejected' | 'refused',
    bytes: Uint8Array,
    length: number,
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
        // An unencrypted rejection can only state a version mismatch. Any other reason is not trusted.
        if (reason?.code === 'version') connection.handleRejected(reason)
        else this.drops.handshake++
        return
      }
      default: return kind satisfies never
    }
  }

  /**
   * The first packet under a guest's keys makes it a connection, at the address it has proven, if a seat is free. A
   * packet of an unknown connection is answered with a reset, within limits.
   */
  #handleGuest(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    const header = this.#header
    const guest = this.#routes.findGuest(header.idLo, header.idHi, now)
    if (guest === undefined || this.#isClosed) {
      this.drops.unknownConnection++
      this.#admission?.handleStray(now, from, header.idLo, header.idHi, length)
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
    this.#admission?.handleSettled(guest)
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
    // The connection that moved to this place is polled in this flush too.
    this.#pollIndex = place - 1
    this.#routes.remove(connection)
  }
}
