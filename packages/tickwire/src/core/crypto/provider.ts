/**
 * The interface of a crypto library. One contract, several implementations: the pure one of this folder, which runs on
 * every platform, and faster ones that an edge discovers (`tickwire/node`).
 *
 * Everything is synchronous, because packets are sealed during a poll. Secrets are passed in once and become a handle,
 * so that a library can keep them in its own form and they can be wiped. Randomness never comes from a provider: the
 * code that makes a key draws its bytes from an `Entropy`, so that a whole match is a function of its seed.
 *
 * Invariant: every implementation gives the same bytes for the same input, and refuses the same input (CRYPTO1).
 *
 * A provider decides nothing about nonces, epochs or messages: `suite.ts` and the code above it do.
 */

/** Cipher suites by their number on the wire. */
export const SUITE = {
  /** The default: fast in plain code, and without tables that leak through cache timing. */
  chacha20Poly1305: 1,
  /** For environments that require AES. */
  aes256Gcm: 2,
} as const

/** The number of a cipher suite. */
export type SuiteId = (typeof SUITE)[keyof typeof SUITE]

/** Sizes in bytes that are the same in every suite. */
export const CRYPTO_BYTES = {
  key: 32, nonce: 12, tag: 16, publicKey: 32, signature: 64, hash: 32,
} as const

/** A cipher with one key. Header, body and tag together are at most as long as a datagram. */
export interface AeadKey {
  /**
   * Encrypts in place the `plaintextLength` bytes after the first `headerLength` bytes, authenticates the header, and
   * writes the tag of 16 bytes after the ciphertext.
   */
  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void
  /**
   * Decrypts in place `sealedLength` bytes: ciphertext and tag. False when any bit of header, body or tag was modified;
   * `bytes` are then unchanged. Never throws.
   */
  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean
  /** Wipes the key, as far as the platform allows. The key must not be used again. */
  wipe(): void
}

/** An X25519 secret key. */
export interface AgreementKey {
  readonly publicKey: Uint8Array
  /** The shared secret; undefined when the peer's key has small order, so that every key would agree on zero. */
  agree(peerPublicKey: Uint8Array): Uint8Array | undefined
  wipe(): void
}

/** An Ed25519 secret key. */
export interface SigningKey {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
  wipe(): void
}

/** An Ed25519 public key. */
export interface VerifyingKey {
  readonly publicKey: Uint8Array
  /** Never throws, whatever the bytes. */
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/** A crypto library. */
export interface CryptoProvider {
  /** For logs: the library and its version. */
  readonly name: string
  /** `key` has 32 bytes and is copied. */
  importAead(suite: SuiteId, key: Uint8Array): AeadKey
  /** `secret` has 32 random bytes and is copied. */
  importAgreement(secret: Uint8Array): AgreementKey
  /** `seed` has 32 random bytes and is copied. */
  importSigning(seed: Uint8Array): SigningKey
  /** `publicKey` has 32 bytes. */
  importVerifying(publicKey: Uint8Array): VerifyingKey
  /** The SHA-256 digest: 32 bytes. */
  sha256(bytes: Uint8Array): Uint8Array
  /** The HMAC with SHA-256: 32 bytes. */
  hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array
}
