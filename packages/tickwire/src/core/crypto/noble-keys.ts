/**
 * Keys on top of noble's primitives. The provider passes the primitives in. Nothing of noble is imported here, so a
 * bundle that needs one cipher does not contain two.
 */

import { assert } from '../base/assert.ts'
import { wipe } from './constant-time.ts'
import { CRYPTO_BYTES, type AeadKey, type AgreementKey } from './provider.ts'

/** One of noble's AEADs. */
export type NobleCipher = (key: Uint8Array, nonce: Uint8Array, header: Uint8Array) => {
  encrypt(plaintext: Uint8Array): Uint8Array
  decrypt(sealed: Uint8Array): Uint8Array
}

/** The interface of noble's X25519. */
export interface NobleCurve {
  getPublicKey(secret: Uint8Array): Uint8Array
  getSharedSecret(secret: Uint8Array, peerPublicKey: Uint8Array): Uint8Array
}

const TAG_BYTES = CRYPTO_BYTES.tag

/** A cipher with one key. */
export class NobleAeadKey implements AeadKey {
  #cipher: NobleCipher
  #key: Uint8Array

  constructor(cipher: NobleCipher, key: Uint8Array) {
    assert(key.length === CRYPTO_BYTES.key, 'an AEAD key has 32 bytes')
    this.#cipher = cipher
    this.#key = Uint8Array.from(key)
  }

  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void {
    const end = headerLength + plaintextLength
    const sealed = bytes.subarray(headerLength, end + TAG_BYTES)
    const out = this.#cipher(this.#key, nonce, bytes.subarray(0, headerLength)).encrypt(
      bytes.subarray(headerLength, end),
    )
    sealed.set(out)
  }

  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean {
    if (sealedLength < TAG_BYTES) return false
    try {
      const sealed = bytes.subarray(headerLength, headerLength + sealedLength)
      bytes.set(this.#cipher(this.#key, nonce, bytes.subarray(0, headerLength)).decrypt(sealed), headerLength)
      return true
    } catch {
      // A wrong tag: noble throws before it decrypts anything.
      return false
    }
  }

  wipe(): void {
    wipe(this.#key)
  }
}

/** An X25519 secret key. */
export class NobleAgreementKey implements AgreementKey {
  readonly publicKey: Uint8Array
  #curve: NobleCurve
  #secret: Uint8Array

  constructor(curve: NobleCurve, secret: Uint8Array) {
    this.#curve = curve
    this.#secret = Uint8Array.from(secret)
    this.publicKey = curve.getPublicKey(this.#secret)
  }

  agree(peerPublicKey: Uint8Array): Uint8Array | undefined {
    try {
      return this.#curve.getSharedSecret(this.#secret, peerPublicKey)
    } catch {
      // A point of small order, or not 32 bytes.
      return undefined
    }
  }

  wipe(): void {
    wipe(this.#secret)
  }
}
