/**
 * The conversation so far, as one hash: both sides must have seen the same, or their keys differ and nothing opens.
 *
 * ```
 * SHA-256( "tickwire/v1/transcript" 00 | part | part | … )        part = number 1 | size 4, LE | bytes
 * ```
 *
 * Parts come in the order of their numbers, each at most once, so that there is one way to tell a conversation. With
 * it a server proves who it is: it signs the hash with the identity key that the client's token names.
 *
 * It does not know the messages: whoever speaks a handshake says what was said.
 */

import { assert } from '../base/assert.ts'
import { writeUint32 } from '../packet/header.ts'
import { concat, label } from './label.ts'
import type { CryptoProvider, SigningKey, VerifyingKey } from './provider.ts'

/** What a handshake consists of, in the order in which it is told. */
export const TRANSCRIPT_PART = {
  /** One byte: the wire's version. */
  version: 1,
  /** One byte: the suite that both will use. Nobody can talk them down to another. */
  suite: 2,
  /** The schema's fingerprint. */
  fingerprint: 3,
  /** The client's ephemeral public key. */
  clientKey: 4,
  challenge: 5,
  /** The server's ephemeral public key. */
  serverKey: 6,
  /** The token as it was sent; empty in play without tokens. */
  token: 7,
  /** What the client says of itself. */
  user: 8,
  serverRandom: 9,
  /** The connection's id, as in the header. */
  connection: 10,
} as const

/** The number of a part. */
export type TranscriptPart = (typeof TRANSCRIPT_PART)[keyof typeof TRANSCRIPT_PART]

const HASHED = label('tickwire/v1/transcript')
const SIGNED = label('tickwire/v1/server-identity')

/** A conversation that grows. Its hash may be taken at any point. */
export class Transcript {
  #parts: Uint8Array[] = [HASHED]
  #last: number = 0

  /** `bytes` are copied. */
  add(part: TranscriptPart, bytes: Uint8Array): this {
    assert(part > this.#last, 'a transcript is told in order, each part once')
    this.#last = part
    const head = new Uint8Array(5)
    head[0] = part
    writeUint32(head, 1, bytes.length)
    this.#parts.push(head, Uint8Array.from(bytes))
    return this
  }

  /** 32 bytes that stand for all parts so far. */
  hash(provider: CryptoProvider): Uint8Array {
    return provider.sha256(concat(...this.#parts))
  }
}

/** The server's proof, 64 bytes: whoever holds the identity key was part of this very conversation. */
export function signTranscript(identity: SigningKey, hash: Uint8Array): Uint8Array {
  return identity.sign(concat(SIGNED, hash))
}

/** The client's check of it. Never throws. */
export function verifyTranscript(identity: VerifyingKey, hash: Uint8Array, signature: Uint8Array): boolean {
  return identity.verify(concat(SIGNED, hash), signature)
}
