/**
 * Relay control messages, relay tokens and channel data, written and read from docs/wire/RELAY.md alone.
 */

import { createHash, createHmac, createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto'
import { readHead, writeHead } from './packets.ts'

/** Kinds of relay control messages. */
export const RELAY = {
  allocate: 1, cookie: 2, allocateOk: 3, bind: 4, bindOk: 5, refresh: 6, refreshOk: 7, error: 9, ping: 10, pong: 11,
} as const
/** Reasons of Error. */
export const RELAY_REASON = { token: 1, quota: 2, full: 3, unknown: 4, draining: 5 } as const

export const COOKIE_BYTES = 16
/** The type of relay control, in the place of the type of a packet. */
export const CONTROL_TYPE = 5
/** Bytes of channel data before the datagram. */
export const CHANNEL_HEAD_BYTES = 4
const MAC_BYTES = 8
const KINDS_WITH_MAC: readonly number[] = [RELAY.bind, RELAY.bindOk, RELAY.refresh, RELAY.refreshOk]
/** The DER bytes that precede the 32 bytes of a secret key of Ed25519. */
const SECRET_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const LABEL = Buffer.from('tickwire/v1/relay-token\0', 'latin1')
const TOKEN_SECONDS = 600

export interface RelayMessage {
  readonly kind: number
  readonly allocation: Buffer
  readonly transaction: number
  readonly body: Buffer
  /** Without the mac. */
  readonly signed: Buffer
  readonly mac: Buffer | undefined
}

/** A message as it is sent; with the key of an allocation, a mac follows. */
export function writeRelay(
  kind: number, allocation: Uint8Array, transaction: number, body: Uint8Array, key?: Uint8Array,
): Buffer {
  const head = writeHead(CONTROL_TYPE, { connection: allocation, epoch: kind, sequence: transaction })
  const signed = Buffer.concat([head, body])
  return key === undefined ? signed : Buffer.concat([signed, macOf(key, signed)])
}

/** A relay control message. Undefined when the datagram is none. */
export function readRelay(bytes: Buffer): RelayMessage | undefined {
  const head = readHead(bytes)
  if (head?.type !== CONTROL_TYPE) return undefined
  const end = bytes.length - (KINDS_WITH_MAC.includes(head.epoch) ? MAC_BYTES : 0)
  if (end < head.end) return undefined
  return {
    kind: head.epoch, allocation: head.connection, transaction: head.sequence, body: bytes.subarray(head.end, end),
    signed: bytes.subarray(0, end), mac: end === bytes.length ? undefined : bytes.subarray(end),
  }
}

/** Whether the mac of a message fits the key of an allocation. */
export function isMacOf({ signed, mac }: RelayMessage, key: Uint8Array): boolean {
  return mac !== undefined && macOf(key, signed).equals(mac)
}

/** The body of an Allocate. Without a cookie, zeros stand in the place of the token. */
export function allocateBody(cookie: Uint8Array | undefined, token: Uint8Array): Buffer {
  const size = Buffer.alloc(2)
  size.writeUInt16LE(token.length)
  return cookie === undefined
    ? Buffer.concat([Buffer.alloc(COOKIE_BYTES), size, Buffer.alloc(token.length)])
    : Buffer.concat([cookie, size, token])
}

/** Fields of a token that a check may set to wrong values. */
export interface TokenFields {
  readonly session?: Uint8Array | undefined
  readonly secret?: Uint8Array
  readonly audience?: string
  /** Seconds from now until the token expires. */
  readonly expiresIn?: number
}

/** A token of the issuer of a relay. */
export function writeToken(issuer: { secret: Uint8Array; audience: string }, fields: TokenFields = {}): Buffer {
  const { session = randomBytes(16), secret = issuer.secret, audience = issuer.audience } = fields
  const key = createPrivateKey({ key: Buffer.concat([SECRET_PREFIX, secret]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  const expiresAt = Math.floor(Date.now() / 1000) + (fields.expiresIn ?? TOKEN_SECONDS)
  const times = Buffer.alloc(16)
  times.writeBigUInt64LE(BigInt(expiresAt - TOKEN_SECONDS), 0)
  times.writeBigUInt64LE(BigInt(expiresAt), 8)
  const name = Buffer.from(audience)
  const text = Buffer.concat([
    Buffer.of(1), createHash('sha256').update(publicKey).digest().subarray(0, 8), session, randomBytes(16), times,
    Buffer.alloc(6), Buffer.of(name.length), name,
  ])
  return Buffer.concat([text, sign(null, Buffer.concat([LABEL, text]), key)])
}

/** A datagram on a channel. */
export function writeChannel(channel: number, datagram: Uint8Array): Buffer {
  const head = Buffer.alloc(CHANNEL_HEAD_BYTES)
  head.writeUInt16BE(channel, 0)
  head.writeUInt16BE(datagram.length, 2)
  return Buffer.concat([head, datagram])
}

/** Whether a datagram from a relay is channel data. */
export function isChannel(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  return first >= 0x40 && first < 0x80 && readHead(bytes)?.type !== CONTROL_TYPE
}

function macOf(key: Uint8Array, bytes: Uint8Array): Buffer {
  return createHmac('sha256', key).update(bytes).digest().subarray(0, MAC_BYTES)
}
