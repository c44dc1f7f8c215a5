/**
 * A client made from docs/wire alone: it connects, agrees on keys, seals, acknowledges and reads. Imports nothing from
 * src.
 *
 * It is the small client of docs/wire/CLIENT.md: native UDP, suite 1, no inputs, no messages, no rekey.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import type { ClientReader } from './client-reader.ts'
import {
  agree, expand, extract, isChallengeProof, isIdentityProof, openPacket, publicOf, transcriptHash,
} from './crypto-checker.ts'

const VERSION = 3
const SUITE = 1
const TYPE = { handshake: 0, keepalive: 2, disconnect: 3, response: 4 } as const
const AGAIN_MS = 220
const ACK_MS = 30

/** The server that it joins. */
export interface OwnClientOptions {
  readonly port: number
  /** The eight bytes, hexadecimal. */
  readonly fingerprint: string
  /** The server's identity key, hexadecimal. */
  readonly identity: string
  readonly reader: ClientReader
  /** The share of incoming packets that it ignores. */
  readonly loss: number
}

export class OwnClient {
  /** Plaintext packets, in the order of arrival. */
  readonly packets: Uint8Array[] = []
  /** The player's number; 0 until the server has accepted. */
  peer = 0
  readonly #options: OwnClientOptions
  readonly #socket: Socket = createSocket('udp4')
  readonly #salt = randomBytes(8)
  readonly #secret = randomBytes(32).toString('hex')
  readonly #clientKey = publicOf(this.#secret)
  #connection: Buffer = Buffer.alloc(8)
  /** The packet that is repeated until it is answered. */
  #asks: Buffer
  #challenge: { readonly cookie: string; readonly serverKey: string; readonly shared: string } | undefined
  #keys: { readonly client: string; readonly server: string } | undefined
  #sequence = 0
  /** Sequences that are acknowledged. */
  readonly #used = new Set<number>()
  #latest = 0
  #owes = false
  readonly #timers: NodeJS.Timeout[] = []
  #dice = 1

  constructor(options: OwnClientOptions) {
    this.#options = options
    this.#asks = this.#request()
    this.#socket.on('message', (bytes) => this.#receive(bytes))
    this.#send(this.#asks)
    this.#timers.push(
      setInterval(() => {
        if (this.#keys === undefined) this.#send(this.#asks)
      }, AGAIN_MS),
      setInterval(() => this.#acknowledge(), ACK_MS),
    )
  }

  /** Leaves with a goodbye. */
  close(): void {
    if (this.#keys !== undefined) this.#send(this.#sealed(TYPE.disconnect, Buffer.of(1)))
    this.#timers.forEach(clearInterval)
    setTimeout(() => this.#socket.close(), 50)
  }

  #send(bytes: Buffer): void {
    this.#socket.send(bytes, this.#options.port, '127.0.0.1')
  }

  #header(type: number, sequence: number): Buffer {
    return Buffer.concat([Buffer.of(0x54, 0x4b, 0x57, VERSION, type), this.#connection, Buffer.of(0), varint(sequence)])
  }

  #request(): Buffer {
    return padded(
      Buffer.concat([
        this.#header(TYPE.handshake, 0),
        Buffer.of(1),
        this.#salt,
        hex(this.#clientKey),
        Buffer.of(1, SUITE),
      ]),
      1200,
    )
  }

  #receive(bytes: Buffer): void {
    const type = bytes[4]!
    if (bytes[3] !== VERSION) return
    if (type !== TYPE.handshake) this.#packet(bytes)
    else if (bytes[15] === 2) this.#challenged(bytes.subarray(15))
    else if (bytes[15] === 3) this.#accepted(bytes)
  }

  #challenged(body: Buffer): void {
    if (this.#challenge !== undefined || !body.subarray(1, 9).equals(this.#salt)) return
    const [serverKey, cookie, signature] = [body.subarray(10, 42), body.subarray(42, 58), body.subarray(58, 122)].map(
      (part) => part.toString('hex'),
    ) as [string, string, string]
    if (!isChallengeProof(this.#options.identity, serverKey, signature)) return
    const shared = agree(this.#secret, serverKey)
    this.#challenge = { cookie, serverKey, shared }
    const key = expand(
      extract(cookie, shared),
      'tickwire/v1/hello',
      SUITE,
      0,
      transcriptHash(this.#parts([1, 2, 4, 5, 6, 11], '', '')),
    )
    const open = Buffer.concat([
      this.#header(TYPE.response, 0),
      this.#salt,
      Buffer.of(SUITE),
      hex(this.#clientKey),
      hex(cookie),
      Buffer.of(1, SUITE),
    ])
    // The fingerprint, no token, no user, zeros.
    this.#asks = sealed(key, 0, open, padded(hex(this.#options.fingerprint), 1200 - 16 - open.length))
    this.#send(this.#asks)
  }

  /** Parts of the transcript. */
  #parts(which: readonly number[], random: string, connection: string): [number, string][] {
    const { cookie, serverKey } = this.#challenge!
    const parts: [number, string][] = [
      [1, '03'],
      [2, '01'],
      [3, this.#options.fingerprint],
      [4, this.#clientKey],
      [5, cookie],
      [6, serverKey],
      [7, ''],
      [8, ''],
      [9, random],
      [10, connection],
      [11, '01'],
    ]
    return parts.filter(([number]) => which.includes(number))
  }

  #accepted(bytes: Buffer): void {
    const body = bytes.subarray(15)
    if (this.#challenge === undefined || this.#keys !== undefined || !body.subarray(1, 9).equals(this.#salt)) return
    const [random, connection] = [body.subarray(9, 25).toString('hex'), bytes.subarray(5, 13).toString('hex')]
    const transcript = transcriptHash(this.#parts([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], random, connection))
    const secret = extract(this.#challenge.cookie + random, this.#challenge.shared)
    const [client, server] = [
      expand(secret, 'tickwire/v1/client', SUITE, 0, transcript),
      expand(secret, 'tickwire/v1/server', SUITE, 0, transcript),
    ]
    const plain = opened(server, 0, bytes.subarray(0, 40), bytes.subarray(40))
    if (!isIdentityProof(this.#options.identity, transcript, plain.subarray(16, 80).toString('hex')))
      throw new Error('another server')
    this.#connection = Buffer.from(bytes.subarray(5, 13))
    this.#keys = { client, server }
    this.peer = plain.readUInt32LE(84)
    this.#owes = true
    this.#acknowledge()
  }

  #packet(bytes: Buffer): void {
    this.#dice = (this.#dice * 48_271) % 2_147_483_647
    if (this.#keys === undefined || this.#dice / 2_147_483_647 < this.#options.loss) return
    const { sequence, plaintext, type } = openPacket(SUITE, this.#keys.server, bytes.toString('hex'))
    if (type === TYPE.disconnect || this.#used.has(sequence)) return
    const plain = Uint8Array.from(hex(plaintext))
    this.packets.push(plain)
    this.#owes = true
    if (this.#options.reader.acceptPacket(plain) !== 'ok') return
    this.#used.add(sequence)
    this.#latest = Math.max(this.#latest, sequence)
  }

  #acknowledge(): void {
    if (!this.#owes || this.#keys === undefined) return
    this.#owes = this.packets.length === 0
    const arrived = Array.from(
      { length: 64 },
      (_, bit) => this.#latest - 1 - bit < 1 || this.#used.has(this.#latest - 1 - bit),
    )
    const groups = [0, 16, 32, 48].map((first) => arrived.slice(first, first + 16))
    const gaps = groups.map((group) => !group.every(Boolean))
    const bits = [
      number(this.#latest % 65_536, 16),
      number(0, 16),
      gaps
        .toReversed()
        .map((gap) => (gap ? '1' : '0'))
        .join(''),
      ...groups
        .filter((_, at) => gaps[at])
        .map((group) =>
          group
            .toReversed()
            .map((bit) => (bit ? '1' : '0'))
            .join(''),
        ),
    ].join('')
    const bytes = bits
      .padEnd(Math.ceil(bits.length / 8) * 8, '0')
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2))
    this.#send(this.#sealed(TYPE.keepalive, Buffer.from(bytes)))
  }

  #sealed(type: number, plain: Buffer): Buffer {
    this.#sequence++
    return sealed(this.#keys!.client, this.#sequence, this.#header(type, this.#sequence), plain)
  }
}

function nonceOf(sequence: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64LE(BigInt(sequence))
  return nonce
}

function sealed(key: string, sequence: number, open: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', hex(key), nonceOf(sequence), { authTagLength: 16 })
  cipher.setAAD(open, { plaintextLength: plain.length })
  return Buffer.concat([open, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function opened(key: string, sequence: number, open: Buffer, rest: Buffer): Buffer {
  const cipher = createDecipheriv('chacha20-poly1305', hex(key), nonceOf(sequence), { authTagLength: 16 })
  cipher.setAAD(open, { plaintextLength: rest.length - 16 })
  cipher.setAuthTag(rest.subarray(rest.length - 16))
  return Buffer.concat([cipher.update(rest.subarray(0, rest.length - 16)), cipher.final()])
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}

function number(value: number, width: number): string {
  return value.toString(2).padStart(width, '0')
}

function padded(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(length - bytes.length)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : 128 + (rest % 128))
    if (rest < 128) return Buffer.from(bytes)
  }
}
