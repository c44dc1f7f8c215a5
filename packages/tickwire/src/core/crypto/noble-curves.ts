/**
 * Everything of noble but its ciphers: X25519, Ed25519, SHA-256 and HMAC, as a provider has them.
 */

import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { wipe } from './constant-time.ts'
import { nobleHashes } from './noble-hashes.ts'
import { NobleAgreementKey } from './noble-keys.ts'
import type { CryptoProvider, SigningKey, VerifyingKey } from './provider.ts'

/** RFC 8032 to the letter: noble's default also takes signatures that other libraries refuse. */
const STRICT = { zip215: false } as const

/** All of a provider but its ciphers. */
export const nobleCurves: Omit<CryptoProvider, 'name' | 'importAead'> = {
  ...nobleHashes,
  importAgreement: (secret) => new NobleAgreementKey(x25519, secret),
  importSigning: (seed) => new NobleSigningKey(seed),
  importVerifying: (publicKey) => new NobleVerifyingKey(publicKey),
}

class NobleSigningKey implements SigningKey {
  readonly publicKey: Uint8Array
  #seed: Uint8Array

  constructor(seed: Uint8Array) {
    this.#seed = Uint8Array.from(seed)
    this.publicKey = ed25519.getPublicKey(this.#seed)
  }

  sign(message: Uint8Array): Uint8Array {
    return ed25519.sign(message, this.#seed)
  }

  wipe(): void {
    wipe(this.#seed)
  }
}

class NobleVerifyingKey implements VerifyingKey {
  readonly publicKey: Uint8Array

  constructor(publicKey: Uint8Array) {
    this.publicKey = Uint8Array.from(publicKey)
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    try {
      return ed25519.verify(signature, message, this.publicKey, STRICT)
    } catch {
      // Not a point, or not 64 bytes.
      return false
    }
  }
}
