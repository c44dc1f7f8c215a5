/**
 * The pure provider without the parts that pages do not need: no AES, which in plain JavaScript is three times slower
 * than ChaCha20, and of Ed25519 only verification. This saves 15 KB on every page.
 */

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ConfigError } from '../base/assert.ts'
import { importVerifyingKey } from './ed25519-verify.ts'
import { nobleHashes } from './noble-hashes.ts'
import { NobleAeadKey, NobleAgreementKey } from './noble-keys.ts'
import { x25519 } from './noble-x25519.ts'
import { SUITE, type CryptoProvider } from './provider.ts'

/** The client's primitives in plain JavaScript; suite 1 is the only cipher. */
export const chachaProvider: CryptoProvider = {
  ...nobleHashes,
  name: 'noble 2.4.0, what pages need of it',
  importAead(suite, key) {
    if (suite !== SUITE.chacha20Poly1305) throw new ConfigError('provider', 'no AES', 'use `pureProvider`.')
    return new NobleAeadKey(chacha20poly1305, key)
  },
  importAgreement: (secret) => new NobleAgreementKey(x25519, secret),
  importVerifying: importVerifyingKey,
  importSigning() {
    throw new ConfigError('provider', 'no signing', 'use `pureProvider`.')
  },
}
