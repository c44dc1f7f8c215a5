/**
 * Primitives in a page: noble, in plain JavaScript, without AES. WebCrypto is asynchronous, and packets are sealed in the middle of a poll.
 *
 * In plain JavaScript ChaCha20 is three times faster than AES, and every server takes it unless it was told not to. A page whose server was
 * asks for `pureProvider` of `tickwire` (`connect(…, { provider: pureProvider })`), and is 2 KB heavier.
 */

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ConfigError } from '../core/base/assert.ts'
import { NobleAeadKey } from '../core/crypto/noble-keys.ts'
import { nobleCurves } from '../core/crypto/noble-curves.ts'
import { SUITE, type CryptoProvider, type SuiteId } from '../core/crypto/provider.ts'

/** What pages seal with unless told otherwise. */
export const pageProvider: CryptoProvider = {
  ...nobleCurves,
  name: 'noble 2.4.0 without AES',
  importAead(suite, key) {
    if (suite !== SUITE.chacha20Poly1305) throw new ConfigError('provider', 'has no AES', 'Give `connect` the `pureProvider` of tickwire.')
    return new NobleAeadKey(chacha20poly1305, key)
  },
}

/** Ciphers that a provider is asked for. */
export function suitesOf(provider: CryptoProvider): readonly SuiteId[] {
  return provider === pageProvider ? [SUITE.chacha20Poly1305] : [SUITE.chacha20Poly1305, SUITE.aes256Gcm]
}
