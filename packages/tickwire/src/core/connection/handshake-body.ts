/**
 * The sealed halves of a handshake: what client and server tell each other once only they can read it.
 *
 * ```
 * Response   │ fingerprint 8 │ size 1 │ user ≤ 64 │ zeros │
 * Accepted   │ reset token 16 │ signature 64 │ bytes max 2, LE │ size 2, LE │ welcome ≤ 256 │
 * ```
 *
 * Whoever wrote these had the keys, so a body that makes no sense is a peer of another mind; it is still only refused.
 */

import { assert } from '../base/assert.ts'
import { DATAGRAM_BYTES_SAFE, USER_BYTES_MAX, WELCOME_BYTES_MAX } from '../base/limits.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { FINGERPRINT_BYTES, RESET_TOKEN_BYTES } from './handshake.ts'

/** What a client says of itself. */
export interface Hello {
  readonly fingerprint: Uint8Array
  readonly user: Uint8Array
}

/** What a server answers. */
export interface Acceptance {
  /** What it would prove with that it has forgotten this connection. */
  readonly resetToken: Uint8Array
  /** Over the transcript, by its identity key. */
  readonly signature: Uint8Array
  /** The longest datagram that it takes. */
  readonly datagramBytesMax: number
  readonly welcome: Uint8Array
}

const SIGNATURE_AT = RESET_TOKEN_BYTES
const BYTES_MAX_AT = SIGNATURE_AT + CRYPTO_BYTES.signature
const WELCOME_SIZE_AT = BYTES_MAX_AT + 2
const WELCOME_AT = WELCOME_SIZE_AT + 2

/** Reads the opened body of a Response, from `at` to `end`; undefined when it makes no sense. */
export function readHello(bytes: Uint8Array, at: number, end: number): Hello | undefined {
  const userAt = at + FINGERPRINT_BYTES + 1
  const size = bytes[userAt - 1]
  if (userAt > end || size > USER_BYTES_MAX || userAt + size > end) return undefined
  for (let index = userAt + size; index < end; index++) if (bytes[index] !== 0) return undefined
  return { fingerprint: bytes.slice(at, at + FINGERPRINT_BYTES), user: bytes.slice(userAt, userAt + size) }
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

/** Reads the opened body of an Accepted, from `at` to `end`; undefined when it makes no sense. */
export function readAcceptance(bytes: Uint8Array, at: number, end: number): Acceptance | undefined {
  if (at + WELCOME_AT > end) return undefined
  const size = readUint16(bytes, at + WELCOME_SIZE_AT)
  const datagramBytesMax = readUint16(bytes, at + BYTES_MAX_AT)
  if (size > WELCOME_BYTES_MAX || at + WELCOME_AT + size !== end || datagramBytesMax < DATAGRAM_BYTES_SAFE) return undefined
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
