/**
 * The pure provider without what pages do not need: no AES, which in plain JavaScript is three times slower than ChaCha20; and of Ed25519 only
 * what looks at signatures. It is 15 KB less of every page.
 */

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ConfigError } from '../base/assert.ts'
import { verifyEd25519 } from './ed25519-verify.ts'
import { nobleHashes } from './noble-hashes.ts'
import { NobleAeadKey, NobleAgreementKey } from './noble-keys.ts'
import { x25519 } from './noble-x25519.ts'
import { SUITE, type CryptoProvider } from './provider.ts'

/** A client's primitives in plain JavaScript, of ciphers suite 1 alone. */
export const chachaProvider: CryptoProvider = {
  ...nobleHashes,
  name: 'noble 2.4.0, what pages need of it',
  importAead(suite, key) {
    if (suite !== SUITE.chacha20Poly1305) throw new ConfigError('provider', 'has no AES', 'Use `pureProvider`.')
    return new NobleAeadKey(chacha20poly1305, key)
  },
  importAgreement: (secret) => new NobleAgreementKey(x25519, secret),
  importVerifying: (publicKey) => ({ publicKey, verify: (message, signature) => verifyEd25519(publicKey, message, signature) }),
  importSigning() {
    throw new ConfigError('provider', 'signs nothing', 'Use `pureProvider`.')
  },
}
