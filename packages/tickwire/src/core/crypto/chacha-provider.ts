/**
 * The pure provider without AES, for pages: in plain JavaScript ChaCha20 is three times faster, and AES is 2 KB of every page.
 */

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ConfigError } from '../base/assert.ts'
import { nobleCurves } from './noble-curves.ts'
import { NobleAeadKey } from './noble-keys.ts'
import { SUITE, type CryptoProvider } from './provider.ts'

/** All primitives in plain JavaScript, of ciphers suite 1 alone. */
export const chachaProvider: CryptoProvider = {
  ...nobleCurves,
  name: 'noble 2.4.0 without AES',
  importAead(suite, key) {
    if (suite !== SUITE.chacha20Poly1305) throw new ConfigError('provider', 'has no AES', 'Use `pureProvider`.')
    return new NobleAeadKey(chacha20poly1305, key)
  },
}
