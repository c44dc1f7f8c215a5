/**
 * The sealed parts of a handshake, which only the client and the server can read.
 *
 * ```
 * Response   │ fingerprint 8 │ size 2, LE │ token ≤ 429 │ size 1 │ user ≤ 64 │ size 2, LE │ data ≤ 1024 │ zeros │
 * Accepted   │ reset token 16 │ signature 64 │ bytes max 2, LE │ size 2, LE │ welcome ≤ 256 │
 * ```
 *
 * The sender of a sealed part had the keys, so a malformed body comes from a faulty peer. It is refused, nothing more.
 */

import { assert, ConfigError } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE, JOIN_DATA_BYTES_MAX, USER_BYTES_MAX, WELCOME_BYTES_MAX } from '../base/limits.ts'
import { TOKEN_BYTES_MAX } from '../crypto/connect-token.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { FINGERPRINT_BYTES, REQUEST_BYTES, RESET_TOKEN_BYTES, RESPONSE_HEAD_BYTES_MAX } from './handshake.ts'

/** The sealed part of a Response: what a client sends about itself. */
export interface Hello {
  readonly fingerprint: Uint8Array
  /** The connect token from the issuer; empty when tokens are not used. */
  readonly token: Uint8Array
  readonly user: Uint8Array
  /** The join data of the game; empty when it has none. */
  readonly data: Uint8Array
}

/** The sealed part of an Accepted. */
export interface Acceptance {
  /** A later Reset of this connection must contain this token. */
  readonly resetToken: Uint8Array
  /** Signature over the transcript, by the server's identity key. */
  readonly signature: Uint8Array
  /** The longest datagram that the server accepts. */
  readonly datagramBytesMax: number
  readonly welcome: Uint8Array
}

const TOKEN_AT = FINGERPRINT_BYTES + 2
const SIGNATURE_AT = RESET_TOKEN_BYTES
const BYTES_MAX_AT = SIGNATURE_AT + CRYPTO_BYTES.signature
const WELCOME_SIZE_AT = BYTES_MAX_AT + 2
const WELCOME_AT = WELCOME_SIZE_AT + 2

/** Bytes of a Response before its sealed part, with all suites, and its tag. */
const RESPONSE_FRAME_BYTES = RESPONSE_HEAD_BYTES_MAX + CRYPTO_BYTES.tag

/** How many bytes of join data a Response holds beside its token and user bytes. */
function dataBytesMax(tokenBytes: number, userBytes: number): number {
  const left = REQUEST_BYTES - RESPONSE_FRAME_BYTES - TOKEN_AT - tokenBytes - 1 - userBytes - 2
  return Math.min(JOIN_DATA_BYTES_MAX, left)
}

/** Throws ConfigError when the user bytes or the join data of a client do not fit into a Response. */
export function checkHelloSizes(tokenBytes: number, userBytes: number, dataBytes: number): void {
  const fix = 'send less with the request, and the rest as a message.'
  if (userBytes > USER_BYTES_MAX) {
    throw new ConfigError(
      'connect.user',
      `too long (expected at most ${USER_BYTES_MAX} bytes, got ${userBytes})`,
      fix,
    )
  }
  const max = dataBytesMax(tokenBytes, userBytes)
  if (dataBytes > max)
    throw new ConfigError('connect.data', `too long (expected at most ${max} bytes here, got ${dataBytes})`, fix)
}

/** Writes the body of a Response at `at`. The rest of the packet must be zeros already. */
export function writeHello(out: Uint8Array, at: number, { fingerprint, token, user, data }: Hello): void {
  assert(
    fingerprint.length === FINGERPRINT_BYTES && token.length <= TOKEN_BYTES_MAX && user.length <= USER_BYTES_MAX
      && data.length <= dataBytesMax(token.length, user.length),
    'a hello fits its form',
  )
  out.set(fingerprint, at)
  writeUint16(out, at + FINGERPRINT_BYTES, token.length)
  out.set(token, at + TOKEN_AT)
  out[at + TOKEN_AT + token.length] = user.length
  const dataAt = at + TOKEN_AT + token.length + 1 + user.length
  out.set(user, dataAt - user.length)
  writeUint16(out, dataAt, data.length)
  out.set(data, dataAt + 2)
}

/** Reads the decrypted body of a Response, from `at` to `end`; undefined when it is malformed. */
export function readHello(bytes: Uint8Array, at: number, end: number): Hello | undefined {
  if (at + TOKEN_AT > end) return undefined
  const tokenSize = readUint16(bytes, at + FINGERPRINT_BYTES)
  const userAt = at + TOKEN_AT + tokenSize + 1
  if (tokenSize > TOKEN_BYTES_MAX || userAt > end) return undefined
  const userSize = bytes[userAt - 1]
  const dataAt = userAt + userSize + 2
  if (userSize > USER_BYTES_MAX || dataAt > end) return undefined
  const dataEnd = dataAt + readUint16(bytes, dataAt - 2)
  if (dataEnd - dataAt > JOIN_DATA_BYTES_MAX || dataEnd > end) return undefined
  for (let index = dataEnd; index < end; index++) if (bytes[index] !== 0) return undefined
  return {
    fingerprint: bytes.slice(at, at + FINGERPRINT_BYTES),
    token: bytes.slice(at + TOKEN_AT, userAt - 1),
    user: bytes.slice(userAt, userAt + userSize),
    data: bytes.slice(dataAt, dataEnd),
  }
}

/** Writes the body of an Accepted at `at`; returns its length. */
export function writeAcceptance(out: Uint8Array, at: number, acceptance: Acceptance): number {
  const { resetToken, signature, datagramBytesMax, welcome } = acceptance
  assert(welcome.length <= WELCOME_BYTES_MAX && signature.length === CRYPTO_BYTES.signature, 'a welcome fits its form')
  out.set(resetToken, at)
  out.set(signature, at + SIGNATURE_AT)
  writeUint16(out, at + BYTES_MAX_AT, datagramBytesMax)
  writeUint16(out, at + WELCOME_SIZE_AT, welcome.length)
  out.set(welcome, at + WELCOME_AT)
  return WELCOME_AT + welcome.length
}

/** Reads the decrypted body of an Accepted, from `at` to `end`; undefined when it is malformed. */
export function readAcceptance(bytes: Uint8Array, at: number, end: number): Acceptance | undefined {
  if (at + WELCOME_AT > end) return undefined
  const size = readUint16(bytes, at + WELCOME_SIZE_AT)
  const datagramBytesMax = readUint16(bytes, at + BYTES_MAX_AT)
  if (size > WELCOME_BYTES_MAX || at + WELCOME_AT + size !== end || datagramBytesMax < DATAGRAM_BYTES_SAFE)
    return undefined
  return {
    resetToken: bytes.slice(at, at + SIGNATURE_AT),
    signature: bytes.slice(at + SIGNATURE_AT, at + BYTES_MAX_AT),
    datagramBytesMax,
    welcome: bytes.slice(at + WELCOME_AT, end),
  }
}

function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
}

function readUint16(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8)
}
