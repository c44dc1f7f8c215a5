/**
 * What is said before there is a connection, and after one is forgotten: byte-aligned, little-endian. Offsets count from
 * the end of the header. What stands behind `║` is sealed, and all that stands before it, header included, authenticated.
 *
 * ```
 *            0    1        9             25
 * Request    │ 1  │ salt 8 │ client key 32 │ count 1 │ suites │ zeros to 1200 bytes
 * Challenge  │ 2  │ salt 8 │ suite 1 │ server key 32 │ cookie 16 │
 * Accepted   │ 3  │ salt 8 │ random 16   ║ reset token 16 │ signature 64 │ bytes max 2 │ size 2 │ welcome ≤ 256 │ tag 16
 * Rejected   │ 4  │ salt 8 │ reason 1 │
 * Refused    │ 5  │ salt 8 │ random 16   ║ reason 1 │ tag 16
 * Reset      │ 6  │ reset token 16 │
 *
 * Response   │ salt 8 │ suite 1 │ client key 32 │ cookie 16 │ size 2 │ token
 *            ║ fingerprint 8 │ size 1 │ user ≤ 64 │ zeros │ tag 16, 1200 bytes in all
 * ```
 *
 * All but Response are packets of type 0, Response is type 4. Request and Response are 1200 bytes long, header included:
 * an answer is never larger than its question, so nobody can use us to flood a third party, and a path that carries them
 * carries every later packet. The salt is drawn by the client and repeated in answers.
 *
 * Header, first byte and salt of a Request, and all of Rejected, keep their place in every version (HS5): that is
 * how a stale client learns that it is stale.
 *
 * It knows no keys: who seals and opens is `client-handshake.ts` and `endpoint/admission.ts`.
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE, OFFERED_SUITES_MAX, USER_BYTES_MAX } from '../base/limits.ts'
import { TOKEN_BYTES_MAX } from '../crypto/connect-token.ts'
import { CHALLENGE_BYTES, SERVER_RANDOM_BYTES } from '../crypto/key-schedule.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readUint32, writeHeader, writeUint32 } from '../packet/header.ts'

/** Bytes of every Request and Response, header included. */
export const REQUEST_BYTES: number = DATAGRAM_BYTES_SAFE

/** Bytes of a fingerprint: what both sides must agree on, schema and rules. */
export const FINGERPRINT_BYTES = 8

/** Bytes of what a server that forgot a connection proves its forgetting with. */
export const RESET_TOKEN_BYTES = 16

const KEY_BYTES = CRYPTO_BYTES.publicKey
const TAG_BYTES = CRYPTO_BYTES.tag
const KIND = { request: 1, challenge: 2, accepted: 3, rejected: 4, refused: 5, reset: 6 } as const
const SALT_AT = 1
const AFTER_SALT = 9
const SUITE_COUNT_AT = AFTER_SALT + KEY_BYTES
const SERVER_KEY_AT = AFTER_SALT + 1
const COOKIE_AT = SERVER_KEY_AT + KEY_BYTES
const CHALLENGE_END = COOKIE_AT + CHALLENGE_BYTES
const SEALED_AT = AFTER_SALT + SERVER_RANDOM_BYTES

const RESPONSE_SUITE_AT = 8
const RESPONSE_KEY_AT = 9
const RESPONSE_COOKIE_AT = RESPONSE_KEY_AT + KEY_BYTES
const RESPONSE_SIZE_AT = RESPONSE_COOKIE_AT + CHALLENGE_BYTES
const RESPONSE_TOKEN_AT = RESPONSE_SIZE_AT + 2

/** What a handshake packet turned out to be. */
export type HandshakeKind =
  | 'request' | 'challenge' | 'response' | 'accepted' | 'rejected' | 'refused' | 'reset' | 'malformed'

/** What of one handshake packet stands in the clear. Reused. */
export class HandshakeMessage {
  saltLo: number = 0
  saltHi: number = 0
  /** Of a Request and a Response. */
  readonly clientKey: Uint8Array = new Uint8Array(KEY_BYTES)
  /** Of a Request: what the client would take, best first, 0 where there is no more. */
  readonly suites: Uint8Array = new Uint8Array(OFFERED_SUITES_MAX)
  /** Of a Challenge and a Response. */
  suite: number = 0
  readonly serverKey: Uint8Array = new Uint8Array(KEY_BYTES)
  readonly cookie: Uint8Array = new Uint8Array(CHALLENGE_BYTES)
  /** Of a Response: a copy of its own. */
  token: Uint8Array = new Uint8Array(0)
  /** Of an Accepted and a Refused. */
  readonly random: Uint8Array = new Uint8Array(SERVER_RANDOM_BYTES)
  /** Of a Reset. */
  readonly resetToken: Uint8Array = new Uint8Array(RESET_TOKEN_BYTES)
  /** Where the sealed part begins, of those that have one. */
  sealedAt: number = 0
  /** The byte of a Rejected. */
  reason: number = 0
}

const outgoing = new PacketHeader()

/** Writes a whole Request packet; returns its length. */
export function writeRequest(
  out: Uint8Array, saltLo: number, saltHi: number, clientKey: Uint8Array, suites: readonly number[],
): number {
  assert(clientKey.length === KEY_BYTES && suites.length >= 1 && suites.length <= OFFERED_SUITES_MAX, 'a request fits its form')
  const at = begin(out, KIND.request, 0, 0, saltLo, saltHi)
  out.fill(0, at + AFTER_SALT, REQUEST_BYTES)
  out.set(clientKey, at + AFTER_SALT)
  out[at + SUITE_COUNT_AT] = suites.length
  out.set(suites, at + SUITE_COUNT_AT + 1)
  return REQUEST_BYTES
}

/** Writes a whole Challenge packet; returns its length. */
export function writeChallenge(
  out: Uint8Array, saltLo: number, saltHi: number, suite: number, serverKey: Uint8Array, cookie: Uint8Array,
): number {
  const at = begin(out, KIND.challenge, 0, 0, saltLo, saltHi)
  out[at + AFTER_SALT] = suite
  out.set(serverKey, at + SERVER_KEY_AT)
  out.set(cookie, at + COOKIE_AT)
  return at + CHALLENGE_END
}

/** Writes a Response with an unsealed body; returns where that body begins. It ends 16 bytes before the packet does. */
export function writeResponse(
  out: Uint8Array, saltLo: number, saltHi: number, suite: number, clientKey: Uint8Array, cookie: Uint8Array, token: Uint8Array,
  fingerprint: Uint8Array, user: Uint8Array,
): number {
  assert(user.length <= USER_BYTES_MAX && fingerprint.length === FINGERPRINT_BYTES && token.length <= TOKEN_BYTES_MAX, 'a response fits its form')
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
  writeUint16(out, at + RESPONSE_SIZE_AT, token.length)
  out.set(token, at + RESPONSE_TOKEN_AT)
  const body = at + RESPONSE_TOKEN_AT + token.length
  out.set(fingerprint, body)
  out[body + FINGERPRINT_BYTES] = user.length
  out.set(user, body + FINGERPRINT_BYTES + 1)
  return body
}

/** Writes an Accepted with an unsealed body; returns where that body begins. */
export function writeAccepted(
  out: Uint8Array, idLo: number, idHi: number, saltLo: number, saltHi: number, random: Uint8Array,
): number {
  const at = begin(out, KIND.accepted, idLo, idHi, saltLo, saltHi)
  out.set(random, at + AFTER_SALT)
  return at + SEALED_AT
}

/** Writes the beginning of a Refused; returns where its one sealed byte goes. */
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

/** Reads the packet of `length` bytes whose header has been read. Of another version, only what never changes counts. */
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
  // Before an acceptance there is no connection to name, and a reset is about one that was.
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
  const count = bytes[at + SUITE_COUNT_AT]
  const suitesAt = at + SUITE_COUNT_AT + 1
  if (count < 1 || count > OFFERED_SUITES_MAX) return 'malformed'
  for (let index = suitesAt + count; index < length; index++) if (bytes[index] !== 0) return 'malformed'
  for (let index = 0; index < count; index++) if (bytes[suitesAt + index] === 0) return 'malformed'
  copy(bytes, suitesAt, out.suites)
  copy(bytes, at + AFTER_SALT, out.clientKey)
  return 'request'
}

function readResponse(bytes: Uint8Array, at: number, length: number, out: HandshakeMessage): HandshakeKind {
  if (length !== REQUEST_BYTES) return 'malformed'
  const size = bytes[at + RESPONSE_SIZE_AT] | (bytes[at + RESPONSE_SIZE_AT + 1] << 8)
  if (size > TOKEN_BYTES_MAX) return 'malformed'
  out.saltLo = readUint32(bytes, at)
  out.saltHi = readUint32(bytes, at + 4)
  out.suite = bytes[at + RESPONSE_SUITE_AT]
  copy(bytes, at + RESPONSE_KEY_AT, out.clientKey)
  copy(bytes, at + RESPONSE_COOKIE_AT, out.cookie)
  out.token = bytes.slice(at + RESPONSE_TOKEN_AT, at + RESPONSE_TOKEN_AT + size)
  out.sealedAt = at + RESPONSE_TOKEN_AT + size
  return 'response'
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

function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
}
