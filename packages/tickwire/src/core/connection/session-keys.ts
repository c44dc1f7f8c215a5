/**
 * From a handshake to keys: which words of it go into which transcript, the same on both sides.
 *
 * ```
 * hello      version | suite | client key | challenge | server key | token
 * session    version | suite | fingerprint | client key | challenge | server key | token | user | server random | connection id
 * ```
 *
 * The hello leaves out what it seals. The fingerprint in the session's is the client's: a server whose own differs can
 * still say so under keys. The connection id of a refusal is 0.
 */

import type { Millis } from '../base/time.ts'
import { KeyRing, type RekeyPolicy } from '../crypto/key-ring.ts'
import { firstSecret, helloMaterial, helloSecret, type Role } from '../crypto/key-schedule.ts'
import { wipe } from '../crypto/constant-time.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import type { CryptoSuite } from '../crypto/suite.ts'
import { TRANSCRIPT_PART, Transcript } from '../crypto/transcript.ts'
import { PROTOCOL_VERSION, writeUint32 } from '../packet/header.ts'
import type { Hello } from './handshake-body.ts'

/** What both sides know when the client answers a challenge. Copies: nobody else writes to them. */
export interface HandshakeWords {
  readonly suite: CryptoSuite
  readonly clientKey: Uint8Array
  readonly cookie: Uint8Array
  readonly serverKey: Uint8Array
  readonly token: Uint8Array
}

/** What a server adds. */
export interface ServerWords {
  readonly random: Uint8Array
  readonly idLo: number
  readonly idHi: number
}

/** Keys of a connection, and the hash of the conversation that led to them. */
export interface SessionKeys {
  readonly ring: KeyRing
  readonly transcript: Uint8Array
}

/** The key that a client's hello is sealed with, once. */
export function deriveHello(provider: CryptoProvider, words: HandshakeWords, shared: Uint8Array): Uint8Array {
  const { suite, clientKey, cookie, serverKey, token } = words
  const transcript = new Transcript()
    .add(TRANSCRIPT_PART.version, Uint8Array.of(PROTOCOL_VERSION))
    .add(TRANSCRIPT_PART.suite, Uint8Array.of(suite.id))
    .add(TRANSCRIPT_PART.clientKey, clientKey)
    .add(TRANSCRIPT_PART.challenge, cookie)
    .add(TRANSCRIPT_PART.serverKey, serverKey)
    .add(TRANSCRIPT_PART.token, token)
  const secret = helloSecret(provider, shared, cookie)
  const material = helloMaterial(provider, suite, secret, transcript.hash(provider))
  wipe(secret)
  return material
}

/** The keys of a connection, from epoch 0 on. */
export function deriveSession(
  now: Millis, provider: CryptoProvider, role: Role, words: HandshakeWords, shared: Uint8Array, hello: Hello, server: ServerWords,
  rekey: Partial<RekeyPolicy>,
): SessionKeys {
  const { suite, clientKey, cookie, serverKey, token } = words
  const connection = new Uint8Array(8)
  writeUint32(connection, 0, server.idLo)
  writeUint32(connection, 4, server.idHi)
  const transcript = new Transcript()
    .add(TRANSCRIPT_PART.version, Uint8Array.of(PROTOCOL_VERSION))
    .add(TRANSCRIPT_PART.suite, Uint8Array.of(suite.id))
    .add(TRANSCRIPT_PART.fingerprint, hello.fingerprint)
    .add(TRANSCRIPT_PART.clientKey, clientKey)
    .add(TRANSCRIPT_PART.challenge, cookie)
    .add(TRANSCRIPT_PART.serverKey, serverKey)
    .add(TRANSCRIPT_PART.token, token)
    .add(TRANSCRIPT_PART.user, hello.user)
    .add(TRANSCRIPT_PART.serverRandom, server.random)
    .add(TRANSCRIPT_PART.connection, connection)
    .hash(provider)
  const secret = firstSecret(provider, shared, cookie, server.random)
  return { transcript, ring: new KeyRing(now, { provider, suite, role, secret, transcript, rekey }) }
}
