/**
 * The cryptography of a page: plain JavaScript, because WebCrypto is asynchronous and packets are sealed synchronously;
 * and only ChaCha20, which every server accepts unless configured otherwise. For a server that requires AES, use
 * `connect(…, { provider: pureProvider })`.
 */

import { chachaProvider } from '../core/crypto/chacha-provider.ts'
import { SUITE, type CryptoProvider, type SuiteId } from '../core/crypto/provider.ts'

/** The default provider of pages. */
export const pageProvider: CryptoProvider = chachaProvider

/** Cipher suites that a provider is used for. */
export function suitesOf(provider: CryptoProvider): readonly SuiteId[] {
  return provider === pageProvider ? [SUITE.chacha20Poly1305] : [SUITE.chacha20Poly1305, SUITE.aes256Gcm]
}
