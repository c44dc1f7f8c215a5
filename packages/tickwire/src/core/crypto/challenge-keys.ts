/**
 * The server's state for challenges: a secret for cookies, and for each time bucket an ephemeral key that all
 * challenges of that bucket share.
 *
 * The identity key signs the ephemeral key, once for each bucket. So a request costs one HMAC, and a flood of requests
 * costs no curve multiplication beyond one key and one signature every 4 s. The key of a bucket is wiped two buckets
 * later, so secrets agreed with it cannot be recovered afterwards. Sharing the key is safe because the client's key,
 * and the random bytes that the server draws for each connection, differ.
 *
 * Invariant: at most two keys exist; nothing is stored for a client that has only sent a request.
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import { challengeBucket, checkCookie, makeCookie } from './challenge-cookie.ts'
import { wipe } from './constant-time.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider, type SigningKey } from './provider.ts'
import { signChallengeKey } from './transcript.ts'

/** A server's answer to a request. */
export interface Challenge {
  /** 16 bytes. */
  readonly cookie: Uint8Array
  /** The server's ephemeral public key. */
  readonly serverKey: Uint8Array
  /** Signature of the identity key over `serverKey`. */
  readonly signature: Uint8Array
}

/** Shared by all challenges of one bucket. */
export interface ChallengeEra {
  /** Increases with time: a challenge with a higher bucket was sent later. */
  readonly bucket: number
  /** The server's ephemeral key in these challenges. */
  readonly key: AgreementKey
  /** Signature of the identity key over the public half of `key`. */
  readonly signature: Uint8Array
}

/** The challenges of one server. */
export class ChallengeKeys {
  #provider: CryptoProvider
  #entropy: Entropy
  #identity: SigningKey
  #secret: Uint8Array = new Uint8Array(CRYPTO_BYTES.key)
  #current: ChallengeEra | undefined = undefined
  #previous: ChallengeEra | undefined = undefined

  constructor(provider: CryptoProvider, entropy: Entropy, identity: SigningKey) {
    this.#provider = provider
    this.#identity = identity
    this.#entropy = entropy
    entropy.fill(this.#secret)
  }

  /** The challenge for a client's public key at its address. */
  challenge(now: Millis, address: string, clientKey: Uint8Array): Challenge {
    const { bucket, key, signature } = this.#keyOf(challengeBucket(now))
    return {
      cookie: makeCookie(this.#provider, this.#secret, bucket, address, clientKey),
      serverKey: key.publicKey,
      signature,
    }
  }

  /** The bucket and key of a cookie; undefined when the cookie is invalid or expired. */
  recognise(now: Millis, address: string, clientKey: Uint8Array, cookie: Uint8Array): ChallengeEra | undefined {
    const bucket = challengeBucket(now)
    this.#turn(bucket)
    const made = checkCookie(this.#provider, this.#secret, bucket, address, clientKey, cookie)
    if (made === undefined) return undefined
    if (made === this.#current?.bucket) return this.#current
    return made === this.#previous?.bucket ? this.#previous : undefined
  }

  /** Wipes all keys: the server is shutting down. */
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
      const key = this.#provider.importAgreement(secret)
      this.#current = { bucket, key, signature: signChallengeKey(this.#identity, key.publicKey) }
      wipe(secret)
    }
    return this.#current
  }

  /** Moves the current key to the previous place when its bucket is over, and wipes expired keys. */
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
