/**
 * Derives keys from the randomness of both sides, for each sealing side, epoch, suite and transcript.
 *
 * ```
 * shared      = X25519(client's ephemeral key, server's ephemeral key)
 * hello       = HKDF-Extract(salt: challenge,                 input: shared)    seals the client's first message, once
 * secret 0    = HKDF-Extract(salt: challenge | server random, input: shared)
 * secret e+1  = HKDF-Extract(salt: secret e,                  input: a new shared)
 * material    = HKDF-Expand(secret, label | 00 | suite 1 | epoch 4, LE | transcript 32)
 *               key 32, and salt 8 in suite 2
 * ```
 *
 * Labels: `tickwire/v1/hello`, `tickwire/v1/client` (the client seals), `tickwire/v1/server` (the server seals).
 *
 * Invariant: every key under which a side seals depends on bytes that this side drew for this connection: the client's
 * ephemeral key, the server's random bytes. So a repeated message, a reused token or a restarted server never uses a
 * key that has sealed before (CRYPTO9). The token is in the transcript and never in a secret.
 *
 * The caller must wipe the secrets.
 */

import { assert } from '../base/assert.ts'
import { writeUint32 } from '../packet/header.ts'
import { hkdfExpand, hkdfExtract } from './hkdf.ts'
import { concat, label } from './label.ts'
import { CRYPTO_BYTES, type CryptoProvider } from './provider.ts'
import { keyMaterialBytes, type CryptoSuite } from './suite.ts'

/** Bytes of the challenge cookie. */
export const CHALLENGE_BYTES = 16

/** Bytes that a server draws for each connection it accepts. */
export const SERVER_RANDOM_BYTES = 16

/** The side that seals. */
export type Role = 'client' | 'server'

const HELLO = label('tickwire/v1/hello')
const LABELS: Readonly<Record<Role, Uint8Array>> = {
  client: label('tickwire/v1/client'),
  server: label('tickwire/v1/server'),
}

/** The secret for the client's first sealed message, from all that both sides know by then. */
export function helloSecret(provider: CryptoProvider, shared: Uint8Array, challenge: Uint8Array): Uint8Array {
  assert(challenge.length === CHALLENGE_BYTES, 'a challenge has 16 bytes')
  return hkdfExtract(provider, challenge, shared)
}

/** The secret of epoch 0. */
export function firstSecret(
  provider: CryptoProvider, shared: Uint8Array, challenge: Uint8Array, serverRandom: Uint8Array,
): Uint8Array {
  assert(
    challenge.length === CHALLENGE_BYTES && serverRandom.length === SERVER_RANDOM_BYTES,
    'both randoms have 16 bytes',
  )
  return hkdfExtract(provider, concat(challenge, serverRandom), shared)
}

/** The secret of the epoch after that of `secret`. It cannot be computed without both inputs. */
export function nextSecret(provider: CryptoProvider, secret: Uint8Array, shared: Uint8Array): Uint8Array {
  return hkdfExtract(provider, secret, shared)
}

/** Derives the key of the hello from `helloSecret`. Used for one message, sequence 0. */
export function helloMaterial(
  provider: CryptoProvider, suite: CryptoSuite, secret: Uint8Array, transcript: Uint8Array,
): Uint8Array {
  return expand(provider, suite, secret, HELLO, 0, transcript)
}

/** The key that `sealer` seals with in `epoch`, and its peer opens with. */
export function directionMaterial(
  provider: CryptoProvider, suite: CryptoSuite, secret: Uint8Array, sealer: Role, epoch: number, transcript: Uint8Array,
): Uint8Array {
  return expand(provider, suite, secret, LABELS[sealer], epoch, transcript)
}

function expand(
  provider: CryptoProvider,
  suite: CryptoSuite,
  secret: Uint8Array,
  purpose: Uint8Array,
  epoch: number,
  transcript: Uint8Array,
): Uint8Array {
  assert(
    transcript.length === CRYPTO_BYTES.hash && secret.length === CRYPTO_BYTES.hash,
    'secrets and transcripts have 32 bytes',
  )
  const numbers = new Uint8Array(5)
  numbers[0] = suite.id
  writeUint32(numbers, 1, epoch)
  return hkdfExpand(provider, secret, concat(purpose, numbers, transcript), keyMaterialBytes(suite))
}
