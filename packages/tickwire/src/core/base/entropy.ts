/**
 * The source of unpredictable bytes for connection ids, salts and keys. Core has no source of its own.
 *
 * In production it is the platform's cryptographic generator (`tickwire/node`, `tickwire/browser`); in tests a seeded
 * one (`tickwire/testing`), so that a whole match is a function of its seed.
 */
export interface Entropy {
  /** Fills all of `bytes`. */
  fill(bytes: Uint8Array): void
}
