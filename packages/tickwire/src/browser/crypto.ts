/**
 * What a page seals with: plain JavaScript, since WebCrypto is asynchronous and packets are sealed in the middle of a poll; and ChaCha20 alone,
 * which every server takes unless it was told not to. A page whose server was says `connect(…, { provider: pureProvider })`.
 */

import { chachaProvider } from '../core/crypto/chacha-provider.ts'
import { SUITE, type CryptoProvider, type SuiteId } from '../core/crypto/provider.ts'

/** What pages seal with unless told otherwise. */
export const pageProvider: CryptoProvider = chachaProvider

/** Ciphers that a provider is asked for. */
export function suitesOf(provider: CryptoProvider): readonly SuiteId[] {
  return provider === pageProvider ? [SUITE.chacha20Poly1305] : [SUITE.chacha20Poly1305, SUITE.aes256Gcm]
}
