/**
 * A network path that an attacker controls, over real UDP on loopback: a relay between a client and the server, and the
 * client itself.
 */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JoinRequest } from 'tickwire'
import {
  createClientHost, issueToken, textToKey, type ClientHost, type ConnectPass, type Connection,
} from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, systemEntropy, type UdpPort } from 'tickwire/node'
import { PACKET_TYPE } from '../../../packages/tickwire/src/core/packet/header.ts'
import { victimGame } from './victim-game.ts'
import type { Victim, VictimOptions } from './victim.ts'

const PUMP_MS = 10
const IDENTITY_SEED = '07'.repeat(32)
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** A secret that admits a client. */
export const SECRETS = ['token', 'ticket', 'room code'] as const
export type Secret = (typeof SECRETS)[number]

export const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(9))

/** The server that such a client connects to. */
export function optionsFor(secret: Secret): VictimOptions {
  return {
    identitySeed: IDENTITY_SEED,
    hasPrivateRoom: secret === 'room code',
    ...(secret === 'token' && { tokenIssuer: hex(issuer.publicKey) }),
  }
}

/** What a client needs that knows the server and has no token. */
export function passOf(victim: Victim): { readonly server: Uint8Array } {
  return { server: textToKey(victim.identity)?.key ?? new Uint8Array(0) }
}

/** How a client is admitted by a secret, and the bytes that a thief would need. */
export async function secretOf(
  secret: Secret,
  victim: Victim,
): Promise<{ join: JoinRequest; pass: ConnectPass; bytes: Buffer }> {
  const { server } = passOf(victim)
  if (secret === 'room code') return { join: { code: victim.code }, pass: { server }, bytes: Buffer.from(victim.code) }
  if (secret === 'token') {
    const id = new Uint8Array(16)
    systemEntropy.fill(id)
    const issuedAt = Math.floor(Date.now() / 1000)
    const grant = { server, id, issuedAt, expiresAt: issuedAt + 60, audience: 'victim', user: new Uint8Array(0) }
    return { join: {}, pass: { token: issueToken(provider, issuer, grant) }, bytes: Buffer.from(id) }
  }
  const before = await UdpClient.start(victim.udpPort, {}, { server })
  await before.isIn(5000)
  const { ticket } = before.host.seat ?? { ticket: new Uint8Array(0) }
  // As after a power loss: no Disconnect is sent.
  before.stop()
  return { join: { resume: ticket }, pass: { server }, bytes: Buffer.from(ticket) }
}

/** A real client over UDP. */
export class UdpClient {
  readonly host: ClientHost
  readonly connection: Connection
  readonly #port: UdpPort
  readonly #timer: NodeJS.Timeout

  private constructor(port: UdpPort, to: number, join: JoinRequest, pass: ConnectPass) {
    this.#port = port
    this.host = createClientHost(victimGame, { entropy: systemEntropy, security: { provider } })
    port.onDatagram = (from, bytes, length) => this.host.handleDatagram(now(), from, bytes, length)
    this.connection = this.host.connect(now(), `127.0.0.1:${to}`, pass, join)
    this.#timer = setInterval(() => {
      this.host.tick(now())
      this.host.drain(now(), port)
    }, PUMP_MS)
  }

  static async start(to: number, join: JoinRequest, pass: ConnectPass): Promise<UdpClient> {
    return new UdpClient(await openUdp({ address: '127.0.0.1' }), to, join, pass)
  }

  /** Whether the client is accepted within `ms`. */
  async isIn(ms: number): Promise<boolean> {
    for (
      const endsAt = now() + ms;
      now() < endsAt && !this.connection.isOpen && this.connection.state !== 'disconnected';
    )
      await sleep(PUMP_MS)
    return this.connection.isOpen
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#port.close()
  }
}

/** A relay that the attacker controls. One client at a time. */
export class HeldRelay {
  /** Decides about a datagram: returns the datagrams to pass on. */
  tamper: (bytes: Buffer, isToServer: boolean) => readonly Buffer[] = (bytes) => [bytes]
  /** Everything that the client sent. */
  readonly said: Buffer[] = []
  readonly #front: Socket = createSocket('udp4')
  readonly #back: Socket = createSocket('udp4')
  readonly #server: number
  #client = 0

  private constructor(server: number) {
    this.#server = server
    this.#front.on('message', (bytes, { port }) => {
      this.#client = port
      this.said.push(bytes)
      for (const each of this.tamper(bytes, true)) this.#back.send(each, this.#server, '127.0.0.1')
    })
    this.#back.on('message', (bytes) => {
      for (const each of this.tamper(bytes, false)) this.toClient(each)
    })
  }

  static async open(server: number): Promise<HeldRelay> {
    const relay = new HeldRelay(server)
    relay.#front.bind(0, '127.0.0.1')
    relay.#back.bind(0, '127.0.0.1')
    await Promise.all([once(relay.#front, 'listening'), once(relay.#back, 'listening')])
    return relay
  }

  get port(): number {
    return this.#front.address().port
  }

  /** Sends a datagram to the client as if it came from the server. */
  toClient(bytes: Uint8Array): void {
    if (this.#client !== 0) this.#front.send(bytes, this.#client, '127.0.0.1')
  }

  close(): void {
    this.#front.close()
    this.#back.close()
  }
}

export const isResponse = (bytes: Uint8Array): boolean => bytes[4] === PACKET_TYPE.challengeResponse
export const isRequest = (bytes: Uint8Array): boolean => bytes[4] === PACKET_TYPE.handshake && bytes[15] === 1

/** Sends datagrams to a server from a socket of the attacker, and returns the answers that arrive within `ms`. */
export async function answersTo(port: number, datagrams: readonly Uint8Array[], ms: number): Promise<Buffer[]> {
  const socket = createSocket('udp4')
  const answers: Buffer[] = []
  socket.on('message', (bytes) => answers.push(bytes))
  for (const bytes of datagrams) socket.send(bytes, port, '127.0.0.1')
  await sleep(ms)
  socket.close()
  return answers
}
