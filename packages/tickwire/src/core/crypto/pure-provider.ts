/**
 * The provider that runs everywhere: @noble, audited, plain JavaScript, no WebAssembly and no build.
 *
 * Ten times slower than native code (docs/adr/0012-crypto-providers.md), which a client with sixty packets a second
 * does not notice. It allocates a few views and small objects for every packet: noble offers no other way.
 */

import { gcm } from '@noble/ciphers/aes.js'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { assert } from '../base/assert.ts'
import { wipe } from './constant-time.ts'
import {
  CRYPTO_BYTES, SUITE, type AeadKey, type AgreementKey, type CryptoProvider, type SigningKey, type SuiteId, type VerifyingKey,
} from './provider.ts'

const TAG_BYTES = CRYPTO_BYTES.tag

/** RFC 8032 to the letter: noble's default also takes signatures that other libraries refuse. */
const STRICT = { zip215: false } as const

/** All primitives in plain JavaScript. */
export const pureProvider: CryptoProvider = {
  name: 'noble 2.4.0',
  importAead: (suite, key) => new NobleAeadKey(suite, key),
  importAgreement: (secret) => new NobleAgreementKey(secret),
  importSigning: (seed) => new NobleSigningKey(seed),
  importVerifying: (publicKey) => new NobleVerifyingKey(publicKey),
  sha256: (bytes) => sha256(bytes),
  hmacSha256: (key, bytes) => hmac(sha256, key, bytes),
}

class NobleAeadKey implements AeadKey {
  #cipher: typeof gcm | typeof chacha20poly1305
  #key: Uint8Array

  constructor(suite: SuiteId, key: Uint8Array) {
    assert(key.length === CRYPTO_BYTES.key, 'an AEAD key has 32 bytes')
    this.#cipher = suite === SUITE.aes256Gcm ? gcm : chacha20poly1305
    this.#key = Uint8Array.from(key)
  }

  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void {
    const end = headerLength + plaintextLength
    const sealed = bytes.subarray(headerLength, end + TAG_BYTES)
    const out = this.#cipher(this.#key, nonce, bytes.subarray(0, headerLength)).encrypt(bytes.subarray(headerLength, end))
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

class NobleAgreementKey implements AgreementKey {
  readonly publicKey: Uint8Array
  #secret: Uint8Array

  constructor(secret: Uint8Array) {
    this.#secret = Uint8Array.from(secret)
    this.publicKey = x25519.getPublicKey(this.#secret)
  }

  agree(peerPublicKey: Uint8Array): Uint8Array | undefined {
    try {
      return x25519.getSharedSecret(this.#secret, peerPublicKey)
    } catch {
      // A point of small order, or not 32 bytes.
      return undefined
    }
  }

  wipe(): void {
    wipe(this.#secret)
  }
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
