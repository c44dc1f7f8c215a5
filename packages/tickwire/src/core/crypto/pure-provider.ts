/**
 * The provider that runs on every platform: @noble, audited, plain JavaScript, no WebAssembly and no build.
 *
 * It is ten times slower than native code (docs/adr/0012-crypto-providers.md), which a client with sixty packets per
 * second does not notice. It allocates a few views and small objects for every packet, which noble's interface makes
 * unavoidable.
 */

import { gcm } from '@noble/ciphers/aes.js'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { nobleCurves } from './noble-curves.ts'
import { NobleAeadKey } from './noble-keys.ts'
import { SUITE, type CryptoProvider } from './provider.ts'

/** All primitives in plain JavaScript. */
export const pureProvider: CryptoProvider = {
  ...nobleCurves,
  name: 'noble 2.4.0',
  importAead: (suite, key) => new NobleAeadKey(suite === SUITE.aes256Gcm ? gcm : chacha20poly1305, key),
}
