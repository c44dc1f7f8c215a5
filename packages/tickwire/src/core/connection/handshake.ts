/**
 * Handshake packets, before a connection exists, and Reset packets, after a connection is forgotten. Byte-aligned,
 * little-endian. Offsets count from the end of the header. Bytes after `║` are sealed; all bytes before it, including
 * the header, are authenticated.
 *
 * ```
 *            0    1        9             25
 * Request    │ 1  │ salt 8 │ client key 32 │ count 1 │ suites │ zeros to 1200 bytes
 * Challenge  │ 2  │ salt 8 │ suite 1 │ server key 32 │ cookie 16 │ signature 64 │
 * Accepted   │ 3  │ salt 8 │ random 16   ║ reset token 16 │ signature 64 │ bytes max 2 │ size 2 │ welcome ≤ 256 │ tag
 * 16
 * Rejected   │ 4  │ salt 8 │ reason 1 │
 * Refused    │ 5  │ salt 8 │ random 16   ║ reason 1 │ tag 16
 * Reset      │ 6  │ reset token 16 │
 *
 * Response   │ salt 8 │ suite 1 │ client key 32 │ cookie 16 │ count 1 │ suites
 *            ║ fingerprint 8 │ size 2 │ token ≤ 429 │ size 1 │ user ≤ 64 │ size 2 │ data │ zeros │ tag 16, 1200 in all
 * ```
 *
 * Response is packet type 4, all others are packet type 0. Request and Response are 1200 bytes long, including the
 * header. So an answer is never larger than its question, and the server cannot be used to amplify a flood against a
 * third party. A path that carries them also carries every later packet. The client draws the salt, and answers repeat
 * it.
 *
 * The signature of a Challenge is made by the server's identity key over its server key (`crypto/transcript.ts`). The
 * Response repeats the suites of the Request, because the server stored nothing and must see what the client offered.
 *
 * The header, first byte and salt of a Request, and all of Rejected, keep their layout in every version (HS5). That is
 * how an outdated client learns that it is outdated.
 *
 * This file has no keys: `client-handshake.ts` and `endpoint/admission.ts` seal and open.
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE, OFFERED_SUITES_MAX } from '../base/limits.ts'
import { CHALLENGE_BYTES, SERVER_RANDOM_BYTES } from '../crypto/key-schedule.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import {
  HEADER_BYTES_MAX, PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readUint32, writeHeader, writeUint32,
} from '../packet/header.ts'

/** Bytes of every Request and Response, header included. */
export const REQUEST_BYTES: number = DATAGRAM_BYTES_SAFE

/** Bytes of a fingerprint of schema and rules. Both sides must have the same one. */
export const FINGERPRINT_BYTES = 8

/** Bytes of a reset token, which proves that a Reset comes from the server. */
export const RESET_TOKEN_BYTES = 16

const KEY_BYTES = CRYPTO_BYTES.publicKey
const TAG_BYTES = CRYPTO_BYTES.tag
const KIND = { request: 1, challenge: 2, accepted: 3, rejected: 4, refused: 5, reset: 6 } as const
const SALT_AT = 1
const AFTER_SALT = 9
const SUITE_COUNT_AT = AFTER_SALT + KEY_BYTES
const SERVER_KEY_AT = AFTER_SALT + 1
const COOKIE_AT = SERVER_KEY_AT + KEY_BYTES
const SIGNATURE_AT = COOKIE_AT + CHALLENGE_BYTES
const CHALLENGE_END = SIGNATURE_AT + CRYPTO_BYTES.signature
const SEALED_AT = AFTER_SALT + SERVER_RANDOM_BYTES

const RESPONSE_SUITE_AT = 8
const RESPONSE_KEY_AT = 9
const RESPONSE_COOKIE_AT = RESPONSE_KEY_AT + KEY_BYTES
const RESPONSE_COUNT_AT = RESPONSE_COOKIE_AT + CHALLENGE_BYTES
const RESPONSE_SUITES_AT = RESPONSE_COUNT_AT + 1

/** Bytes of a Response before its sealed part, at most: its header, and all suites. */
export const RESPONSE_HEAD_BYTES_MAX: number = HEADER_BYTES_MAX + RESPONSE_SUITES_AT + OFFERED_SUITES_MAX

/** The kind of a handshake packet. */
export type HandshakeKind =
  | 'request' | 'challenge' | 'response' | 'accepted' | 'rejected' | 'refused' | 'reset' | 'malformed'

/** The unsealed fields of one handshake packet. Reused. */
export class HandshakeMessage {
  saltLo: number = 0
  saltHi: number = 0
  /** In a Request and a Response. */
  readonly clientKey: Uint8Array = new Uint8Array(KEY_BYTES)
  /** In a Request and a Response: the suites that the client offers, best first, zeros after the last. */
  readonly suites: Uint8Array = new Uint8Array(OFFERED_SUITES_MAX)
  /** In a Challenge and a Response. */
  suite: number = 0
  readonly serverKey: Uint8Array = new Uint8Array(KEY_BYTES)
  readonly cookie: Uint8Array = new Uint8Array(CHALLENGE_BYTES)
  /** In a Challenge: signature of the identity key over the server key. */
  readonly signature: Uint8Array = new Uint8Array(CRYPTO_BYTES.signature)
  /** In an Accepted and a Refused. */
  readonly random: Uint8Array = new Uint8Array(SERVER_RANDOM_BYTES)
  /** In a Reset. */
  readonly resetToken: Uint8Array = new Uint8Array(RESET_TOKEN_BYTES)
  /** Offset of the sealed part, in packets that have one. */
  sealedAt: number = 0
  /** In a Rejected. */
  reason: number = 0

  /** The suites that the client offers, without the trailing zeros. A copy. */
  get offered(): Uint8Array {
    return this.suites.filter((id) => id !== 0)
  }
}

const outgoing = new PacketHeader()

/** Writes a whole Request packet; returns its length. */
export function writeRequest(
  out: Uint8Array, saltLo: number, saltHi: number, clientKey: Uint8Array, suites: ArrayLike<number>,
): number {
  assert(
    clientKey.length === KEY_BYTES && suites.length >= 1 && suites.length <= OFFERED_SUITES_MAX,
    'a request fits its form',
  )
  const at = begin(out, KIND.request, 0, 0, saltLo, saltHi)
  out.fill(0, at + AFTER_SALT, REQUEST_BYTES)
  out.set(clientKey, at + AFTER_SALT)
  out[at + SUITE_COUNT_AT] = suites.length
  out.set(suites, at + SUITE_COUNT_AT + 1)
  return REQUEST_BYTES
}

/** Writes a whole Challenge packet; returns its length. */
export function writeChallenge(
  out: Uint8Array,
  saltLo: number,
  saltHi: number,
  suite: number,
  serverKey: Uint8Array,
  cookie: Uint8Array,
  signature: Uint8Array,
): number {
  const at = begin(out, KIND.challenge, 0, 0, saltLo, saltHi)
  out[at + AFTER_SALT] = suite
  out.set(serverKey, at + SERVER_KEY_AT)
  out.set(cookie, at + COOKIE_AT)
  out.set(signature, at + SIGNATURE_AT)
  return at + CHALLENGE_END
}

/**
 * Writes the unsealed part of a Response and fills the rest with zeros. Returns the offset of the body to be sealed,
 * which ends 16 bytes before the end of the packet.
 */
export function writeResponse(
  out: Uint8Array,
  saltLo: number,
  saltHi: number,
  suite: number,
  clientKey: Uint8Array,
  cookie: Uint8Array,
  suites: Uint8Array,
): number {
  assert(suites.length >= 1 && suites.length <= OFFERED_SUITES_MAX, 'a response fits its form')
  outgoing.type = PACKET_TYPE.challengeResponse
  outgoing.idLo = 0
  outgoing.idHi = 0
  const at = writeHeader(outgoing, out)
  out.fill(0, at, REQUEST_BYTES)
  writeUint32(out, at, saltLo)
  writeUint32(out, at + 4, saltHi)
  out[at + RESPONSE_SUITE_AT] = suite
  out.set(clientKey, at + RESPONSE_KEY_AT)
  out.set(cookie, at + RESPONSE_COOKIE_AT)
  out[at + RESPONSE_COUNT_AT] = suites.length
  out.set(suites, at + RESPONSE_SUITES_AT)
  return at + RESPONSE_SUITES_AT + suites.length
}

/** Writes the unsealed part of an Accepted; returns the offset of its body. */
export function writeAccepted(
  out: Uint8Array, idLo: number, idHi: number, saltLo: number, saltHi: number, random: Uint8Array,
): number {
  const at = begin(out, KIND.accepted, idLo, idHi, saltLo, saltHi)
  out.set(random, at + AFTER_SALT)
  return at + SEALED_AT
}

/** Writes the unsealed part of a Refused; returns the offset of its one sealed byte. */
export function writeRefused(out: Uint8Array, saltLo: number, saltHi: number, random: Uint8Array): number {
  const at = begin(out, KIND.refused, 0, 0, saltLo, saltHi)
  out.set(random, at + AFTER_SALT)
  return at + SEALED_AT
}

/** Writes a whole Rejected packet; returns its length. */
export function writeRejected(out: Uint8Array, saltLo: number, saltHi: number, reason: number): number {
  const at = begin(out, KIND.rejected, 0, 0, saltLo, saltHi)
  out[at + AFTER_SALT] = reason
  return at + AFTER_SALT + 1
}

/** Writes a whole Reset packet; returns its length. */
export function writeReset(out: Uint8Array, idLo: number, idHi: number, token: Uint8Array): number {
  const at = begin(out, KIND.reset, idLo, idHi, 0, 0)
  out.set(token, at + 1)
  return at + 1 + RESET_TOKEN_BYTES
}

/**
 * Reads the packet of `length` bytes whose header has been read. In a packet of a different version, only the fields
 * that never change are read.
 */
export function readHandshake(
  header: PacketHeader, bytes: Uint8Array, length: number, out: HandshakeMessage,
): HandshakeKind {
  const at = header.byteLength
  if (header.sequence !== 0 || header.epoch !== 0 || length < at + AFTER_SALT + 1) return 'malformed'
  const isNamed = header.idLo !== 0 || header.idHi !== 0
  const isOurVersion = header.version === PROTOCOL_VERSION
  if (header.type === PACKET_TYPE.challengeResponse) {
    return isNamed || !isOurVersion ? 'malformed' : readResponse(bytes, at, length, out)
  }
  const kind = bytes[at]
  out.saltLo = readUint32(bytes, at + SALT_AT)
  out.saltHi = readUint32(bytes, at + SALT_AT + 4)
  // Before an acceptance there is no connection id. A reset names the connection that existed.
  if (isNamed !== (kind === KIND.accepted || kind === KIND.reset)) return 'malformed'
  if (kind === KIND.rejected) {
    out.reason = bytes[at + AFTER_SALT]
    return length === at + AFTER_SALT + 1 ? 'rejected' : 'malformed'
  }
  if (kind === KIND.request) return readRequest(bytes, at, length, isOurVersion, out)
  return isOurVersion ? readAnswer(kind, bytes, at, length, out) : 'malformed'
}

function readAnswer(kind: number, bytes: Uint8Array, at: number, length: number, out: HandshakeMessage): HandshakeKind {
  switch (kind) {
    case KIND.challenge:
      if (length !== at + CHALLENGE_END) return 'malformed'
      out.suite = bytes[at + AFTER_SALT]
      copy(bytes, at + SERVER_KEY_AT, out.serverKey)
      copy(bytes, at + COOKIE_AT, out.cookie)
      copy(bytes, at + SIGNATURE_AT, out.signature)
      return 'challenge'
    case KIND.accepted: case KIND.refused:
      if (length < at + SEALED_AT + TAG_BYTES) return 'malformed'
      copy(bytes, at + AFTER_SALT, out.random)
      out.sealedAt = at + SEALED_AT
      return kind === KIND.accepted ? 'accepted' : 'refused'
    case KIND.reset:
      if (length !== at + 1 + RESET_TOKEN_BYTES) return 'malformed'
      copy(bytes, at + 1, out.resetToken)
      return 'reset'
    default: return 'malformed'
  }
}

function readRequest(
  bytes: Uint8Array, at: number, length: number, isOurVersion: boolean, out: HandshakeMessage,
): HandshakeKind {
  if (length !== REQUEST_BYTES) return 'malformed'
  if (!isOurVersion) return 'request'
  const end = readSuites(bytes, at + SUITE_COUNT_AT, out)
  if (end < 0) return 'malformed'
  for (let index = end; index < length; index++) if (bytes[index] !== 0) return 'malformed'
  copy(bytes, at + AFTER_SALT, out.clientKey)
  return 'request'
}

function readResponse(bytes: Uint8Array, at: number, length: number, out: HandshakeMessage): HandshakeKind {
  if (length !== REQUEST_BYTES) return 'malformed'
  const end = readSuites(bytes, at + RESPONSE_COUNT_AT, out)
  if (end < 0) return 'malformed'
  out.saltLo = readUint32(bytes, at)
  out.saltHi = readUint32(bytes, at + 4)
  out.suite = bytes[at + RESPONSE_SUITE_AT]
  copy(bytes, at + RESPONSE_KEY_AT, out.clientKey)
  copy(bytes, at + RESPONSE_COOKIE_AT, out.cookie)
  out.sealedAt = end
  return 'response'
}

/** Reads a list of suites and its count at `at`; returns the end of the list, or -1 when it is malformed. */
function readSuites(bytes: Uint8Array, at: number, out: HandshakeMessage): number {
  const count = bytes[at]
  if (count < 1 || count > OFFERED_SUITES_MAX) return -1
  for (let index = 0; index < OFFERED_SUITES_MAX; index++) {
    const suite = index < count ? bytes[at + 1 + index] : 0
    if (index < count && suite === 0) return -1
    out.suites[index] = suite
  }
  return at + 1 + count
}

function begin(out: Uint8Array, kind: number, idLo: number, idHi: number, saltLo: number, saltHi: number): number {
  outgoing.type = PACKET_TYPE.handshake
  outgoing.idLo = idLo
  outgoing.idHi = idHi
  const at = writeHeader(outgoing, out)
  out[at] = kind
  writeUint32(out, at + SALT_AT, saltLo)
  writeUint32(out, at + SALT_AT + 4, saltHi)
  return at
}

function copy(bytes: Uint8Array, at: number, out: Uint8Array): void {
  for (let index = 0; index < out.length; index++) out[index] = bytes[at + index]
}
