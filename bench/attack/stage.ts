/**
 * The environment of the attacks: one server, its members, and clients that were not accepted. It has no socket and no
 * clock.
 *
 * Every datagram of an attacker is a copy, and the bytes of every answer are counted, because an attack is judged by
 * what it costs the attacker and the server. Cryptography is real, and its calls are counted.
 */

import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import type { AeadKey, CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import type { EndpointConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import { type ConnectPass, type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { collect } from '../harness.ts'

/** The result of one attack. */
export interface AttackReport {
  /** The threat in docs/spec/attacks.md, or the id of an attack that once worked (`found/`). */
  readonly threat: string
  readonly what: string
  /** How often the attack was tried. */
  readonly count: number
  readonly value: number
  readonly unit: string
  /** The maximum of the value. Undefined where the number only informs. */
  readonly atMost?: number
  /** The minimum of the value. */
  readonly atLeast?: number
  /** The name of the figure in the benchmark, for values that are published. */
  readonly figure?: string
}

/** Whether a report is within its bounds. */
export function isHeld({ value, atMost, atLeast }: AttackReport): boolean {
  return (
    !Number.isNaN(value) && (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
  )
}

/** The memory in use. Two collections are needed: memory outside of the heap counts as free only after the second. */
export function heldNow(): number {
  for (let round = 0; round < 3; round++) collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/**
 * Real cryptography whose calls are counted. `beforeSeal` lets a member with valid keys write bytes that no honest
 * client would write.
 */
export class CountedCrypto implements CryptoProvider {
  readonly name: string
  readonly calls = { hmac: 0, agree: 0, open: 0, verify: 0 }
  beforeSeal: ((bytes: Uint8Array, headerLength: number, length: number) => void) | undefined = undefined
  #inner: CryptoProvider

  constructor(inner: CryptoProvider) {
    this.#inner = inner
    this.name = inner.name
  }

  importAead: CryptoProvider['importAead'] = (suite, key) => {
    const aead: AeadKey = this.#inner.importAead(suite, key)
    return {
      seal: (nonce, bytes, headerLength, length) => {
        this.beforeSeal?.(bytes, headerLength, length)
        aead.seal(nonce, bytes, headerLength, length)
      },
      open: (nonce, bytes, headerLength, length) => {
        this.calls.open++
        return aead.open(nonce, bytes, headerLength, length)
      },
      wipe: () => aead.wipe(),
    }
  }

  importAgreement: CryptoProvider['importAgreement'] = (secret) => {
    const key = this.#inner.importAgreement(secret)
    return {
      publicKey: key.publicKey,
      agree: (peer) => {
        this.calls.agree++
        return key.agree(peer)
      },
      wipe: () => key.wipe(),
    }
  }

  importSigning: CryptoProvider['importSigning'] = (seed) => this.#inner.importSigning(seed)

  importVerifying: CryptoProvider['importVerifying'] = (publicKey) => {
    const key = this.#inner.importVerifying(publicKey)
    return {
      publicKey: key.publicKey,
      verify: (message, signature) => {
        this.calls.verify++
        return key.verify(message, signature)
      },
    }
  }

  sha256: CryptoProvider['sha256'] = (bytes) => this.#inner.sha256(bytes)

  hmacSha256: CryptoProvider['hmacSha256'] = (key, bytes) => {
    this.calls.hmac++
    return this.#inner.hmacSha256(key, bytes)
  }
}

/** Frames with any bytes in them, one in each packet, as many as are queued. */
export class RawFrames implements FrameSource {
  readonly bodies: Uint8Array[] = []
  #lastSequence: number = -1

  begin(): void {}

  wantsAt(now: number): number {
    return this.bodies.length > 0 ? now : Infinity
  }

  fill(_now: number, sequence: number, out: BitWriter): boolean {
    const body = this.bodies[0]
    if (body === undefined || sequence === this.#lastSequence || out.bitsLeft < body.length * 8) return false
    this.#lastSequence = sequence
    this.bodies.shift()
    for (const byte of body) out.writeBits(byte, 8)
    return true
  }

  onDelivered(): void {}

  onLost(): void {}
}

/** An accepted client. */
export interface Member {
  readonly endpoint: Endpoint
  readonly connection: Connection
  readonly address: string
  readonly crypto: CountedCrypto
  readonly channel: UnreliableChannel
  /** Raw frames of kind 0, beside the channel on kind 1. */
  readonly raw: RawFrames
}

/** The answers to one datagram. */
export interface Answer {
  readonly packets: number
  readonly bytes: number
  readonly last: Uint8Array | undefined
}

const FINGERPRINT = new Uint8Array(8).fill(0x61)
const out = createTransmit()
let seed = 1

/** One server and its members. Time is advanced by hand. */
export class Stage {
  readonly server: Endpoint
  readonly crypto: CountedCrypto
  readonly members: Member[] = []
  /** The number of messages of each connection of the server. Keyed by handle. */
  readonly channels: Map<number, UnreliableChannel> = new Map()
  /** Starts after one day, so that no clock is at zero. */
  now: number = 86_400_000
  readonly #provider: CryptoProvider
  #incoming: Uint8Array = new Uint8Array(1500)

  constructor(config: Partial<EndpointConfig> = {}, provider: CryptoProvider = bestProvider()) {
    this.#provider = provider
    this.crypto = new CountedCrypto(provider)
    this.server = createEndpoint({
      fingerprint: FINGERPRINT,
      entropy: new Dice(seed++),
      maxConnections: 64,
      congestion: () => new FixedController(Infinity),
      ...config,
      security: { ...config.security, provider: this.crypto },
      assemble: (connection) => {
        const channel = new UnreliableChannel('unreliable')
        connection.addSource(1, channel)
        connection.addSink(1, channel)
        this.channels.set(connection.id, channel)
        config.assemble?.(connection)
      },
    })
  }

  /** A client that has sent a request and got no answer yet. */
  visitor(address: string, pass: ConnectPass = {}): Member {
    const channel = new UnreliableChannel('unreliable')
    const raw = new RawFrames()
    const crypto = new CountedCrypto(this.#provider)
    const endpoint = createEndpoint({
      fingerprint: FINGERPRINT,
      entropy: new Dice(seed++),
      security: { provider: crypto },
      congestion: () => new FixedController(Infinity),
      assemble: (connection) => {
        connection.addSource(0, raw)
        connection.addSource(1, channel)
        connection.addSink(1, channel)
      },
    })
    return {
      endpoint,
      address,
      crypto,
      channel,
      raw,
      connection: endpoint.connect(this.now, 'server', new Uint8Array(0), pass),
    }
  }

  /** A client that tries to connect. */
  join(address: string, pass: ConnectPass = {}): Member {
    const member = this.visitor(address, pass)
    this.members.push(member)
    for (let round = 0; round < 4; round++) this.exchange()
    return member
  }

  /** The server's end of a member's connection, while it is open. */
  far(member: Member): Connection | undefined {
    return this.server.connections.find(
      ({ idLo, idHi }) => idLo === member.connection.idLo && idHi === member.connection.idHi,
    )
  }

  /** Delivers everything that members and server send to each other now. */
  exchange(): void {
    for (const member of this.members)
      for (const bytes of this.said(member)) this.server.handleDatagram(this.now, member.address, bytes, bytes.length)
    while (this.server.pollTransmit(this.now, out)) {
      const member = this.members.find(({ address }) => address === out.to)
      member?.endpoint.handleDatagram(this.now, 'server', out.bytes, out.length)
    }
    while (this.server.pollEvent() !== undefined);
  }

  /** The datagrams that a member would send now. The server does not receive them. */
  said(member: Member): Uint8Array[] {
    const all: Uint8Array[] = []
    while (member.endpoint.pollTransmit(this.now, out)) all.push(out.bytes.slice(0, out.length))
    return all
  }

  /** Passes a copy of a datagram to the server, and counts its answers, to any address. */
  attack(from: string, bytes: Uint8Array, length: number = bytes.length): Answer {
    this.#incoming.set(bytes.length > 1500 ? bytes.subarray(0, 1500) : bytes)
    this.server.handleDatagram(this.now, from, this.#incoming, length)
    let [packets, sum] = [0, 0]
    let last: Uint8Array | undefined
    while (this.server.pollTransmit(this.now, out)) {
      packets++
      sum += out.length
      last = out.bytes.slice(0, out.length)
    }
    return { packets, bytes: sum, last }
  }

  /** A sealed message from a member that the attacker has and the server does not. */
  capture(member: Member, text: number = 1): Uint8Array {
    this.now += 2
    member.channel.send(new Uint8Array(32).fill(text))
    const said = this.said(member)
    const last = said.at(-1)
    if (last === undefined) throw new Error('a member had nothing to say')
    return last
  }

  /** Messages that the server has received from a member since the last call. */
  received(member: Member): number {
    const channel = this.channels.get(this.far(member)?.id ?? 0)
    const bytes = new Uint8Array(1024)
    let count = 0
    while ((channel?.receive(bytes) ?? -1) >= 0) count++
    return count
  }
}
