/**
 * All of noble except its ciphers, in the form of a provider: X25519, Ed25519, SHA-256 and HMAC. Signatures are
 * verified by `ed25519-verify.ts`.
 */

import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { wipe } from './constant-time.ts'
import { importVerifyingKey } from './ed25519-verify.ts'
import { nobleHashes } from './noble-hashes.ts'
import { NobleAgreementKey } from './noble-keys.ts'
import type { CryptoProvider, SigningKey } from './provider.ts'

/** A provider without ciphers. */
export const nobleCurves: Omit<CryptoProvider, 'name' | 'importAead'> = {
  ...nobleHashes,
  importAgreement: (secret) => new NobleAgreementKey(x25519, secret),
  importSigning: (seed) => new NobleSigningKey(seed),
  // Noble checks the cofactored equation, and so accepts signatures that all other libraries refuse.
  importVerifying: importVerifyingKey,
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
