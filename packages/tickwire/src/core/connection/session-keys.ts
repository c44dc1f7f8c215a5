/**
 * Derives keys from a handshake: which fields go into which transcript, the same on both sides.
 *
 * ```
 * hello      version | suite | client key | challenge | server key | offered suites
 * session    version | suite | fingerprint | client key | challenge | server key | token | user | server random
 *            | connection id
 *            | offered suites
 * ```
 *
 * The hello transcript leaves out the fields that it seals. The fingerprint in the session transcript is the client's,
 * so a server with a different fingerprint can still send a sealed refusal. The connection id of a refusal is 0.
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

/** Known to both sides when the client answers a challenge. The arrays are copies that are not written to. */
export interface HandshakeWords {
  readonly suite: CryptoSuite
  readonly clientKey: Uint8Array
  readonly cookie: Uint8Array
  readonly serverKey: Uint8Array
  /** The suites that the client offers, best first. A list that was altered on the path gives different keys. */
  readonly offered: Uint8Array
}

/** Fields that the server adds. */
export interface ServerWords {
  readonly random: Uint8Array
  readonly idLo: number
  readonly idHi: number
}

/** Keys of a connection, and the hash of the handshake that led to them. */
export interface SessionKeys {
  readonly ring: KeyRing
  readonly transcript: Uint8Array
}

/** The key that seals the client's hello, once. */
export function deriveHello(provider: CryptoProvider, words: HandshakeWords, shared: Uint8Array): Uint8Array {
  const { suite, clientKey, cookie, serverKey, offered } = words
  const transcript = new Transcript()
    .add(TRANSCRIPT_PART.version, Uint8Array.of(PROTOCOL_VERSION))
    .add(TRANSCRIPT_PART.suite, Uint8Array.of(suite.id))
    .add(TRANSCRIPT_PART.clientKey, clientKey)
    .add(TRANSCRIPT_PART.challenge, cookie)
    .add(TRANSCRIPT_PART.serverKey, serverKey)
    .add(TRANSCRIPT_PART.offered, offered)
  const secret = helloSecret(provider, shared, cookie)
  const material = helloMaterial(provider, suite, secret, transcript.hash(provider))
  wipe(secret)
  return material
}

/** The keys of a connection, from epoch 0 onward. */
export function deriveSession(
  now: Millis,
  provider: CryptoProvider,
  role: Role,
  words: HandshakeWords,
  shared: Uint8Array,
  hello: Hello,
  server: ServerWords,
  rekey: Partial<RekeyPolicy>,
): SessionKeys {
  const { suite, clientKey, cookie, serverKey, offered } = words
  const connection = new Uint8Array(8)
  writeUint32(connection, 0, server.idLo)
  writeUint32(connection, 4, server.idHi)
  const parts = new Transcript()
    .add(TRANSCRIPT_PART.version, Uint8Array.of(PROTOCOL_VERSION))
    .add(TRANSCRIPT_PART.suite, Uint8Array.of(suite.id))
    .add(TRANSCRIPT_PART.fingerprint, hello.fingerprint)
    .add(TRANSCRIPT_PART.clientKey, clientKey)
    .add(TRANSCRIPT_PART.challenge, cookie)
    .add(TRANSCRIPT_PART.serverKey, serverKey)
    .add(TRANSCRIPT_PART.token, hello.token)
    .add(TRANSCRIPT_PART.user, hello.user)
    .add(TRANSCRIPT_PART.serverRandom, server.random)
    .add(TRANSCRIPT_PART.connection, connection)
    .add(TRANSCRIPT_PART.offered, offered)
  if (hello.data.length > 0) parts.add(TRANSCRIPT_PART.data, hello.data)
  const transcript = parts.hash(provider)
  const secret = firstSecret(provider, shared, cookie, server.random)
  return { transcript, ring: new KeyRing(now, { provider, suite, role, secret, transcript, rekey }) }
}
