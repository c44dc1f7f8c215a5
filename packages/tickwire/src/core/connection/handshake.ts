/**
 * What is said before there is a connection: bodies of handshake packets, byte-aligned, little-endian.
 *
 * ```
 *            0         1              9                 17        18
 * Request    │ 1       │ salt 8       │ fingerprint 8   │ size 1  │ user bytes, size ≤ 64 │ zeros ...
 * Accepted   │ 3       │ salt 8       │ size 2          │ welcome bytes, size ≤ 256 │
 * Rejected   │ 4       │ salt 8       │ reason 1        │
 * ```
 *
 * A Request is always 1200 bytes long, header included: an answer is never larger than the question, so nobody can
 * use us to flood a third party, and a path that carries the Request carries every later packet. The salt is drawn by
 * the client and repeated in the answer, so that only who saw the question can answer. The connection id of Accepted
 * stands in its header. 2 is kept for a challenge.
 *
 * Header, first byte and salt of a Request, and all of Rejected, keep their place in every version (HS5): that is
 * how a stale client learns that it is stale.
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE, USER_BYTES_MAX, WELCOME_BYTES_MAX } from '../base/limits.ts'
import { PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readUint32, writeHeader, writeUint32 } from '../packet/header.ts'

/** Bytes of every Request, header included. */
export const REQUEST_BYTES: number = DATAGRAM_BYTES_SAFE

/** Bytes of a fingerprint: what both sides must agree on, schema and rules. */
export const FINGERPRINT_BYTES = 8

const KIND = { request: 1, accepted: 3, rejected: 4 } as const
const SALT_AT = 1
const AFTER_SALT = 9
const USER_SIZE_AT = 17
const USER_AT = 18
const WELCOME_AT = 11

/** What a handshake packet turned out to be. */
export type HandshakeKind = 'request' | 'accepted' | 'rejected' | 'malformed'

/** One handshake body, decoded. Reused. */
export class HandshakeMessage {
  saltLo: number = 0
  saltHi: number = 0
  readonly fingerprint: Uint8Array = new Uint8Array(FINGERPRINT_BYTES)
  /** User bytes of a Request, welcome bytes of an Accepted: a copy of its own. */
  bytes: Uint8Array = new Uint8Array(0)
  /** The byte of a Rejected. */
  reason: number = 0
}

const outgoing = new PacketHeader()

/** Writes a whole Request packet; returns its length. */
export function writeRequest(
  out: Uint8Array, saltLo: number, saltHi: number, fingerprint: Uint8Array, user: Uint8Array,
): number {
  assert(user.length <= USER_BYTES_MAX && fingerprint.length === FINGERPRINT_BYTES, 'a request fits its form')
  const at = begin(out, KIND.request, 0, 0, saltLo, saltHi)
  out.fill(0, at + AFTER_SALT, REQUEST_BYTES)
  out.set(fingerprint, at + AFTER_SALT)
  out[at + USER_SIZE_AT] = user.length
  out.set(user, at + USER_AT)
  return REQUEST_BYTES
}

/** Writes a whole Accepted packet; returns its length. */
export function writeAccepted(
  out: Uint8Array, idLo: number, idHi: number, saltLo: number, saltHi: number, welcome: Uint8Array,
): number {
  assert(welcome.length <= WELCOME_BYTES_MAX, 'a welcome fits its form')
  const at = begin(out, KIND.accepted, idLo, idHi, saltLo, saltHi)
  out[at + AFTER_SALT] = welcome.length
  out[at + AFTER_SALT + 1] = welcome.length >>> 8
  out.set(welcome, at + WELCOME_AT)
  return at + WELCOME_AT + welcome.length
}

/** Writes a whole Rejected packet; returns its length. */
export function writeRejected(out: Uint8Array, saltLo: number, saltHi: number, reason: number): number {
  const at = begin(out, KIND.rejected, 0, 0, saltLo, saltHi)
  out[at + AFTER_SALT] = reason
  return at + AFTER_SALT + 1
}

/** Reads the packet of `length` bytes whose header has been read. Of another version, only what never changes counts. */
export function readHandshake(
  header: PacketHeader, bytes: Uint8Array, length: number, out: HandshakeMessage,
): HandshakeKind {
  const at = header.byteLength
  if (header.sequence !== 0 || header.epoch !== 0 || length < at + AFTER_SALT + 1) return 'malformed'
  const isNamed = header.idLo !== 0 || header.idHi !== 0
  const isOurVersion = header.version === PROTOCOL_VERSION
  out.saltLo = readUint32(bytes, at + SALT_AT)
  out.saltHi = readUint32(bytes, at + SALT_AT + 4)
  // Only an acceptance names a connection: before it there is none.
  switch (bytes[at]) {
    case KIND.request: return isNamed ? 'malformed' : readRequest(bytes, at, length, isOurVersion, out)
    case KIND.accepted: return isNamed && isOurVersion ? readAccepted(bytes, at, length, out) : 'malformed'
    case KIND.rejected: {
      out.reason = bytes[at + AFTER_SALT]
      return !isNamed && length === at + AFTER_SALT + 1 ? 'rejected' : 'malformed'
    }
    default: return 'malformed'
  }
}

function readRequest(
  bytes: Uint8Array, at: number, length: number, isOurVersion: boolean, out: HandshakeMessage,
): HandshakeKind {
  if (length !== REQUEST_BYTES) return 'malformed'
  if (!isOurVersion) return 'request'
  const size = bytes[at + USER_SIZE_AT]
  if (size > USER_BYTES_MAX) return 'malformed'
  for (let index = at + USER_AT + size; index < length; index++) if (bytes[index] !== 0) return 'malformed'
  for (let index = 0; index < FINGERPRINT_BYTES; index++) out.fingerprint[index] = bytes[at + AFTER_SALT + index]
  out.bytes = bytes.slice(at + USER_AT, at + USER_AT + size)
  return 'request'
}

function readAccepted(bytes: Uint8Array, at: number, length: number, out: HandshakeMessage): HandshakeKind {
  if (length < at + WELCOME_AT) return 'malformed'
  const size = bytes[at + AFTER_SALT] | (bytes[at + AFTER_SALT + 1] << 8)
  if (size > WELCOME_BYTES_MAX || length !== at + WELCOME_AT + size) return 'malformed'
  out.bytes = bytes.slice(at + WELCOME_AT, length)
  return 'accepted'
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
