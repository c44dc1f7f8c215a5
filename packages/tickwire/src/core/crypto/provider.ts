/**
 * What Tickwire asks of a library of primitives. One contract, several implementations: the pure one of this folder,
 * which runs everywhere, and faster ones that an edge discovers (`tickwire/node`).
 *
 * Everything is synchronous, since a packet is sealed in the middle of a poll. Secrets go in once and come back as a
 * handle, so that a library can keep them in its own form and they can be wiped. Randomness never comes from here: whoever
 * makes a key draws its bytes from an `Entropy`, so that a whole match is a function of its seed.
 *
 * Invariant: every implementation gives the same bytes for the same input, and refuses the same input (CRYPTO1).
 *
 * It decides nothing about nonces, epochs or messages: that is `suite.ts` and what stands on it.
 */

/** Ciphers by their number on the wire. */
export const SUITE = {
  /** The default: fast in plain code, and no table that a cache could betray. */
  chacha20Poly1305: 1,
  /** For those whose rules ask for AES. */
  aes256Gcm: 2,
} as const

/** The number of a cipher suite. */
export type SuiteId = (typeof SUITE)[keyof typeof SUITE]

/** Bytes of things that have the same size in every suite. */
export const CRYPTO_BYTES = {
  key: 32, nonce: 12, tag: 16, publicKey: 32, signature: 64, hash: 32,
} as const

/** One cipher under one key. What it is handed is at most as long as a datagram may be, header, body and tag together. */
export interface AeadKey {
  /**
   * Encrypts in place the `plaintextLength` bytes behind the first `headerLength`, authenticates those as they stand,
   * and writes the tag of 16 bytes behind them.
   */
  seal(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, plaintextLength: number): void
  /**
   * The reverse, of `sealedLength` bytes: plaintext and tag. False when any bit of header, body or tag is not as it was
   * sealed; `bytes` are then as they were. Never throws.
   */
  open(nonce: Uint8Array, bytes: Uint8Array, headerLength: number, sealedLength: number): boolean
  /** Forgets the key, as far as the platform lets it. It must not be used again. */
  wipe(): void
}

/** A secret of X25519. */
export interface AgreementKey {
  readonly publicKey: Uint8Array
  /** What both sides share; undefined when the peer's key is one of those that give everyone the same zero. */
  agree(peerPublicKey: Uint8Array): Uint8Array | undefined
  wipe(): void
}

/** A secret of Ed25519. */
export interface SigningKey {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
  wipe(): void
}

/** A public key of Ed25519. */
export interface VerifyingKey {
  readonly publicKey: Uint8Array
  /** Never throws, whatever the bytes. */
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/** A library of primitives. */
export interface CryptoProvider {
  /** For logs: which library, which version. */
  readonly name: string
  /** `key` has 32 bytes and is copied. */
  importAead(suite: SuiteId, key: Uint8Array): AeadKey
  /** `secret` has 32 bytes, drawn by chance, and is copied. */
  importAgreement(secret: Uint8Array): AgreementKey
  /** `seed` has 32 bytes, drawn by chance, and is copied. */
  importSigning(seed: Uint8Array): SigningKey
  /** `publicKey` has 32 bytes. */
  importVerifying(publicKey: Uint8Array): VerifyingKey
  sha256(bytes: Uint8Array): Uint8Array
  hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array
}
