/**
 * A path between a client and the room host that `serve` runs, which an attacker controls: it reads, drops, alters and
 * adds datagrams. Real cryptography, real hosts.
 */

import { bool, defineGame, entity, u8, type CloseReason, type JoinRequest } from 'tickwire'
import {
  createClientHost,
  createRoomHost,
  SpentTokens,
  type ClientHost,
  type ConnectPass,
  type Connection,
  type CryptoProvider,
  type RoomHost,
} from 'tickwire/engine'
import { Dice } from 'tickwire/testing'
import {
  HandshakeMessage,
  readHandshake,
  writeChallenge,
} from '../../packages/tickwire/src/core/connection/handshake.ts'
import { readHello, type Hello } from '../../packages/tickwire/src/core/connection/handshake-body.ts'
import { deriveHello } from '../../packages/tickwire/src/core/connection/session-keys.ts'
import { OpeningKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { signChallengeKey } from '../../packages/tickwire/src/core/crypto/transcript.ts'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'

export const provider = bestProvider()
export const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  entities: [entity({ hue: u8 })],
  step: () => {},
})
export const VICTIM = '203.0.113.1:1000'
export const ATTACKER = '198.51.100.9:9'
export const STEP_MS = 10
export const IDENTITY = new Uint8Array(32).fill(7)
export const server = provider.importSigning(IDENTITY).publicKey
export const issuer = provider.importSigning(new Uint8Array(32).fill(9))

export interface Flight {
  readonly to: string
  readonly from: string
  readonly bytes: Uint8Array
}

export interface Client {
  readonly address: string
  readonly host: ClientHost
  readonly connection: Connection
  closed: CloseReason | undefined
}

/** A server, clients, and a path that an attacker controls. */
export class HeldPath {
  readonly host: RoomHost
  now = 1000
  /** What happens to each datagram on the path. */
  tamper: (flight: Flight) => readonly Flight[] = (flight) => [flight]
  /** Everything that a client sent, as the attacker sees it. */
  readonly said: Uint8Array[] = []
  /** What the server sent to the attacker. */
  readonly toAttacker: Uint8Array[] = []
  readonly #clients = new Map<string, Client>()
  #flying: Flight[] = []
  #seed = 1

  constructor(isTokenAsked: boolean) {
    const tokens = {
      issuers: [issuer.publicKey],
      audience: 'test',
      spent: new SpentTokens(1000),
      wallSeconds: () => 1010,
    }
    this.host = createRoomHost(
      { duel: { game, capacity: 4, resumeMs: 60_000 } },
      {
        entropy: new Dice(99),
        security: { provider, identity: IDENTITY, ...(isTokenAsked && { tokens }) },
      },
    )
  }

  join(join: JoinRequest, pass: ConnectPass, address: string = VICTIM, crypto: CryptoProvider = provider): Client {
    const host = createClientHost(game, {
      entropy: new Dice(this.#seed++), security: { provider: crypto }, onClosed: (reason) => { client.closed = reason },
    })
    const client: Client = {
      address,
      host,
      connection: host.connect(this.now, 'server', pass, join),
      closed: undefined,
    }
    this.#clients.set(address, client)
    return client
  }

  /** The client's machine loses power. */
  unplug({ address }: Client): void {
    this.#clients.delete(address)
  }

  /** The attacker sends. */
  inject(flight: Flight): void {
    this.#deliver(flight)
  }

  run(ms: number): void {
    for (const until = this.now + ms; this.now < until; this.now += STEP_MS) this.#step()
  }

  #step(): void {
    const { now } = this
    const flying = this.#flying
    this.#flying = []
    for (const flight of flying) for (const each of this.tamper(flight)) this.#deliver(each)
    this.host.tick(now)
    this.host.drain(now, {
      send: (to, bytes, length) => this.#flying.push({ to, from: 'server', bytes: bytes.slice(0, length) }),
    })
    for (const { host, address } of this.#clients.values()) {
      host.tick(now)
      host.drain(now, {
        send: (_to, bytes, length) => {
          this.said.push(bytes.slice(0, length))
          this.#flying.push({ to: 'server', from: address, bytes: bytes.slice(0, length) })
        },
      })
    }
  }

  #deliver({ to, from, bytes }: Flight): void {
    if (to === 'server') this.host.handleDatagram(this.now, from, bytes.slice(), bytes.length)
    else if (to === ATTACKER) this.toAttacker.push(bytes)
    else this.#clients.get(to)?.host.handleDatagram(this.now, from, bytes.slice(), bytes.length)
  }
}

export const typeOf = (bytes: Uint8Array): number => bytes[4]!
export const isResponse = (bytes: Uint8Array): boolean => typeOf(bytes) === PACKET_TYPE.challengeResponse
export const isKind = (bytes: Uint8Array, kind: number): boolean =>
  typeOf(bytes) === PACKET_TYPE.handshake && bytes[15] === kind
export const isRequest = (bytes: Uint8Array): boolean => isKind(bytes, 1)
export const isChallenge = (bytes: Uint8Array): boolean => isKind(bytes, 2)
export const peers = (path: HeldPath): string[] => path.host.endpoint.connections.map(({ address }) => address)

export function messageOf(bytes: Uint8Array): HandshakeMessage {
  const header = new PacketHeader()
  readHeader(bytes, bytes.length, header)
  const message = new HandshakeMessage()
  readHandshake(header, bytes, bytes.length, message)
  return message
}

/** The key that an attacker makes for false challenges, and what it can read of an answer to one. */
export class FalseServer {
  readonly key = provider.importAgreement(new Uint8Array(32).fill(66))
  readonly #identity = provider.importSigning(new Uint8Array(32).fill(67))

  /** A challenge of the attacker for a request. `signature`: the attacker's own, or one it has seen. */
  challenge(
    request: Uint8Array,
    signature: Uint8Array = signChallengeKey(this.#identity, this.key.publicKey),
  ): Uint8Array {
    const { saltLo, saltHi, suites } = messageOf(request)
    const out = new Uint8Array(200)
    return out.slice(
      0,
      writeChallenge(out, saltLo, saltHi, suites[0]!, this.key.publicKey, new Uint8Array(16).fill(1), signature),
    )
  }

  read(response: Uint8Array): Hello | undefined {
    const bytes = response.slice()
    const { suite: id, clientKey, cookie, offered, sealedAt } = messageOf(bytes)
    const suite = createSuite(id, provider)
    const words = { suite, clientKey, cookie, serverKey: this.key.publicKey, offered }
    const opens = new OpeningKey(suite, 0, deriveHello(provider, words, this.key.agree(clientKey)!)).open(
      0,
      bytes,
      sealedAt,
      bytes.length,
    )
    return opens ? readHello(bytes, sealedAt, bytes.length - 16) : undefined
  }
}
