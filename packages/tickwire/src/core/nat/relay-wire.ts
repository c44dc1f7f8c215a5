/**
 * Relay control messages: between a peer and a packet relay, and the probes between two peers.
 *
 * ```
 * byte  0        3         4      5                  13       14
 *       ├────────┼─────────┼──────┼──────────────────┼────────┼─────────────────────┼────────┬───────┐
 *       │ "TKW"  │ version │ 5    │ allocation id 8  │ kind 1 │ transaction, varint │ body   │ mac 8 │
 *       └────────┴─────────┴──────┴──────────────────┴────────┴─────────────────────┴────────┴───────┘
 * ```
 *
 * It is the header of every packet (`packet/header.ts`), with the kind in the place of the epoch and the transaction in
 * the place of the sequence. Numbers are low byte first. Kinds 4 to 8, 12 and 13 end in a mac: the first 8 bytes of
 * HMAC-SHA-256 over all bytes before it, with the key of the allocation, or with the probe key of two peers. Kind 8 has
 * the transaction 0. docs/wire/RELAY.md has every byte.
 *
 * Invariant: a message has one encoding.
 */

import {
  PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readHeader, readUint32, writeHeader, writeUint32,
} from '../packet/header.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { type ReadAddress, readRelayAddress, writeRelayAddress } from './net-address.ts'

/** Kinds of relay control messages, the byte at offset 13. */
export const RELAY_KIND = {
  allocate: 1, cookie: 2, allocateOk: 3, bind: 4, bindOk: 5, refresh: 6, refreshOk: 7, moving: 8, error: 9,
  ping: 10, pong: 11, probe: 12, probeReply: 13,
} as const

/** Why a relay refuses a request. */
export const RELAY_ERROR = { token: 1, quota: 2, full: 3, unknown: 4, draining: 5 } as const

/** The reasons of `RELAY_ERROR` as text. */
export type RelayError = keyof typeof RELAY_ERROR

/** Bytes of a cookie, of the key of an allocation and of a mac. */
export const COOKIE_BYTES = 16
export const RELAY_KEY_BYTES = 16
export const MAC_BYTES = 8
/** Bytes of the nonce of a Ping, and of the zeros after it. */
export const PING_NONCE_BYTES = 8
const PING_ZEROS = 24
const NO_BYTES = new Uint8Array(0)

/** One relay control message, decoded. Reused: `readRelay` fills it. Fields that its kind does not have are stale. */
export class RelayMessage {
  kind: number = 0
  /** The allocation, low and high half. 0 where there is none yet. */
  idLo: number = 0
  idHi: number = 0
  transaction: number = 0
  /** Allocate, Cookie, Refresh: 16 bytes, zeros when there is none. */
  cookie: Uint8Array = NO_BYTES
  /** Allocate. */
  token: Uint8Array = NO_BYTES
  /** AllocateOk: the key of the allocation. */
  key: Uint8Array = NO_BYTES
  /** AllocateOk, Refresh, RefreshOk: seconds. In Refresh 0 frees the allocation. */
  lifeSeconds: number = 0
  /** AllocateOk. */
  kbitsPerSecond: number = 0
  mebibytes: number = 0
  /** AllocateOk: the address of the relay; '' for none. */
  relayed: string = ''
  /** AllocateOk, Pong: the peer's address as the relay sees it; '' for none. */
  seen: string = ''
  /** Bind: the other allocation, and the connection whose packets are to pass (0: none yet). */
  peerLo: number = 0
  peerHi: number = 0
  connectionLo: number = 0
  connectionHi: number = 0
  /** BindOk: the channel that leads to the other allocation, and a tag of the peer's origin. */
  channel: number = 0
  originTag: Uint8Array = NO_BYTES
  /** Moving: how long the relay stays open, in ms. */
  leftMs: number = 0
  /** Error and Moving: a value of `RELAY_ERROR`. */
  reason: number = 0
  /** Ping and Pong: 8 bytes. */
  nonce: Uint8Array = NO_BYTES
  /** Pong: how full the relay is, 0 to 255. */
  load: number = 0
}

const header = new PacketHeader()
const address: ReadAddress = { text: '', end: 0 }

/** Whether messages of this kind end in a mac. */
export function hasMac(kind: number): boolean {
  return (kind >= RELAY_KIND.bind && kind <= RELAY_KIND.moving) || kind >= RELAY_KIND.probe
}

/** Whether the bytes are a relay control message, by their first five bytes. @hot */
export function isRelayControl(bytes: Uint8Array, length: number): boolean {
  return length >= 15 && bytes[0] === 0x54 && bytes[1] === 0x4b && bytes[2] === 0x57
    && bytes[4] === PACKET_TYPE.relayControl
}

/** Reads a message. False when the bytes are not a message. The mac is not checked: `isMacValid` does that. */
export function readRelay(bytes: Uint8Array, length: number, out: RelayMessage): boolean {
  if (!isRelayControl(bytes, length) || readHeader(bytes, length, header) !== 'ok') return false
  if (header.version !== PROTOCOL_VERSION) return false
  out.kind = header.epoch
  out.idLo = header.idLo
  out.idHi = header.idHi
  out.transaction = header.sequence
  const end = hasMac(out.kind) ? length - MAC_BYTES : length
  return readBody(bytes, header.byteLength, end, out)
}

function readBody(bytes: Uint8Array, at: number, end: number, out: RelayMessage): boolean {
  const size = end - at
  switch (out.kind) {
    case RELAY_KIND.allocate: {
      if (size < COOKIE_BYTES + 2 || COOKIE_BYTES + 2 + uint16(bytes, at + COOKIE_BYTES) !== size) return false
      out.cookie = bytes.subarray(at, at + COOKIE_BYTES)
      out.token = bytes.subarray(at + COOKIE_BYTES + 2, end)
      return true
    }
    case RELAY_KIND.cookie:
      out.cookie = bytes.subarray(at, at + COOKIE_BYTES)
      return size === COOKIE_BYTES
    case RELAY_KIND.allocateOk: return readAllocateOk(bytes, at, end, out)
    case RELAY_KIND.bind:
      if (size !== 16) return false
      out.peerLo = readUint32(bytes, at)
      out.peerHi = readUint32(bytes, at + 4)
      out.connectionLo = readUint32(bytes, at + 8)
      out.connectionHi = readUint32(bytes, at + 12)
      return true
    case RELAY_KIND.bindOk:
      out.channel = uint16(bytes, at)
      out.originTag = bytes.subarray(at + 2, at + 10)
      return size === 10 && isChannel(out.channel)
    case RELAY_KIND.refresh:
      out.cookie = bytes.subarray(at, at + COOKIE_BYTES)
      out.lifeSeconds = uint16(bytes, at + COOKIE_BYTES)
      return size === COOKIE_BYTES + 2
    case RELAY_KIND.refreshOk:
      out.lifeSeconds = uint16(bytes, at)
      return size === 2
    case RELAY_KIND.moving:
      out.leftMs = uint16(bytes, at)
      out.reason = bytes[at + 2]
      return size === 3 && isReason(out.reason) && out.transaction === 0
    case RELAY_KIND.error:
      out.reason = bytes[at]
      return size === 1 && isReason(out.reason)
    case RELAY_KIND.ping:
      out.nonce = bytes.subarray(at, at + PING_NONCE_BYTES)
      return size === PING_NONCE_BYTES + PING_ZEROS && areZeros(bytes, at + PING_NONCE_BYTES, end)
    case RELAY_KIND.pong:
      out.nonce = bytes.subarray(at, at + PING_NONCE_BYTES)
      out.load = bytes[at + PING_NONCE_BYTES]
      if (!readRelayAddress(bytes, at + PING_NONCE_BYTES + 1, end, address) || address.end !== end) return false
      out.seen = address.text
      return true
    case RELAY_KIND.probe: case RELAY_KIND.probeReply: return size === 0
    default: return false
  }
}

function readAllocateOk(bytes: Uint8Array, at: number, end: number, out: RelayMessage): boolean {
  const limits = at + RELAY_KEY_BYTES
  if (limits + 8 > end) return false
  out.key = bytes.subarray(at, limits)
  out.lifeSeconds = uint16(bytes, limits)
  out.kbitsPerSecond = uint16(bytes, limits + 2)
  out.mebibytes = uint16(bytes, limits + 4)
  if (!readRelayAddress(bytes, limits + 6, end, address)) return false
  out.relayed = address.text
  if (!readRelayAddress(bytes, address.end, end, address) || address.end !== end) return false
  out.seen = address.text
  return true
}

/** Writes a message without its mac. Returns its length. `sealRelay` adds the mac. */
export function writeRelay(message: RelayMessage, bytes: Uint8Array): number {
  header.version = PROTOCOL_VERSION
  header.type = PACKET_TYPE.relayControl
  header.idLo = message.idLo
  header.idHi = message.idHi
  header.epoch = message.kind
  header.sequence = message.transaction
  const at = writeHeader(header, bytes)
  switch (message.kind) {
    case RELAY_KIND.allocate:
      bytes.set(message.cookie, at)
      putUint16(bytes, at + COOKIE_BYTES, message.token.length)
      bytes.set(message.token, at + COOKIE_BYTES + 2)
      return at + COOKIE_BYTES + 2 + message.token.length
    case RELAY_KIND.cookie:
      bytes.set(message.cookie, at)
      return at + COOKIE_BYTES
    case RELAY_KIND.allocateOk: {
      bytes.set(message.key, at)
      const limits = at + RELAY_KEY_BYTES
      putUint16(bytes, limits, message.lifeSeconds)
      putUint16(bytes, limits + 2, message.kbitsPerSecond)
      putUint16(bytes, limits + 4, message.mebibytes)
      return writeRelayAddress(message.seen, bytes, writeRelayAddress(message.relayed, bytes, limits + 6))
    }
    case RELAY_KIND.bind:
      writeUint32(bytes, at, message.peerLo)
      writeUint32(bytes, at + 4, message.peerHi)
      writeUint32(bytes, at + 8, message.connectionLo)
      writeUint32(bytes, at + 12, message.connectionHi)
      return at + 16
    case RELAY_KIND.bindOk:
      putUint16(bytes, at, message.channel)
      bytes.set(message.originTag, at + 2)
      return at + 10
    case RELAY_KIND.refresh:
      bytes.set(message.cookie, at)
      putUint16(bytes, at + COOKIE_BYTES, message.lifeSeconds)
      return at + COOKIE_BYTES + 2
    case RELAY_KIND.refreshOk:
      putUint16(bytes, at, message.lifeSeconds)
      return at + 2
    case RELAY_KIND.moving:
      putUint16(bytes, at, message.leftMs)
      bytes[at + 2] = message.reason
      return at + 3
    case RELAY_KIND.error:
      bytes[at] = message.reason
      return at + 1
    case RELAY_KIND.ping:
      bytes.set(message.nonce, at)
      bytes.fill(0, at + PING_NONCE_BYTES, at + PING_NONCE_BYTES + PING_ZEROS)
      return at + PING_NONCE_BYTES + PING_ZEROS
    case RELAY_KIND.pong:
      bytes.set(message.nonce, at)
      bytes[at + PING_NONCE_BYTES] = message.load
      return writeRelayAddress(message.seen, bytes, at + PING_NONCE_BYTES + 1)
    default: return at
  }
}

/** Writes a message and, if its kind has one, its mac. Returns its length. */
export function sealRelay(
  provider: CryptoProvider, key: Uint8Array, message: RelayMessage, bytes: Uint8Array,
): number {
  const length = writeRelay(message, bytes)
  if (!hasMac(message.kind)) return length
  bytes.set(macOf(provider, key, bytes, length), length)
  return length + MAC_BYTES
}

/** Whether the last 8 bytes of a message are its mac under `key`. */
export function isMacValid(provider: CryptoProvider, key: Uint8Array, bytes: Uint8Array, length: number): boolean {
  const end = length - MAC_BYTES
  return isEqualConstantTime(macOf(provider, key, bytes, end), bytes.subarray(end, length))
}

function macOf(provider: CryptoProvider, key: Uint8Array, bytes: Uint8Array, length: number): Uint8Array {
  return provider.hmacSha256(key, bytes.subarray(0, length)).subarray(0, MAC_BYTES)
}

/** Channel data begins with a number of this range (RFC 8656), in two bytes, high byte first. @hot */
export function isChannel(channel: number): boolean {
  return channel >= 0x4000 && channel <= 0x7fff
}

/** The name of a reason; undefined when it is unknown. */
export function relayErrorOf(reason: number): RelayError | undefined {
  for (const [name, value] of Object.entries(RELAY_ERROR)) if (value === reason && isErrorName(name)) return name
  return undefined
}

function isErrorName(name: string): name is RelayError {
  return name in RELAY_ERROR
}

function isReason(reason: number): boolean {
  return reason >= RELAY_ERROR.token && reason <= RELAY_ERROR.draining
}

function areZeros(bytes: Uint8Array, at: number, end: number): boolean {
  for (let index = at; index < end; index++) if (bytes[index] !== 0) return false
  return true
}

function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8)
}

function putUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
}
