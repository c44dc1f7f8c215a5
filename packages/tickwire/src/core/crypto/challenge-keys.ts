/**
 * What a server needs to challenge strangers: a secret for cookies, and an ephemeral key for each time bucket that all
 * challenges of that bucket share.
 *
 * So a stranger costs one HMAC, and a flood of them no multiplication on a curve. The key of a bucket is wiped two
 * buckets later: what was agreed with it cannot be recovered afterwards. Sharing it is safe because the client's key, and
 * the random that the server draws for each connection, differ.
 *
 * Invariant: at most two keys exist; nothing is kept for a stranger.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import { challengeBucket, checkCookie, makeCookie } from './challenge-cookie.ts'
import { wipe } from './constant-time.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider } from './provider.ts'

/** A server's answer to a stranger. */
export interface Challenge {
  /** 16 bytes. */
  readonly cookie: Uint8Array
  /** The server's ephemeral public key. */
  readonly serverKey: Uint8Array
}

/** What all challenges of one bucket have in common. */
export interface ChallengeEra {
  /** Counts up: of two challenges the one of the higher bucket was given later. */
  readonly bucket: number
  /** The server's ephemeral key that stood beside them. */
  readonly key: AgreementKey
}

/** Challenges of one server. */
export class ChallengeKeys {
  #provider: CryptoProvider
  #entropy: Entropy
  #secret: Uint8Array = new Uint8Array(CRYPTO_BYTES.key)
  #current: ChallengeEra | undefined = undefined
  #previous: ChallengeEra | undefined = undefined

  constructor(provider: CryptoProvider, entropy: Entropy) {
    this.#provider = provider
    this.#entropy = entropy
    entropy.fill(this.#secret)
  }

  /** What to answer a client's public key at its address with. */
  challenge(now: Millis, address: string, clientKey: Uint8Array): Challenge {
    const { bucket, key } = this.#keyOf(challengeBucket(now))
    return { cookie: makeCookie(this.#provider, this.#secret, bucket, address, clientKey), serverKey: key.publicKey }
  }

  /** When this cookie was given, and the key that stood beside it; undefined when it was not, or too long ago. */
  recognise(now: Millis, address: string, clientKey: Uint8Array, cookie: Uint8Array): ChallengeEra | undefined {
    const bucket = challengeBucket(now)
    this.#turn(bucket)
    const made = checkCookie(this.#provider, this.#secret, bucket, address, clientKey, cookie)
    if (made === undefined) return undefined
    if (made === this.#current?.bucket) return this.#current
    return made === this.#previous?.bucket ? this.#previous : undefined
  }

  /** Forgets everything: the server is going down. */
  wipe(): void {
    wipe(this.#secret)
    this.#current?.key.wipe()
    this.#previous?.key.wipe()
    this.#current = undefined
    this.#previous = undefined
  }

  #keyOf(bucket: number): ChallengeEra {
    this.#turn(bucket)
    if (this.#current === undefined) {
      const secret = new Uint8Array(CRYPTO_BYTES.key)
      this.#entropy.fill(secret)
      this.#current = { bucket, key: this.#provider.importAgreement(secret) }
      wipe(secret)
    }
    return this.#current
  }

  /** Moves keys to where they belong now, and wipes those that are over. */
  #turn(bucket: number): void {
    if (this.#current !== undefined && this.#current.bucket < bucket) {
      this.#previous?.key.wipe()
      this.#previous = this.#current
      this.#current = undefined
    }
    if (this.#previous !== undefined && this.#previous.bucket < bucket - 1) {
      this.#previous.key.wipe()
      this.#previous = undefined
    }
  }
}
