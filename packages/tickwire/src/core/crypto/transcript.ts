/**
 * The handshake so far, as one hash. Both sides must have seen the same bytes, or their keys differ and nothing opens.
 *
 * ```
 * SHA-256( "tickwire/v1/transcript" 00 | part | part | … )        part = number 1 | size 4, LE | bytes
 * ```
 *
 * Parts are in the order of their numbers, each at most once, so that a handshake has one encoding.
 *
 * A server proves its identity twice. Once for each bucket it signs the ephemeral key of its challenges, so that a
 * client can check it before it seals anything. For each connection it signs the hash of the whole handshake, so that a
 * stolen ephemeral key alone is not enough to impersonate the server.
 *
 * ```
 * challenge   "tickwire/v3/challenge-key" 00 | version 1 | server key 32
 * accepted    "tickwire/v1/server-identity" 00 | hash 32
 * ```
 *
 * This file does not know the messages: the handshake code adds the parts.
 */

import { assert } from '../base/assert.ts'
import { PROTOCOL_VERSION, writeUint32 } from '../packet/header.ts'
import { concat, label } from './label.ts'
import type { CryptoProvider, SigningKey, VerifyingKey } from './provider.ts'

/** The parts of a handshake, in the order in which they are hashed. */
export const TRANSCRIPT_PART = {
  /** One byte: the protocol version. */
  version: 1,
  /** One byte: the suite that both sides will use. */
  suite: 2,
  /** The schema's fingerprint. */
  fingerprint: 3,
  /** The client's ephemeral public key. */
  clientKey: 4,
  challenge: 5,
  /** The server's ephemeral public key. */
  serverKey: 6,
  /** The token as it was sent; empty when tokens are not used. */
  token: 7,
  /** User bytes from the client. */
  user: 8,
  serverRandom: 9,
  /** The connection's id, as in the header. */
  connection: 10,
  /** The suites that the client offers, a byte each, best first. A list altered on the path gives different keys. */
  offered: 11,
  /** The join data; left out when it is empty. */
  data: 12,
} as const

/** The number of a part. */
export type TranscriptPart = (typeof TRANSCRIPT_PART)[keyof typeof TRANSCRIPT_PART]

const HASHED = label('tickwire/v1/transcript')
const SIGNED = label('tickwire/v1/server-identity')
const CHALLENGE_SIGNED = label('tickwire/v3/challenge-key')

/** A growing transcript. Its hash may be taken at any point. */
export class Transcript {
  #parts: Uint8Array[] = [HASHED]
  #last: number = 0

  /** `bytes` are copied. */
  add(part: TranscriptPart, bytes: Uint8Array): this {
    assert(part > this.#last, 'the parts of a transcript are added in order, each once')
    this.#last = part
    const head = new Uint8Array(5)
    head[0] = part
    writeUint32(head, 1, bytes.length)
    this.#parts.push(head, Uint8Array.from(bytes))
    return this
  }

  /** The 32-byte hash of all parts so far. */
  hash(provider: CryptoProvider): Uint8Array {
    return provider.sha256(concat(...this.#parts))
  }
}

/** The server's signature over the ephemeral key of a bucket, 64 bytes. */
export function signChallengeKey(identity: SigningKey, serverKey: Uint8Array): Uint8Array {
  return identity.sign(concat(CHALLENGE_SIGNED, Uint8Array.of(PROTOCOL_VERSION), serverKey))
}

/** Verifies that signature on the client. Never throws. */
export function verifyChallengeKey(identity: VerifyingKey, serverKey: Uint8Array, signature: Uint8Array): boolean {
  return identity.verify(concat(CHALLENGE_SIGNED, Uint8Array.of(PROTOCOL_VERSION), serverKey), signature)
}

/** The server's signature over a handshake, 64 bytes: the holder of the identity key took part in it. */
export function signTranscript(identity: SigningKey, hash: Uint8Array): Uint8Array {
  return identity.sign(concat(SIGNED, hash))
}

/** Verifies that signature on the client. Never throws. */
export function verifyTranscript(identity: VerifyingKey, hash: Uint8Array, signature: Uint8Array): boolean {
  return identity.verify(concat(SIGNED, hash), signature)
}
